//! `cargo nondex help TOPIC`: explains the terms of the output.

use std::ffi::OsString;
use std::fmt::Write;

use nondex_core::Level;

use crate::exit_code::ExitCode;
use crate::judge::Verdict;

/// Name of a topic, and function that returns its text.
type Topic = (&'static str, fn() -> String);

/// Topics of `cargo nondex help`.
const TOPICS: [Topic; 4] = [
    ("levels", levels),
    ("verdicts", verdicts),
    ("filtersets", filtersets),
    ("exit-codes", exit_codes),
];

/// Returns the text of the topic that these arguments of the process request.
pub(super) fn asked(args: &[OsString]) -> Option<String> {
    let mut words = args.iter().skip(1).map(|word| word.to_str());
    let first = words.next()??;
    // cargo passes the name of the subcommand as the first argument.
    let command = if first == "nondex" { words.next()?? } else { first };
    let topic = words.next()??;
    let (_, text) = TOPICS.iter().find(|(name, _)| *name == topic)?;
    (command == "help" && words.next().is_none()).then(text)
}

fn levels() -> String {
    let mut text = "How far a run may depart from what std does today; a finding has the weakest \
                    level that shows it.\n\n"
        .to_owned();
    for level in Level::ALL {
        let _ = writeln!(text, "{:<6}{}", level.name(), level.meaning());
    }
    text
}

fn verdicts() -> String {
    let mut text = String::new();
    for verdict in Verdict::ALL {
        let _ = writeln!(text, "{:<12}{}", verdict.name(), verdict.meaning());
    }
    text
}

fn filtersets() -> String {
    "Selects tests, as nextest does: cargo nondex -E 'package(shop) and not test(/^slow_/)'\n\n\
     package(NAME)  tests of a package            deps(NAME), rdeps(NAME)  and of what it depends \
     on, or what depends on it\n\
     test(NAME)     by name                       binary(NAME), kind(lib), binary_id(ID)\n\
     all(), none()  every test, no test\n\n\
     and, or, not, ( ) combine them; & | ! - too.\n\
     test(=name) is the whole name, test(~part) contains it, test(/regex/) matches, test(#glob*) \
     is a glob.\n"
        .to_owned()
}

fn exit_codes() -> String {
    let mut text = String::new();
    for (code, meaning) in ExitCode::ALL {
        let _ = writeln!(text, "{:>3}  {meaning}", code as u8);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_asked_for_as_a_command_is() {
        let asked = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            asked(&words).is_some()
        };
        for (name, _) in TOPICS {
            assert!(asked(&["cargo-nondex", "nondex", "help", name]), "{name}");
            assert!(asked(&["cargo-nondex", "help", name]), "{name}");
        }
        assert!(!asked(&["cargo-nondex", "help", "run"]));
        assert!(!asked(&["cargo-nondex", "levels"]));
    }
}
