//! First campaign on a test, for commands that continue from a report which does not exist yet.

use std::ffi::OsString;

use super::configuration::{self, Refusal};
use super::console::Console;
use super::execute;
use crate::cli::LocationArgs;
use crate::error::{Error, Result};
use crate::interruption;
use crate::report::store;

/// Runs `command` on the tests whose names contain `test`, an id or a part of one, unless the
/// project has a report. Then there is a report to continue from, if such tests exist.
///
/// # Errors
/// Returns the errors of `command`, or an error if the user interrupts it. What it finds is none.
pub(super) fn run_if_needed(
    command: &str,
    test: &str,
    location: &LocationArgs,
    offline: bool,
    console: &Console,
) -> Result<()> {
    if store::has_latest(&location.folders()?.target_dir) {
        return Ok(());
    }
    console.note(&format!("there is no report yet: `cargo nondex {command} {test}` makes one"));
    let asked = match configuration::understand(line(command, test, location, offline), []) {
        Ok(asked) => asked,
        Err(Refusal::Setup(error)) => return Err(error),
        Err(Refusal::Usage(error)) => return Err(Error::usage(error.to_string())),
    };
    // Standard output belongs to the command that the user started.
    execute(&asked, &console.for_people())?;
    if interruption::is_set() {
        return Err(Error::setup("interrupted"));
    }
    Ok(())
}

/// Returns the command line of the first campaign.
fn line(command: &str, test: &str, location: &LocationArgs, offline: bool) -> Vec<OsString> {
    let name = test.rsplit_once('$').map_or(test, |(_, name)| name);
    let mut words = vec!["cargo-nondex".to_owned(), "nondex".to_owned(), command.to_owned()];
    words.extend(location.words());
    words.extend(offline.then(|| "--offline".to_owned()));
    words.push(name.to_owned());
    words.into_iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_campaign_is_on_the_test_of_an_id() {
        let location =
            LocationArgs { manifest_path: Some("a/Cargo.toml".into()), target_dir: None };
        for (test, offline, expected) in [
            ("shop::cart$pays", false, "check --manifest-path a/Cargo.toml pays"),
            ("pays", true, "check --manifest-path a/Cargo.toml --offline pays"),
        ] {
            let words = line("check", test, &location, offline);
            let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
            assert_eq!(words[2..].join(" "), expected);
        }
    }
}
