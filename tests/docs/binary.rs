//! The help texts of the binary.

use std::collections::BTreeSet;
use std::process::{Command, Output};
use std::sync::LazyLock;

/// Runs the binary with these arguments, outside of a project.
pub(crate) fn run<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-nondex"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("NONDEX_") {
            command.env_remove(name);
        }
    }
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.args(arguments).output().unwrap()
}

/// Returns the stdout of the binary with these arguments.
pub(crate) fn stdout<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    String::from_utf8(run(arguments).stdout).unwrap()
}

/// Returns the names of all commands.
pub(crate) fn commands() -> Vec<String> {
    let help = stdout(["-h"]);
    let (_, list) = help.split_once("Commands:\n").expect("it lists them");
    list.lines()
        .take_while(|line| !line.trim().is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("    "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// One option of a command, as in its help text.
#[derive(Clone, Debug, Default)]
pub(crate) struct OptionHelp {
    /// Heading above the option.
    pub(crate) heading: String,
    /// Name with two dashes.
    pub(crate) name: String,
    /// Value, such as `<N>`. Empty if the option takes none.
    pub(crate) value: String,
    /// Description.
    pub(crate) meaning: String,
    /// Possible values, if the help text lists them.
    pub(crate) values: Option<String>,
    /// Environment variable.
    pub(crate) variable: Option<String>,
    /// Default value.
    pub(crate) default: Option<String>,
}

/// Returns the options of a command without `--help`, in the order of its help text.
pub(crate) fn options(command: &str) -> Vec<OptionHelp> {
    let help = stdout([command, "--help"]);
    let mut heading = String::new();
    let mut options: Vec<OptionHelp> = Vec::new();
    // Lines below a positional argument belong to no option.
    let mut is_option = false;
    for line in help.lines() {
        let text = line.trim();
        let margin = line.len() - line.trim_start().len();
        if margin == 0 && !text.is_empty() {
            is_option = false;
            heading = text.trim_end_matches(':').to_owned();
        } else if margin > 0 && margin < 10 {
            is_option = text.starts_with('-');
            if is_option {
                let long = text.find("--").expect("every option has a long name");
                let usage = text[long..].trim_end_matches("...");
                let end = usage.find([' ', '[']).unwrap_or(usage.len());
                options.push(OptionHelp {
                    heading: heading.clone(),
                    name: usage[..end].to_owned(),
                    value: usage[end..].trim().to_owned(),
                    ..OptionHelp::default()
                });
            }
        } else if is_option && !text.is_empty() {
            let option = options.last_mut().expect("a line belongs to an option");
            option.meaning += match option.meaning.chars().last() {
                None => "",
                // A new item in the list of values.
                Some(c) if c != ':' && text.starts_with("- ") => "; ",
                Some(_) => " ",
            };
            option.meaning += text.strip_prefix("- ").unwrap_or(text);
        }
    }
    options.retain(|option| option.name != "--help");
    for option in &mut options {
        option.meaning = option.meaning.replace(" Possible values: ", ". One of ");
        option.variable = option.take("env").map(|name| name.replace('`', ""));
        option.default = option.take("default");
        option.values = option.take("possible values");
    }
    options
}

impl OptionHelp {
    /// Removes the bracketed part for `what` from the description, such as `[default: 10]`, and
    /// returns its value.
    fn take(&mut self, what: &str) -> Option<String> {
        let start = format!(" [{what}: ");
        let (before, rest) = self.meaning.split_once(&start)?;
        let (value, after) = rest.split_once(']')?;
        let value = value.to_owned();
        self.meaning = [before, after].concat();
        Some(value)
    }
}

/// Returns the options of all commands, with two dashes.
pub(crate) fn all_options() -> &'static BTreeSet<String> {
    static ALL: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
        let mut all: BTreeSet<String> = commands()
            .iter()
            .filter(|command| *command != "help")
            .flat_map(|command| options(command))
            .map(|option| option.name)
            .collect();
        all.extend(["--help".to_owned(), "--version".to_owned()]);
        all
    });
    &ALL
}
