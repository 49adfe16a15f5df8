//! Command lines, options, variables and numbers on the pages match the program.

use std::collections::BTreeSet;

use cargo_nondex::config::{KEYS, OF_NO_KEY, variable};
use cargo_nondex::exit_code::ExitCode;

use crate::binary;
use crate::page::{Page, repository};

/// Options of other programs that the pages mention.
const FOREIGN: [&str; 8] = [
    "--extern",
    "--git",
    "--all-targets",
    "--instructions",
    "--path",
    "--release",
    "--test",
    "--workspace",
];

/// Filters in the position of a command. Any other word there must be a command.
const FILTERS: [&str; 1] = ["parse"];

/// Placeholders in command lines, with an example of each.
const PLACEHOLDERS: [(&str, &str); 13] = [
    ("${{ matrix.level }}", "STD"),
    ("${{ matrix.seeds }}", "0..10"),
    ("[run]", "run"),
    ("…", "x"),
    ("COMMAND", "run"),
    ("EXPR", "all()"),
    ("FILE", "x"),
    ("FILTER", "x"),
    ("ID", "x"),
    ("REGEX", "x"),
    ("RUN", "x"),
    ("TEST", "x"),
    ("N", "1"),
];

/// Splits a command line into words, as a shell does.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = None;
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some(_) => word.get_or_insert_with(String::new).push(c),
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_with(String::new);
            }
            None if c == ' ' => words.extend(word.take()),
            None if c == '#' && word.is_none() => break,
            None => word.get_or_insert_with(String::new).push(c),
        }
    }
    words.extend(word);
    words
}

