//! The options of `cargo nondex run`, as keys of the file and as variables.

use std::sync::LazyLock;

use camino::Utf8PathBuf;
use clap::builder::{ArgAction, BoolishValueParser, ValueParser};
use clap::{Arg, Command, CommandFactory};

use crate::cli::CommandLine;
use crate::cli::filterset::Expression;

/// An option that is not in every place: it has a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The option's name, without dashes.
    pub name: &'static str,
    /// Whether a variable stands for it all the same.
    pub has_variable: bool,
    /// Why.
    pub reason: &'static str,
}

/// The options without a key in the file. All others have both, a key and a variable.
pub const EXCEPTIONS: [Exception; 6] = [
    Exception {
        name: "seed",
        has_variable: false,
        reason: "`seeds = [7]` says the same, and the shims themselves read `NONDEX_SEED`",
    },
    Exception {
        name: "profile",
        has_variable: true,
        reason: "it chooses what is read in the file",
    },
    Exception {
        name: "config-file",
        has_variable: true,
        reason: "it chooses the file",
    },
    Exception {
        name: "manifest-path",
        has_variable: false,
        reason: "it says where the file is",
    },
    Exception {
        name: "target-dir",
        has_variable: false,
        reason: "cargo's own: `CARGO_TARGET_DIR`, or `build.target-dir` in cargo's configuration",
    },
    Exception {
        name: "config",
        has_variable: false,
        reason: "cargo's own: `CARGO_…`, or cargo's configuration",
    },
];

/// Options of other commands that only share their name with one of `run`: the command, the option.
const NAMESAKES: [(&str, &str); 3] = [
    ("confirm", "seeds"),
    ("network", "network_allow"),
    ("replay", "timeout"),
];

/// What values an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// None: it is switched on, or off.
    Flag,
    /// None, but it counts how often it is given.
    Count,
    /// One; `true` for a path, which starts at the workspace's root when it comes from the file.
    One(bool),
    /// One, which may be a list in which commas separate.
    List,
    /// Any number.
    Many,
}

/// An option of `cargo nondex run` that a variable stands for.
#[derive(Clone, Debug)]
pub struct Key {
    /// What clap calls it.
    pub id: String,
    /// Its name: of the option without dashes, and of the key in the file.
    pub name: String,
    /// The variable.
    pub variable: String,
    /// Whether the file may have it.
    pub in_file: bool,
    /// What it takes.
    pub kind: Kind,
    arg: Arg,
}

/// Every key, in the order of the help text.
pub fn all() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
        let line = CommandLine::command();
        let run = line.find_subcommand("run").expect("there is `run`");
        run.get_arguments().filter_map(Key::new).collect()
    });
    &KEYS
}

/// The key of an option, by clap's name, in a command.
#[must_use]
pub fn of(command: &str, id: &str) -> Option<&'static Key> {
    if NAMESAKES.contains(&(command, id)) {
        return None;
    }
    all().iter().find(|key| key.id == id)
}

impl Key {
    fn new(arg: &Arg) -> Option<Self> {
        let name = arg.get_long()?.to_owned();
        let exception = EXCEPTIONS.iter().find(|exception| exception.name == name);
        if exception.is_some_and(|exception| !exception.has_variable) {
            return None;
        }
        let kind = match arg.get_action() {
            ArgAction::SetTrue => Kind::Flag,
            ArgAction::Count => Kind::Count,
            ArgAction::Append => Kind::Many,
            ArgAction::Set if has_list(arg) => Kind::List,
            ArgAction::Set => {
                let parser = arg.get_value_parser().type_id();
                Kind::One(parser == std::any::TypeId::of::<Utf8PathBuf>())
            }
            // Help and version.
            _ => return None,
        };
        Some(Key {
            id: arg.get_id().to_string(),
            variable: format!("NONDEX_{}", name.to_uppercase().replace('-', "_")),
            in_file: exception.is_none(),
            name,
            kind,
            arg: arg.clone(),
        })
    }

    /// Whether one value is several with commas between them.
    #[must_use]
    pub fn is_separated(&self) -> bool {
        self.arg.get_value_delimiter().is_some()
    }

    /// The definition in which the option can also be switched off: `--strict=false`.
    pub(crate) fn switchable(arg: Arg) -> Arg {
        arg.action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .value_parser(BoolishValueParser::new())
            .value_name("BOOL")
            .default_missing_value("true")
            .default_value("false")
    }

