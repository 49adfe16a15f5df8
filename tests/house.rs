//! Layers of the source folders. A folder depends only on folders below it, and no two files of a
//! folder depend on each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the driver, and its files next to them, from the top layer down. Each has the list of
/// those that it may depend on.
const DRIVER: [(&str, &[&str]); 21] = [
    (
        "command",
        &[
            "config",
            "cli",
            "campaign",
            "findings",
            "report",
            "judge",
            "project",
            "repository",
            "shell",
            "error",
            "exit_code",
            "pool",
            "statistics",
            "file",
            "atomic_file",
            "interruption",
            "program",
            "locked",
        ],
    ),
    ("config", &["cli", "judge", "project", "error", "file", "nearest", "toml_error"]),
    ("cli", &["findings", "judge", "project", "shell", "error", "exit_code", "nearest"]),
    ("campaign", &["report", "pool", "judge", "project", "error", "atomic_file", "locked"]),
    ("findings", &["report", "project", "shell", "error", "file", "atomic_file", "toml_error"]),
    (
        "report",
        &["judge", "project", "shell", "error", "exit_code", "statistics", "file", "atomic_file"],
    ),
    (
        "project",
        &["error", "exit_code", "pool", "file", "atomic_file", "interruption", "program", "locked"],
    ),
    ("repository", &["error"]),
    ("file", &["error"]),
    ("atomic_file", &["error"]),
    ("program", &["interruption"]),
    ("interruption", &[]),
    ("error", &["exit_code"]),
    ("shell", &[]),
    ("exit_code", &[]),
    ("toml_error", &["nearest"]),
    ("nearest", &[]),
    ("pool", &["judge", "locked"]),
    ("locked", &[]),
    // A separate crate, which has this name in the driver.
    ("judge", &[]),
    ("statistics", &[]),
];

