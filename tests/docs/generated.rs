//! Parts of pages that the code generates. `INSTA_UPDATE=always cargo test -p cargo-nondex --test
//! docs` regenerates them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use cargo_nondex::config::{self, KEYS};

use crate::binary::{self, OptionHelp};
use crate::page::{Page, repository};
use crate::source::{self, Type};

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_page_of_the_configuration_has_every_option_with_its_key_and_variable() {
    let mut text = String::new();
    let mut heading = "";
    let options = binary::options("run");
    for option in &options {
        if option.heading != heading {
            heading = &option.heading;
            let _ = write!(
                text,
                "\n### {heading}\n\n| option | key | variable | meaning |\n|---|---|---|---|\n"
            );
        }
        let _ = writeln!(text, "{}", row(option));
    }
    Page::of_book("configuration").expect_generated("options", &text);
}

fn row(option: &OptionHelp) -> String {
    let name = option.name.trim_start_matches('-');
    let key = KEYS.into_iter().find(|key| *key == name);
    let variable = key.map(config::variable).or(option.variable.clone());
    let code = |name: Option<&str>| name.map_or_else(|| "-".to_owned(), |name| format!("`{name}`"));
    let space = if option.value.starts_with('<') { " " } else { "" };
    let usage = [&option.name, space, &option.value].concat();
    let mut meaning = cell(&option.meaning);
    if let Some(values) = &option.values {
        let _ = write!(meaning, ": one of {values}");
    }
    if let Some(default) = &option.default {
        let _ = write!(meaning, " (default: {})", cell(default));
    }
    format!("| `{}` | {} | {} | {meaning} |", cell(&usage), code(key), code(variable.as_deref()))
}

#[test]
fn the_page_of_models_has_every_model_with_its_levels_and_what_to_do_instead() {
    let json = binary::stdout(["models", "--message-format", "json"]);
    let models: serde_json::Value = serde_json::from_str(&json).unwrap();
    let models = models.as_array().unwrap();
    let of = |model: &serde_json::Value, key: &str| model[key].as_str().unwrap().to_owned();
    let row_of = |model: &serde_json::Value| ["api", "promise", "url"].map(|key| of(model, key));
    let mut listed: BTreeMap<[String; 3], String> = BTreeMap::new();
    let mut treatments: BTreeMap<[String; 5], String> = BTreeMap::new();
    let mut text = String::new();
    for family in models.chunk_by(|a, b| a["family"] == b["family"]) {
        let first = &family[0];
        let _ = writeln!(text, "\n## {}\n", of(first, "family"));
        let _ = writeln!(text, "Instead: {}.\n", of(first, "fix"));
        let name = of(first, "family");
        let does = nondex_core::Level::ALL.map(|level| of(&first["levels"], level.name()));
        if let Some(earlier) = treatments.get(&does) {
            let _ = writeln!(text, "The levels do what they do to `{earlier}`.");
        } else {
            let _ = writeln!(text, "| level | what it does |\n|---|---|");
            for (level, does) in nondex_core::Level::ALL.into_iter().zip(&does) {
                let _ = writeln!(text, "| `{level}` | {} |", cell(does));
            }
            treatments.insert(does, name.clone());
        }
        // A family that has only rows of earlier families names these families instead.
        let repeated = family.iter().map(|model| listed.get(&row_of(model)));
        if let Some(earlier) = repeated.collect::<Option<BTreeSet<&String>>>() {
            let earlier: Vec<String> = earlier.iter().map(|name| format!("`{name}`")).collect();
            let _ = writeln!(text, "\nThe APIs of {}.", earlier.join(" and "));
            continue;
        }
        listed.extend(family.iter().map(|model| (row_of(model), name.clone())));
        text.push('\n');
        for model in family {
            let [api, promise, url] = row_of(model);
            let _ = writeln!(text, "- `{api}` [{promise}]({url})");
        }
    }
    Page::of_book("models").expect_generated("models", &text);
}

/// Returns the types of the report, in reading order.
pub(crate) fn report_types() -> Vec<Type> {
    let folder = repository().join("nondex-harness/cargo-nondex/src/report");
    let mut types = source::types(&folder.join("schema.rs"));
    let files = [
        "test",
        "build",
        "failure",
        "network",
        "../../../../judge/src/verdict",
        "culprit",
        "order",
        "sanitised",
        "scheduled",
        "interleaving",
        "parting",
        "change",
        "known",
        "rate",
        "advice",
    ];
    let listed = fs::read_dir(folder.join("schema")).unwrap().map(|entry| entry.unwrap().path());
    for path in listed.filter(|path| !path.ends_with("tests.rs")) {
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(files.contains(&name), "no place on the page for {name}");
    }
    for file in files {
        types.extend(source::types(&folder.join(format!("schema/{file}.rs"))));
    }
    let world = source::types(&folder.join("../../../judge/src/world.rs"));
    types.extend(world);
    for file in ["culprit/position", "timing", "change"] {
        let found = source::types(&folder.join(format!("../../../judge/src/{file}.rs")));
        let words = found.into_iter().filter(|found| !found.is_struct);
        types.extend(words);
    }
    types
}

/// Returns the types of events.
pub(crate) fn event_types() -> Vec<Type> {
    let folder = repository().join("nondex-harness/cargo-nondex/src/report");
    let mut events = source::types(&folder.join("stream.rs"));
    events.retain(|found| found.name != "Event");
    // The lines of a finding come after the finding.
    let at = events.iter().position(|found| found.name == "Finding").unwrap() + 1;
    events.splice(at..at, source::types(&folder.join("problem.rs")));
    events
}

#[test]
fn the_page_of_the_report_has_every_field_of_the_schema() {
    let (types, events) = (report_types(), event_types());
    Page::of_book("report").expect_generated("schema", &tables(&types, &types));
    let all: Vec<&Type> = types.iter().chain(&events).collect();
    Page::of_book("report").expect_generated("events", &tables(&events, all));
}

/// Returns a section for each type, with links to the types in `linked`.
fn tables<'t>(types: &[Type], linked: impl IntoIterator<Item = &'t Type>) -> String {
    let linked: Vec<&Type> = linked.into_iter().collect();
    let mut text = String::new();
    for found in types {
        let _ = writeln!(text, "\n## {}\n\n{}\n", found.name, found.doc);
        if found.is_struct {
            let _ = writeln!(text, "| field | type | meaning |\n|---|---|---|");
            for field in &found.items {
                let kind = source::json_type(&field.kind);
                let kind = linked.iter().fold(kind, |kind, other| {
                    let anchor = other.name.to_lowercase();
                    let link = format!("[{0}](#{anchor})", other.name);
                    source::replace_word(&kind, &other.name, &link)
                });
                let _ = writeln!(text, "| `{}` | {kind} | {} |", field.name, cell(&field.doc));
            }
        } else {
            let _ = writeln!(text, "| word | meaning |\n|---|---|");
            for item in &found.items {
                let _ = writeln!(text, "| `{}` | {} |", item.name, cell(&item.doc));
            }
        }
    }
    text
}
