//! What each source sets, and which source wins.

use std::collections::BTreeMap;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use super::key::{self, Kind};

/// What one source sets: a variable each, or a profile of the file.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// By clap's name of the option.
    pub settings: BTreeMap<String, Setting>,
}

/// The values of one option, as the command line would have them, and known to be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The values; of a flag `true` or `false`.
    pub values: Vec<String>,
}

impl Setting {
    /// Whether this switches a flag off, which conflicts with nothing.
    fn is_off(&self) -> bool {
        self.values == ["false"] || self.values == ["0"] || self.values.is_empty()
    }
}

/// Gives `command` the values of `layers`, the most important first, as defaults of its options. What its command line
/// gives, as `matches` has it, wins; so an option that cannot be used with a more important one is left out.
#[must_use]
pub fn merge(command: Command, matches: &ArgMatches, layers: &[Layer]) -> Command {
    let mut taken: Vec<String> = command
        .get_arguments()
        .map(|arg| arg.get_id().to_string())
        .filter(|id| matches.value_source(id) == Some(ValueSource::CommandLine))
        .collect();
    let mut chosen: BTreeMap<String, &Setting> = BTreeMap::new();
    for layer in layers {
        // Within a layer nothing conflicts, so its own settings do not count against each other.
        let before = taken.clone();
        for (id, setting) in &layer.settings {
            let Some(arg) = find(&command, id) else {
                continue;
            };
            let is_namesake = key::of(command.get_name(), id).is_none();
            let conflicts = |other: &String| conflict(&command, arg, other);
            if is_namesake
                || before.contains(id)
                || !setting.is_off() && before.iter().any(conflicts)
            {
                continue;
            }
            chosen.insert(id.clone(), setting);
            // What is switched off stays so, against a less important source.
            taken.push(id.clone());
        }
        taken.sort();
        taken.dedup();
    }
    chosen.into_iter().fold(command, |command, (id, setting)| {
        let values = setting.values.clone();
        command.mut_arg(id, |arg| arg.default_values(values))
    })
}

/// Two options of a layer that cannot be used together.
pub(super) fn contradiction(command: &Command, layer: &Layer) -> Option<(String, String)> {
    let on: Vec<&String> = layer
        .settings
        .iter()
        .filter(|(_, setting)| !setting.is_off())
        .map(|(id, _)| id)
        .collect();
    on.iter().enumerate().find_map(|(index, id)| {
        let arg = find(command, id)?;
        let mut others = on[index + 1..].iter();
        let other = others.find(|other| conflict(command, arg, other))?;
        let name = |id: &str| Some(find(command, id)?.get_long()?.to_owned());
        Some((name(id)?, name(other)?))
    })
}

/// Whether an option cannot be used with another one, whichever of them says so.
fn conflict(command: &Command, arg: &Arg, other: &str) -> bool {
    let says = |arg: &Arg, other: &str| {
        let conflicts = command.get_arg_conflicts_with(arg);
        conflicts.iter().any(|found| found.get_id() == other)
    };
    let id = arg.get_id().as_str();
    says(arg, other) || find(command, other).is_some_and(|other| says(other, id))
}

fn find<'a>(command: &'a Command, id: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_id() == id)
}

/// How the value of a flag or a count is given to clap.
pub(super) fn normal(kind: Kind, value: String) -> String {
    if kind != Kind::Flag {
        return value;
    }
    let is_on = matches!(
        value.to_lowercase().as_str(),
        "y" | "yes" | "t" | "true" | "on" | "1"
    );
    is_on.to_string()
}
