//! README, help text and code say the same.

use nondex_core::Level;
use nondex_core::spec::{LEVEL_VARIABLE, SEED_VARIABLE};
use nondex_harness::cli::CommandLine;
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

#[test]
fn the_readme_has_every_environment_variable() {
    let mut expected = CommandLine::environment_variables();
    let others = [
        SEED_VARIABLE,
        LEVEL_VARIABLE,
        nondex_harness::project::runtime::CACHE_VARIABLE,
    ];
    for name in others {
        assert!(
            !expected.iter().any(|known| known == name),
            "{name} has two meanings"
        );
        expected.push(name.to_owned());
    }
    expected.sort();
    let mut found: Vec<String> = table("Environment variables")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn the_help_text_has_every_exit_code() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-nondex"))
        .arg("-h")
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    for (code, meaning) in ExitCode::ALL {
        assert!(
            help.contains(&format!("{:>3}  {meaning}", code as u8)),
            "{meaning}"
        );
    }
}
