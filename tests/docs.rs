//! README, help text and code say the same.

use nondex_core::Level;
use nondex_core::operation::OPERATIONS;
use nondex_core::spec::{LEVEL_VARIABLE, SEED_VARIABLE};
use nondex_harness::config::{KEYS, OF_NO_KEY, OVERRIDE_KEYS, SANITISE_KEYS, variable};
use nondex_harness::exit_code::ExitCode;
use nondex_harness::report::Verdict;

const README: &str = include_str!("../README.md");

/// The cells of the table below a heading, a row each, without the header.
fn table(heading: &str) -> Vec<Vec<String>> {
    let marker = format!("## {heading}\n");
    let start = README
        .find(&marker)
        .unwrap_or_else(|| panic!("README has no section {heading}"));
    let section = &README[start + marker.len()..];
    let section = &section[..section.find("\n## ").unwrap_or(section.len())];
    section
        .lines()
        .filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells
                .map(|cell| cell.trim().trim_matches('`').to_owned())
                .collect()
        })
        .collect()
}

#[test]
fn the_readme_has_every_exit_code_with_its_meaning() {
    let expected: Vec<Vec<String>> = ExitCode::ALL
        .iter()
        .map(|(code, meaning)| vec![(*code as u8).to_string(), (*meaning).to_owned()])
        .collect();
    assert_eq!(table("Exit codes"), expected);
}

#[test]
fn the_readme_has_every_level_with_its_meaning() {
    let rows = table("Levels");
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, Level::ALL.map(Level::name));
    for (row, level) in rows.iter().zip(Level::ALL) {
        assert_eq!(row[2], level.meaning(), "{level}");
    }
}

#[test]
fn the_readme_has_every_verdict() {
    let rows = table("Verdicts");
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, Verdict::ALL.map(Verdict::name));
}

/// The options of `cargo nondex run`, without dashes.
fn options() -> Vec<String> {
    let help = help(&["run", "--help"]);
    let lines = help.lines().map(str::trim_start);
    let options = lines.filter(|line| line.starts_with("--") || line.starts_with('-'));
    let mut options: Vec<String> = options
        .filter_map(|line| {
            let name = line.split_once("--")?.1;
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            Some(name[..end.unwrap_or(name.len())].to_owned())
        })
        .filter(|name| name != "help" && !name.is_empty())
        .collect();
    options.sort();
    options
}

fn help(args: &[&str]) -> String {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-nondex"))
        .args(args)
        .output()
        .unwrap();
    String::from_utf8(help.stdout).unwrap()
}

#[test]
fn every_key_is_an_option() {
    let options = options();
    for key in KEYS {
        assert!(options.iter().any(|option| option == key), "{key}");
    }
    let help = help(&["run", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for variable in OF_NO_KEY {
        assert!(help.contains(&format!("[env: `{variable}`]")), "{variable}");
    }
}

#[test]
fn the_readme_has_every_key_with_its_variable() {
    let rows = table("Configuration");
    let found: Vec<[&str; 2]> = rows
        .iter()
        .filter(|row| row.len() == 3 && row[2] != "variable" && row[0] != "---")
        .map(|row| [row[0].as_str(), row[2].as_str()])
        .collect();
    let variables = KEYS.map(variable);
    let expected: Vec<[&str; 2]> = KEYS
        .into_iter()
        .zip(&variables)
        .map(|(key, variable)| [key, variable.as_str()])
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_readme_has_every_key_of_an_override() {
    let rows = table("Configuration");
    let rows = rows.iter().filter(|row| row.len() == 2);
    let found: Vec<&str> = rows.map(|row| row[0].as_str()).collect();
    let expected: Vec<&str> = OVERRIDE_KEYS.to_vec();
    assert_eq!(found, expected);
}

#[test]
fn the_readme_has_every_key_of_a_sanitiser_and_every_operation() {
    let rows = table("Other wants");
    let found: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(found, SANITISE_KEYS);
    let operations = OPERATIONS.map(|name| format!("`{name}`")).join(", ");
    assert!(
        rows[2][1]
            .replace('`', "")
            .contains(&operations.replace('`', ""))
    );
}

#[test]
fn the_readme_has_every_variable_that_stands_for_no_option() {
    let others = [
        nondex_harness::project::runtime::CACHE_VARIABLE,
        SEED_VARIABLE,
        LEVEL_VARIABLE,
    ];
    for name in others {
        let mut keys = KEYS.into_iter();
        assert!(
            keys.all(|key| variable(key) != name),
            "{name} has two meanings"
        );
    }
    let found: Vec<String> = table("Environment variables")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    assert_eq!(found, others);
}

#[test]
fn the_help_text_has_every_exit_code() {
    let help = help(&["-h"]);
    for (code, meaning) in ExitCode::ALL {
        assert!(
            help.contains(&format!("{:>3}  {meaning}", code as u8)),
            "{meaning}"
        );
    }
}

/// The commands of the console blocks of a page that start so.
fn commands<'a>(page: &'a str, start: &str) -> Vec<&'a str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("$ "))
        .filter(|command| command.starts_with(start))
        .collect()
}

#[test]
fn the_readme_the_guide_for_contributors_and_continuous_integration_run_the_tests_by_one_command() {
    let checked: Vec<&str> = include_str!("../.ci/run")
        .lines()
        .filter_map(|line| line.strip_prefix("run "))
        .collect();
    let tests = ["cargo test --workspace"];
    assert_eq!(commands(README, "cargo test"), tests);
    let guide = include_str!("../CONTRIBUTING.md");
    assert_eq!(commands(guide, "cargo test"), tests);
    for command in commands(guide, "cargo ") {
        assert!(checked.contains(&command), "`.ci/run` has no `{command}`");
    }
    let ran = checked
        .iter()
        .filter(|command| command.starts_with("cargo test"));
    assert!(ran.eq(&tests), "{checked:?}");
}
