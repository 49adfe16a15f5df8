//! Pages, help texts and code agree.

mod binary;
mod command_lines;
mod evidence;
mod generated;
mod page;
mod schemas;
mod source;

use std::collections::BTreeSet;

use cargo_nondex::config::{KEYS, OF_NO_KEY, OVERRIDE_KEYS, SANITISE_KEYS, variable};
use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;
use nondex_core::Level;
use nondex_core::protocol::operation::OPERATIONS;
use nondex_core::protocol::spec::{LEVEL_VARIABLE, SEED_VARIABLE};

use page::Page;

/// Variables that have no option.
const OTHER_VARIABLES: [&str; 3] =
    [cargo_nondex::project::runtime::CACHE_VARIABLE, SEED_VARIABLE, LEVEL_VARIABLE];

#[test]
fn the_book_has_every_exit_code_with_its_meaning() {
    let expected: Vec<Vec<String>> = ExitCode::ALL
        .iter()
        .map(|(code, meaning)| vec![(*code as u8).to_string(), (*meaning).to_owned()])
        .collect();
    assert_eq!(Page::of_book("ci").section("Exit codes").table(), expected);
}

#[test]
fn the_book_has_every_level_with_its_meaning() {
    let page = Page::of_book("levels-and-verdicts");
    let rows = page.section("Levels").table();
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names, Level::ALL.map(Level::name));
    for (row, level) in rows.iter().zip(Level::ALL) {
        assert_eq!(row[2], level.meaning(), "{level}");
    }
}

#[test]
fn the_book_has_every_verdict() {
    let page = Page::of_book("levels-and-verdicts");
    let names = page.section("Verdicts").first_column();
    assert_eq!(names, Verdict::ALL.map(Verdict::name));
}

#[test]
fn the_book_has_every_command() {
    let found = Page::of_book("commands").whole().first_column();
    let found: Vec<_> = found
        .iter()
        .filter_map(|command| command.strip_prefix("cargo nondex "))
        .map(|command| command.trim_matches(['[', ']']))
        .collect();
    let mut expected = binary::commands();
    expected.retain(|command| command != "help");
    assert_eq!(found, expected);
}