/// Returns the names that a text imports by a path that begins with `start`: `crate::a`, or
/// `crate::{a, b}`.
fn imported<'a>(text: &'a str, start: &str) -> BTreeSet<&'a str> {
    let word = |text: &'a str| {
        let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        &text[..end.unwrap_or(text.len())]
    };
    let mut names = BTreeSet::new();
    for (at, _) in text.match_indices(start) {
        let rest = &text[at + start.len()..];
        match rest.strip_prefix('{') {
            None => _ = names.insert(word(rest)),
            Some(list) => {
                let mut depth = 0;
                let mut begins = true;
                for (at, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => begins = true,
                        _ if c.is_whitespace() => {}
                        _ if begins && depth == 0 => {
                            begins = false;
                            names.insert(word(&list[at..]));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names
}

/// Reads a source file without its tests and comments.
fn source(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let end = ["\n#[cfg(test)]\nmod tests {", "\n#[cfg(test)]\npub(crate) mod tests {"]
        .iter()
        .filter_map(|start| text.find(start))
        .min();
    let lines = text[..end.unwrap_or(text.len())].lines();
    let code = lines.filter(|line| !line.trim_start().starts_with("//"));
    code.collect::<Vec<_>>().join("\n")
}

/// Returns every source file below a folder, except tests and their helpers.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().and_then(|name| name.to_str());
        if ["tests", "simulation"].map(Some).contains(&name) {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns every folder with source files below a folder, without that folder.
fn folders(folder: &Path) -> BTreeSet<PathBuf> {
    let files = files(folder);
    let folders = files.iter().flat_map(|file| file.ancestors().skip(1));
    let below = folders.filter(|found| found.starts_with(folder) && *found != folder);
    below.map(Path::to_owned).collect()
}

/// Returns the first name of a path below `root`, without its extension.
fn room(root: &Path, file: &Path) -> String {
    let relative = file.strip_prefix(root).unwrap();
    let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

#[test]
fn arrows_between_folders_lead_downward_only() {
    for (floor, (name, below)) in DRIVER.iter().enumerate() {
        for other in *below {
            let found = DRIVER.iter().position(|(known, _)| known == other);
            assert!(found.unwrap() > floor, "`{name}` may not know `{other}`: it is above it");
        }
    }
    let mut used = BTreeSet::new();
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in files(root) {
        let own = room(root, &file);
        let Some((_, below)) = DRIVER.iter().find(|(name, _)| *name == own) else {
            let is_root = ["lib", "main"].contains(&&*own);
            assert!(is_root, "{} has no place in the house", file.display());
            continue;
        };
        let text = source(&file);
        for other in imported(&text, "crate::") {
            let is_room = DRIVER.iter().any(|(name, _)| *name == other);
            assert!(
                !is_room || other == own || below.contains(&other),
                "{} makes a new arrow, from `{own}` to `{other}`: what both need belongs below \
                 both of them",
                file.display(),
            );
            used.insert((own.clone(), other.to_owned()));
        }
    }
    for (name, below) in DRIVER {
        for other in below {
            let arrow = (name.to_owned(), (*other).to_owned());
            assert!(used.contains(&arrow), "no file of `{name}` uses `{other}` any more");
        }
    }
}

#[test]
fn files_of_one_folder_know_each_other_in_one_direction_only() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The test above checks the top layer of the driver. The top layer of the mirror is that of
    // std.
    for (root, with_top) in [
        ("src", false),
        ("../src", false),
        ("../judge/src", true),
        ("../../nondex-core/src", true),
        ("../../nondex-collections/interpose/src", true),
        ("../../nondex-collections/src", false),
    ] {
        let root = own.join(root);
        let top = with_top.then(|| root.clone());
        no_circle(&root, folders(&root).into_iter().chain(top));
    }
}

/// Asserts that no two files of one of these folders below `root` depend on each other, directly or
/// indirectly.
fn no_circle(root: &Path, folders: impl Iterator<Item = PathBuf>) {
    for folder in folders {
        let name = folder.strip_prefix(root).unwrap().to_str().unwrap().replace('/', "::");
        // A file and the folder of the same name count as one.
        let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for file in files(&folder) {
            let own = room(&folder, &file);
            let text = source(&file);
            let is_in_folder = file.parent() == Some(&folder);
            let siblings = if is_in_folder { "super::" } else { "super::super::" };
            let from_root = format!("crate::{name}::").replace("::::", "::");
            // The table of C functions is no layer: it names those that take part in each call.
            let is_list = ["mod", "lib", "table"].contains(&own.as_str());
            let known = imported(&text, &from_root)
                .into_iter()
                .chain(imported(&text, siblings))
                .filter(|other| *other != own && !is_list);
            arrows.entry(own.clone()).or_default().extend(known.map(str::to_owned));
        }
        for start in arrows.keys() {
            let mut open = vec![vec![start.clone()]];
            let mut seen = BTreeSet::new();
            while let Some(path) = open.pop() {
                for next in arrows.get(path.last().unwrap()).into_iter().flatten() {
                    let mut longer = path.clone();
                    longer.push(next.clone());
                    assert_ne!(next, start, "a circle in `{name}`: {}", longer.join(" -> "));
                    if seen.insert(next.clone()) {
                        open.push(longer);
                    }
                }
            }
        }
    }
}

/// The verdict of a report follows from a fact, by the judge's table.
#[test]
fn only_the_judge_gives_a_verdict() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let gives_one = |file: &PathBuf| {
        let text = source(file);
        let is_made =
            text.contains("verdict: Verdict::") && !text.contains("verdict: Verdict::default()");
        text.contains(".verdict = ") || is_made
    };
    let found: Vec<String> = files(root)
        .into_iter()
        .filter(gives_one)
        .map(|file| file.strip_prefix(root).unwrap().display().to_string())
        .collect();
    assert_eq!(found, ["report/schema/test.rs"]);
    let setter = source(&root.join("report/schema/test.rs"));
    assert_eq!(setter.matches(".verdict = ").count(), 2);
    assert!(setter.contains("self.verdict = ruling.verdict;"));
    assert!(setter.contains("self.verdict = other.verdict;"));
}

/// Fixtures are excluded: the suite expects findings at their line numbers.
#[test]
fn lines_end_at_column_100() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .find(|folder| folder.join("CHANGELOG.md").exists())
        .unwrap();
    let mut wide = Vec::new();
    for folder in [
        "docs",
        "nondex-core",
        "nondex-collections",
        "nondex-harness",
        "tests/cli",
        "tests/docs",
        "tests/e2e",
        "tests/inprocess",
        "tests/network",
        "tests/replay",
    ] {
        for file in files(&root.join(folder)) {
            let text = fs::read_to_string(&file).unwrap();
            for (number, line) in text.lines().enumerate() {
                if line.chars().count() > 100 {
                    wide.push(format!("{}:{}", file.display(), number + 1));
                }
            }
        }
    }
    assert_eq!(wide, Vec::<String>::new());
}

/// Chains of `let` need Rust 1.88. For functions of std, clippy checks this by `rust-version`.
#[test]
fn the_runtime_has_no_syntax_that_is_newer_than_its_oldest_toolchain() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_chained = |text: &str| {
        let mut is_open = false;
        text.lines().map(str::trim).any(|line| {
            if ["if let ", "while let ", "} else if let "]
                .iter()
                .any(|start| line.starts_with(start))
            {
                is_open = true;
            }
            let is_joined = is_open && (line.starts_with("&& ") || line.contains(" && "));
            is_open &= !line.ends_with('{');
            is_joined || line.starts_with("&& let ") || line.contains(" && let ")
        })
    };
    assert!(is_chained("if a && let Some(b) = c {"));
    assert!(is_chained("if let Some(b) = c\n    && b\n{"));
    assert!(!is_chained("if let Some(b) = c {\n    if a && b {"));
    let mut chained = Vec::new();
    for folder in [
        "nondex-core/src",
        "nondex-collections/src",
        "nondex-collections/interpose/src",
        "nondex-harness/src",
        "nondex-harness/cargo-nondex/runtime",
    ] {
        for file in files(&root.join(folder)) {
            if is_chained(&fs::read_to_string(&file).unwrap()) {
                chained.push(file);
            }
        }
    }
    assert_eq!(chained, Vec::<PathBuf>::new());
}

/// An interposed function is a row of the table. Only what compilers call has no row, since it has
/// no original, and its name begins with two underscores.
#[test]
fn c_functions_are_rows_of_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../nondex-collections/interpose/src");
    let mut found = Vec::new();
    for file in files(&root) {
        let text = source(&file);
        let mut definitions = text.split("no_mangle").skip(1).peekable();
        if definitions.peek().is_some() {
            found.push(file.strip_prefix(&root).unwrap().display().to_string());
        }
        for definition in definitions {
            let name = definition.split("extern \"C\" fn ").nth(1).unwrap();
            assert!(name.starts_with(['_', '$']), "{}: {name:.40}", file.display());
        }
    }
    assert_eq!(found, ["covered.rs", "schedule/accesses.rs", "schedule/atomics.rs", "table.rs"]);
}

/// Ignored test.
struct Ignored {
    /// File, below the folder of tests.
    file: String,
    /// Line of the attribute.
    attribute: String,
    name: String,
}

/// Returns the ignored tests outside of fixtures.
fn ignored() -> Vec<Ignored> {
    let mut found = Vec::new();
    for folder in ["tests", "nondex-collections/tests"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
        for path in files(&root) {
            let file = path.strip_prefix(&root).unwrap().to_str().unwrap();
            if file.starts_with("fixtures/") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let mut lines = text.lines().map(str::trim_start);
            while let Some(attribute) = lines.find(|line| line.starts_with("#[ignore")) {
                let head = lines.find_map(|line| line.strip_prefix("fn ")).expect("a test follows");
                found.push(Ignored {
                    file: file.to_owned(),
                    attribute: attribute.to_owned(),
                    name: head.split('(').next().unwrap().to_owned(),
                });
            }
        }
    }
    found
}

/// Tests of the second tier are `#[ignore]`d, and `.ci/nightly` runs them.
#[test]
fn every_test_that_is_left_out_says_why_and_is_run_at_night() {
    let nightly = include_str!("../.ci/nightly");
    let mut second_tier = 0;
    for Ignored { file, attribute, .. } in ignored() {
        let reason = attribute
            .strip_prefix("#[ignore = \"")
            .unwrap_or_else(|| panic!("{file}: {attribute}"));
        if reason.starts_with("needs cargo-nextest") {
            continue;
        }
        assert!(reason.starts_with("second tier: "), "{file}: {attribute}");
        let target = file.split(['/', '.']).next().unwrap();
        assert!(nightly.contains(&format!("--test {target} ")), "{file}");
        second_tier += 1;
    }
    assert!(second_tier > 0);
}

#[test]
fn the_tests_of_the_second_tier_that_the_guide_for_contributors_names_exist() {
    let ignored = ignored();
    let guide = include_str!("../CONTRIBUTING.md");
    let cells = guide.lines().filter_map(|line| line.strip_prefix('|')?.split('|').next());
    let mut named = 0;
    for test in cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)) {
        // A name is shortened: `deflake::…compiled_to_nothing…`.
        let parts: Vec<&str> = test.rsplit("::").next().unwrap_or_default().split('…').collect();
        if parts.len() > 1 {
            named += 1;
            let is_named = |one: &Ignored| parts.iter().all(|part| one.name.contains(part));
            assert!(ignored.iter().any(is_named), "no ignored test has the name `{test}`");
        }
    }
    assert!(named > 10, "{named}");
}

#[test]
fn imports_are_read_from_paths_and_lists() {
    let text = "use crate::a::B;\nuse crate::{c, d::{e, f}, g};\nlet x = crate::h::i();";
    let names: Vec<&str> = imported(text, "crate::").into_iter().collect();
    assert_eq!(names, ["a", "c", "d", "g", "h"]);
}