/// Returns why a command line `cargo nondex …` is wrong, if it is. Runs nothing: the option for
/// help is added at its end.
fn refusal(line: &str) -> Option<String> {
    let mut line = line.to_owned();
    for (name, value) in PLACEHOLDERS.iter().take(4) {
        line = line.replace(name, value);
    }
    let mut words = words(&line).split_off(2);
    for word in &mut words {
        if let Some((_, value)) = PLACEHOLDERS.iter().find(|(name, _)| name == word) {
            (*value).clone_into(word);
        }
    }
    let commands = binary::commands();
    let first = words.first().filter(|word| !word.starts_with('-'));
    if let Some(first) = first
        && !commands.contains(first)
        && !FILTERS.contains(&first.as_str())
    {
        return Some(format!("`{first}` is no command"));
    }
    let end = words.iter().position(|word| word == "--");
    words.insert(end.unwrap_or(words.len()), "--help".to_owned());
    let output = binary::run(["nondex"].into_iter().chain(words.iter().map(String::as_str)));
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Returns the command lines of this program on a page, from code blocks, prose and workflows.
fn lines(page: &Page) -> BTreeSet<&str> {
    let mut lines: BTreeSet<&str> = page.commands("cargo nondex").collect();
    let spans = page.spans();
    lines.extend(spans.filter(|span| span.starts_with("cargo nondex ")));
    if page.name.ends_with(".yml") {
        let steps = page
            .text
            .lines()
            .map(|line| line.trim_start_matches([' ', '-']))
            .map(|line| line.strip_prefix("run: ").unwrap_or(line))
            .filter(|line| line.starts_with("cargo nondex"));
        lines.extend(steps.map(|line| line.split(" || ").next().unwrap_or(line)));
    }
    lines
}

#[test]
fn every_command_line_of_the_pages_is_understood() {
    let mut pages = Page::all();
    pages.push(Page::open("examples/ci/.github/workflows/nondex.yml"));
    let mut checked = 0;
    for page in &pages {
        for line in lines(page) {
            if let Some(why) = refusal(line) {
                panic!("{}: `{line}`: {why}", page.name);
            }
            checked += 1;
        }
    }
    assert!(checked > 30, "only {checked}");
}

#[test]
fn a_command_line_that_is_wrong_is_found() {
    for line in [
        "cargo nondex replya latest",
        "cargo nondex --seedz 3",
        "cargo nondex --seeds three",
        "cargo nondex report --levels STD",
        "cargo nondex run -E",
    ] {
        assert!(refusal(line).is_some(), "{line}");
    }
    assert_eq!(refusal("cargo nondex -E 'not test(/a b/)' -- --skip slow"), None);
}

#[test]
fn every_option_that_a_page_names_is_one() {
    let options = binary::all_options();
    for page in Page::all() {
        for span in page.spans().filter(|span| span.starts_with("--")) {
            let end = span.find([' ', '=', '[', '…']).unwrap_or(span.len());
            let name = &span[..end];
            assert!(
                name == "--" || options.contains(name) || FOREIGN.contains(&name),
                "{}: `{span}`",
                page.name
            );
        }
    }
}

#[test]
fn every_default_in_parentheses_behind_an_option_is_its_default() {
    let commands = binary::commands();
    let options: Vec<_> = commands
        .iter()
        .filter(|command| *command != "help")
        .flat_map(|command| binary::options(command))
        .collect();
    let mut checked = 0;
    for page in Page::all() {
        for (start, _) in page.text.match_indices("` (") {
            let rest = &page.text[start + "` (".len()..];
            // Both numbers may have a unit.
            let number = rest.split([')', ' ']).next().unwrap_or_default();
            let before = page.text[..start].rsplit('`').next().unwrap_or_default();
            let name = before.split(' ').next().unwrap_or_default();
            if !name.starts_with("--") || number.parse::<u64>().is_err() {
                continue;
            }
            let mut found = options.iter().filter(|option| option.name == name);
            let is_number = |default: &str| default.trim_end_matches('s') == number;
            let is_default = found.any(|option| option.default.as_deref().is_some_and(is_number));
            assert!(is_default, "{}: `{before}` ({number})", page.name);
            checked += 1;
        }
    }
    assert!(checked >= 3, "only {checked}");
}

#[test]
fn every_variable_that_a_page_names_is_read() {
    use nondex_core::protocol::spec::{CHILD_VARIABLE, SPEC_VARIABLE};
    let mut known: BTreeSet<String> = KEYS.into_iter().map(variable).collect();
    known.extend(OF_NO_KEY.map(str::to_owned));
    known.extend(crate::OTHER_VARIABLES.map(str::to_owned));
    // Variables of the protocol between driver and test process, which pages for contributors
    // mention.
    known.extend([SPEC_VARIABLE, CHILD_VARIABLE].map(str::to_owned));
    for page in Page::all() {
        let parts = page.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in parts.filter(|part| part.starts_with("NONDEX_") && *part != "NONDEX_") {
            assert!(known.contains(name), "{}: {name}", page.name);
        }
    }
}

#[test]
fn every_path_of_the_repository_that_a_page_names_is_there() {
    let folders = ["nondex-", "tests/", "examples/", "docs/", ".ci/"];
    let mut checked = 0;
    for page in Page::all() {
        for span in page.spans() {
            let path = span.split([' ', ':']).next().unwrap_or_default();
            let is_path = path.contains('/') && folders.iter().any(|start| path.starts_with(start));
            // The examples name their own files, and the evidence page names lines of published
            // crates.
            let is_line = page.name == "docs/src/evidence.md" && span.contains(".rs:");
            if !is_path || is_line || page.name.starts_with("examples/") {
                continue;
            }
            assert!(repository().join(path).exists(), "{}: `{path}`", page.name);
            checked += 1;
        }
    }
    assert!(checked > 20, "only {checked}");
}

#[test]
fn every_exit_code_that_a_page_names_is_one() {
    for page in Page::all() {
        for (start, _) in page.text.match_indices(" code ") {
            let rest = &page.text[start + " code ".len()..];
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let Ok(number) = digits.parse::<u8>() else { continue };
            let mut codes = ExitCode::ALL.iter();
            assert!(codes.any(|(code, _)| *code as u8 == number), "{}: code {number}", page.name);
        }
    }
}

/// Returns the program's messages about a configuration file with this text.
fn messages_for(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("nondex.toml");
    std::fs::write(&file, text).unwrap();
    // The file is read first. Nothing is built, because there is no project.
    let manifest = folder.path().join("Cargo.toml");
    let paths = [&file, &manifest].map(|path| path.to_str().unwrap());
    let output =
        binary::run(["nondex", "list", "--config-file", paths[0], "--manifest-path", paths[1]]);
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn every_configuration_file_of_the_pages_is_understood() {
    let is_ours = |block: &&String| block.contains("[profile.") || block.contains("[[sanitise]]");
    let mut checked = 0;
    for page in Page::all() {
        for block in page.blocks("toml").iter().filter(is_ours) {
            let messages = messages_for(block);
            assert!(
                messages.contains("Cargo.toml") && !messages.contains("nondex.toml"),
                "{}: {messages}",
                page.name
            );
            checked += 1;
        }
    }
    assert!(checked >= 2, "only {checked}");
    let wrong = messages_for("[profile.default]\nlevel = [\"STD\"]\n");
    assert!(wrong.contains("nondex.toml:2"), "{wrong}");
}