#[test]
fn the_book_has_every_mode_of_the_network() {
    let mut found = Page::of_book("network").section("The modes").first_column();
    found.sort();
    let options = binary::options("run");
    let network = options.iter().find(|option| option.name == "--network");
    let values = network.and_then(|option| option.values.as_deref());
    let mut expected: Vec<&str> = values.expect("it lists them").split(", ").collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn every_key_is_an_option_and_every_other_variable_is_named_in_the_help_text() {
    let options = binary::options("run");
    for key in KEYS {
        let name = format!("--{key}");
        assert!(options.iter().any(|option| option.name == name), "{key}");
    }
    let named: BTreeSet<&str> =
        options.iter().filter_map(|option| option.variable.as_deref()).collect();
    assert_eq!(named, BTreeSet::from(OF_NO_KEY));
}

#[test]
fn the_book_has_every_key_of_an_override() {
    let page = Page::of_book("configuration");
    assert_eq!(page.section("Overrides").first_column(), OVERRIDE_KEYS);
}

#[test]
fn the_book_has_every_key_of_a_sanitiser_and_every_operation() {
    let page = Page::of_book("prerequisites");
    let rows = page.section("The keys").table();
    let found: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(found, SANITISE_KEYS);
    let operations = OPERATIONS.map(|name| format!("`{name}`")).join(", ");
    assert!(rows[2][1].contains(operations.trim_matches('`')), "{rows:?}");
}

#[test]
fn the_book_has_every_variable_that_stands_for_no_option() {
    for name in OTHER_VARIABLES {
        let mut keys = KEYS.into_iter();
        assert!(keys.all(|key| variable(key) != name), "{name} has two meanings");
    }
    let page = Page::of_book("configuration");
    let found = page.section("Environment variables").first_column();
    assert_eq!(found, OTHER_VARIABLES);
}

#[test]
fn the_book_keeps_as_much_as_the_program() {
    use cargo_nondex::findings::KEPT_FINDINGS;
    use cargo_nondex::report::store::KEPT_RUNS;
    let shows = |page: &str, text: String| {
        let page = Page::of_book(page);
        let words: Vec<&str> = page.text.split_whitespace().collect();
        assert!(words.join(" ").contains(&text), "{}: {text}", page.name);
    };
    shows("replay-and-regressions", format!("`target/nondex/findings`, the last {KEPT_FINDINGS}"));
    shows("report", format!("The last {KEPT_RUNS} runs are kept"));
}

#[test]
fn the_help_text_has_every_exit_code() {
    let help = binary::stdout(["--help"]);
    for (code, meaning) in ExitCode::ALL {
        assert!(help.contains(&format!("{:>3}  {meaning}", code as u8)), "{meaning}");
    }
}

#[test]
fn the_readme_the_guide_for_contributors_and_continuous_integration_run_the_tests_by_one_command() {
    let checked: Vec<&str> = include_str!("../../.ci/run")
        .lines()
        .filter_map(|line| line.strip_prefix("run "))
        .collect();
    let tests = ["cargo test --workspace"];
    let readme = Page::open("README.md");
    assert!(readme.commands("cargo test").eq(tests));
    let guide = Page::open("CONTRIBUTING.md");
    assert!(guide.commands("cargo test").eq(tests));
    for command in guide.commands("cargo ") {
        assert!(checked.contains(&command), "`.ci/run` has no `{command}`");
    }
    let ran = checked.iter().filter(|command| command.starts_with("cargo test"));
    assert!(ran.eq(&tests), "{checked:?}");
}

#[test]
fn continuous_integration_runs_the_same_script_with_the_oldest_and_the_newest_toolchain() {
    let workflow = include_str!("../../.github/workflows/ci.yml");
    let toolchains = workflow.lines().find_map(|line| {
        let list = line.trim().strip_prefix("toolchain: [")?;
        list.strip_suffix(']')
    });
    let toolchains: Vec<&str> = toolchains
        .expect("a matrix of toolchains")
        .split(", ")
        .map(|name| name.trim_matches('"'))
        .collect();
    assert_eq!(toolchains[..2], [env!("CARGO_PKG_RUST_VERSION"), "stable"]);
    for script in [".ci/run", ".ci/nightly"] {
        let step = format!("- run: {script}");
        assert!(workflow.lines().any(|line| line.trim() == step), "{script}");
        assert!(page::repository().join(script).is_file(), "{script}");
    }
}

#[test]
fn a_release_attaches_the_archives_that_binstall_downloads() {
    let script = include_str!("../../.ci/archive");
    let name = script
        .lines()
        .find_map(|line| line.strip_prefix("name="))
        .expect("the script names the archive")
        .trim_matches('"')
        .replace("cargo-nondex", "{ name }")
        .replace("$version", "{ version }")
        .replace("$target", "{ target }");
    let manifest = include_str!("../../nondex-harness/cargo-nondex/Cargo.toml");
    for expected in [
        format!("releases/download/v{{ version }}/{name}.tar.gz\""),
        format!("bin-dir = \"{name}/{{ bin }}\""),
    ] {
        assert!(manifest.contains(&expected), "{expected}");
    }
    let workflow = include_str!("../../.github/workflows/release.yml");
    assert!(workflow.contains("- run: .ci/archive\n"));
}

#[test]
fn the_readme_is_short_and_begins_with_what_is_needed() {
    let readme = Page::open("README.md");
    assert!(readme.text.len() <= 5 * 1024, "{} bytes", readme.text.len());
    let first: Vec<&str> = readme.text.lines().take(6).collect();
    let needed = concat!("stable Rust ", env!("CARGO_PKG_RUST_VERSION"));
    for part in ["Linux with glibc", needed] {
        assert!(first.iter().any(|line| line.contains(part)), "{part}");
    }
}

#[test]
fn what_pages_say_of_a_summary_is_what_a_summary_says_today() {
    let models: usize =
        nondex_core::model::CATALOGUE.iter().map(|model| model.families().len()).sum();
    let models = format!(" of {models} models reached");
    for page in Page::all() {
        let spans = page.spans();
        for span in spans.filter(|span| span.ends_with(" models reached")) {
            assert!(span.ends_with(&models), "{}: `{span}`", page.name);
        }
    }
    let page = Page::of_book("getting-started");
    let explained: Vec<&str> = page
        .spans()
        .filter(|span| [" models reached", " more implied"].iter().any(|end| span.ends_with(end)))
        .collect();
    assert!(!explained.is_empty());
    for span in explained {
        let shown = page.text.matches(span).count() - 1;
        assert!(shown > 0, "`{span}` is explained, and not shown");
    }
}

/// Lists items of the library with their paths, as pages write them.
macro_rules! items {
    ($($path:path),* $(,)?) => {{
        $({
            #[expect(unused_imports, reason = "that it compiles is the check")]
            use $path as _;
        })*
        [$(stringify!($path).replace(' ', "")),*]
    }};
}

#[test]
fn every_item_of_the_library_that_a_page_names_is_there() {
    let items = items![
        nondex_core::choice::number,
        nondex_core::decide,
        cargo_nondex::judge::prerequisite::Prerequisite,
        nondex_harness::main,
        cargo_nondex::report::schema,
    ];
    for page in Page::all() {
        let starts = ["cargo_nondex::", "nondex_core::", "nondex_harness::"];
        let named = page.spans().filter(|span| starts.iter().any(|start| span.starts_with(start)));
        for span in named {
            let path = span.split('(').next().unwrap_or_default();
            assert!(items.iter().any(|item| item == path), "{}: `{span}`", page.name);
        }
    }
}

#[test]
fn the_picture_of_the_house_has_every_room() {
    let page = Page::of_book("contributing/house");
    for folder in ["nondex-harness/cargo-nondex/src", "nondex-harness/judge/src", "nondex-core/src"]
    {
        for entry in std::fs::read_dir(page::repository().join(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{}/", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                assert!(page.text.contains(&name), "{folder}/{name}");
            }
        }
    }
}

#[test]
fn the_book_without_generated_parts_and_evidence_has_at_most_20000_words() {
    let is_written = |page: &Page| {
        let appendices = ["docs/src/SUMMARY.md", "docs/src/evidence.md"];
        page.name.starts_with("docs/src/") && !appendices.contains(&page.name.as_str())
    };
    let pages = Page::all().into_iter().filter(is_written);
    let words: usize = pages.map(|page| page.written_words()).sum();
    assert!(words <= 20_000, "{words}");
}