    /// Whether the option's own parser takes these values.
    ///
    /// # Errors
    /// Why not, in the words of the command line.
    pub fn check(&self, values: &[String]) -> Result<(), String> {
        if self.id == "filtersets" {
            let mut parsed = values.iter().map(|text| Expression::parse(text));
            let error = parsed.find_map(Result::err);
            return error.map_or(Ok(()), |error| Err(error.to_string()));
        }
        let mut arg = Arg::new("value")
            .num_args(0..)
            .allow_hyphen_values(true)
            .value_parser(self.parser());
        if let Some(delimiter) = self.arg.get_value_delimiter() {
            arg = arg.value_delimiter(delimiter);
        }
        let line = Command::new("check").no_binary_name(true).arg(arg);
        let line = line.disable_help_flag(true);
        match line.try_get_matches_from(["--"].into_iter().chain(values.iter().map(String::as_str)))
        {
            Ok(_) => Ok(()),
            Err(error) => Err(said(&error)),
        }
    }

    fn parser(&self) -> ValueParser {
        match self.kind {
            Kind::Flag => ValueParser::new(BoolishValueParser::new()),
            Kind::Count => ValueParser::from(clap::value_parser!(u8)),
            _ => self.arg.get_value_parser().clone(),
        }
    }
}

/// Whether its one value is a list.
fn has_list(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().any(|name| name.contains("LIST"))
}

/// What is wrong, without the parts about a command line.
fn said(error: &clap::Error) -> String {
    use clap::error::{ContextKind, ContextValue};
    use std::error::Error;
    if let Some(source) = error.source() {
        return source.to_string();
    }
    if let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) {
        return format!("expected one of {}", values.join(", "));
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    first.trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> &'static Key {
        let mut keys = all().iter();
        keys.find(|key| key.name == name).unwrap()
    }

    #[test]
    fn keys_are_named_as_the_options_are() {
        let clean = key("clean-runs");
        assert_eq!(clean.variable, "NONDEX_CLEAN_RUNS");
        assert!(clean.in_file);
        assert!(!key("profile").in_file);
        for (name, kind) in [
            ("strict", Kind::Flag),
            ("verbose", Kind::Count),
            ("timeout", Kind::One(false)),
            ("regressions", Kind::One(true)),
            ("seeds", Kind::List),
            ("levels", Kind::Many),
            ("package", Kind::Many),
        ] {
            assert_eq!(key(name).kind, kind, "{name}");
        }
    }

    #[test]
    fn every_exception_is_an_option() {
        let line = CommandLine::command();
        let run = line.find_subcommand("run").unwrap();
        for exception in EXCEPTIONS {
            let mut options = run.get_arguments();
            let found = options.any(|arg| arg.get_long() == Some(exception.name));
            assert!(found, "{}", exception.name);
        }
        for (command, id) in NAMESAKES {
            let other = line.find_subcommand(command).unwrap();
            assert!(
                other.get_arguments().any(|arg| arg.get_id() == id),
                "{command} {id}"
            );
        }
    }

    #[test]
    fn values_are_checked_by_the_options_own_parser() {
        let check = |name: &str, values: &[&str]| {
            let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
            key(name).check(&values)
        };
        for (name, values) in [
            ("levels", &["STD,ONE", "FULL"][..]),
            ("seeds", &["5..8"]),
            ("strict", &["yes"]),
            ("verbose", &["2"]),
            ("filterset", &["test(a) and not test(b)"]),
            ("package", &["a", "b"]),
            ("package", &[]),
        ] {
            assert_eq!(check(name, values), Ok(()), "{name} {values:?}");
        }
        for (name, value, part) in [
            ("levels", "FUL", "expected one of STD, ONE, EQ, ID, FULL"),
            ("seeds", "-1", "expected a number of seeds"),
            ("timeout", "soon", "expected a number of seconds"),
            (
                "network",
                "none",
                "expected one of observe, block, fault, off",
            ),
            ("mode", "plain", "expected one of program, swap"),
            ("strict", "maybe", "not a boolean"),
            ("verbose", "300", "300"),
        ] {
            let message = check(name, &[value]).unwrap_err();
            assert!(message.contains(part), "{name}: {message}");
        }
    }
}
