//! `cargo nondex models`: lists the catalogue of models.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use nondex_core::model::CATALOGUE;
use nondex_core::{Family, Kind, Level, Model};
use serde::Serialize;

use super::console::Console;
use crate::cli::{MessageFormat, ModelsArgs};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;

/// Model of the catalogue, as JSON.
#[derive(Debug, Serialize)]
struct Listed {
    /// Name that `--models` and `--skip-models` match.
    name: String,
    api: &'static str,
    family: &'static str,
    kind: &'static str,
    promise: &'static str,
    url: String,
    fix: &'static str,
    /// Levels at which the model has a choice.
    varies_at: &'static [Level],
    /// Effect of each level.
    levels: BTreeMap<Level, &'static str>,
}

/// Prints the catalogue on stdout.
pub(super) fn models(args: &ModelsArgs, console: &Console) -> Result<ExitCode> {
    let matches = |model: &Model, family: Family| {
        let name = model.name(family);
        args.filter.as_ref().is_none_or(|filter| filter.is_match(&name))
    };
    let mut listed = Vec::new();
    for family in Family::ALL {
        let models = CATALOGUE.iter().filter(|model| model.families().contains(&family));
        listed.extend(models.filter(|model| matches(model, family)).map(|model| (family, *model)));
    }
    if listed.is_empty() {
        let filter = args.filter.as_ref().map_or("", |filter| filter.as_str());
        return Err(Error::usage(format!(
            "no model matches `{filter}`, expected a part of a name such as \
             `hash_map/std::collections::HashMap::iter`"
        )));
    }
    match console.format {
        MessageFormat::Json => console.json(&listed.iter().map(json).collect::<Vec<_>>())?,
        MessageFormat::Human | MessageFormat::JsonLines => console.product(&table(&listed))?,
    }
    Ok(ExitCode::Ok)
}

/// Describes a model for JSON.
fn json(&(family, model): &(Family, &'static Model)) -> Listed {
    Listed {
        name: model.name(family),
        api: model.api,
        family: family.name(),
        kind: model.kind.name(),
        promise: model.promise,
        url: model.url(),
        fix: model.fix,
        varies_at: family.varies_at(),
        levels: Level::ALL.map(|level| (level, treatment(family, model.kind, level))).into(),
    }
}

/// Returns the catalogue as text. Each family has a section: the effect of each level and the fix,
/// then its APIs.
fn table(listed: &[(Family, &'static Model)]) -> String {
    const HEADING: Style = AnsiColor::Green.on_default().bold();
    const NAME: Style = AnsiColor::Cyan.on_default().bold();
    let mut text = String::new();
    let group = |&(family, model): &(Family, &Model)| (family, model.kind, model.fix);
    for chunk in listed.chunk_by(|a, b| group(a) == group(b)) {
        let [(family, first), ..] = chunk else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{HEADING}{family}{HEADING:#} ({})", first.kind);
        for level in Level::ALL {
            let _ = writeln!(text, "  {level:<4}  {}", treatment(*family, first.kind, level));
        }
        let _ = writeln!(text, "  {:<4}  {}", "fix:", first.fix);
        for (_, model) in chunk {
            let _ = writeln!(
                text,
                "  {NAME}{}{NAME:#}\n      {}\n      {}",
                model.api,
                model.promise,
                model.url()
            );
        }
    }
    let apis: BTreeSet<&str> = listed.iter().map(|(_, model)| model.api).collect();
    let _ = writeln!(text, "\n{} models, {} APIs", listed.len(), apis.len());
    text
}

/// Describes what a run at `level` does with the choices of a family.
const fn treatment(family: Family, kind: Kind, level: Level) -> &'static str {
    if let (Family::Time, Kind::Random) = (family, kind) {
        return match level {
            Level::Std => "clocks advance; file times have a resolution of up to 4 ms",
            Level::One | Level::Eq | Level::Id => {
                "a clock may show the same time again; file times have a resolution of up to 16 ms"
            }
            Level::Full => {
                "a clock may stand still, and the system clock may go back; file times have a \
                 resolution of up to 2 s"
            }
        };
    }
    match (family, level) {
        (Family::Fault, _) => {
            "with `--network fault`, one operation in four fails, the same at every level"
        }
        (Family::Schedule, Level::Std) => {
            "a thread is delayed by up to 20 ms, as on a busy machine"
        }
        (Family::Schedule, Level::One) => "a thread is delayed by up to 100 ms",
        (Family::Schedule, Level::Eq) => "a thread is delayed by up to a second",
        (Family::Schedule, Level::Id) => "a thread is delayed by up to 10 s",
        (Family::Schedule, Level::Full) => "a thread is delayed by up to an hour",
        (Family::Time, Level::Std) => {
            "a thread wakes, or reads a clock, up to 20 ms later, as on a busy machine"
        }
        (Family::Time, Level::One) => "a thread wakes, or reads a clock, up to 100 ms later",
        (Family::Time, Level::Eq) => "a thread wakes, or reads a clock, up to a second later",
        (Family::Time, Level::Id) => "a thread wakes, or reads a clock, up to 10 s later",
        (Family::Time, Level::Full) => "a thread wakes, or reads a clock, up to an hour later",
        (Family::HashKeys, Level::Std) => "keys drawn from the seed, different for each state",
        (Family::Entropy, Level::Std) => "bytes drawn from the seed",
        (Family::HashKeys | Family::Entropy, _) => "unchanged: as in a clean run",
        (Family::OwnChoice | Family::OwnOrder, Level::Std) => "unchanged: as in a plain run",
        (Family::OwnChoice, Level::One) => "one number for each limit, the same throughout the run",
        (Family::OwnChoice, Level::Eq | Level::Id) => "a number for each call site and limit",
        (Family::OwnChoice, Level::Full) => "a new number at every call",
        (Family::OwnOrder, Level::Eq | Level::Id) => {
            "an order for each call site and number of elements"
        }
        (Family::FixedHasher, Level::Std) => "unchanged: the order that this hasher gives today",
        (Family::HashMap | Family::HashSet, Level::Std) => {
            "the table's own order, with RandomState keys from the seed"
        }
        (Family::Directory, Level::Std) => {
            "another order of the names, the same throughout the run"
        }
        (Family::Environment, Level::Std) => {
            "another order of the inherited variables, the same throughout the run; variables that \
             the process sets come after them"
        }
        (Family::Environment, Level::One) => {
            "one permutation for each length if the process has set variables, otherwise unchanged"
        }
        (Family::Environment, Level::Eq | Level::Id) => {
            "once a variable was changed, an order by content"
        }
        (Family::Environment, Level::Full) => "a new order at every call but the first",
        (_, Level::One) => "one permutation for each length, the same throughout the run",
        (_, Level::Eq) => "an order by content: equal contents have equal orders",
        (Family::Directory, Level::Id) => "a new order for each reading",
        (_, Level::Id) => "an order for each object, a new one when it was modified",
        (_, Level::Full) => "a new order at every call",
    }
}
