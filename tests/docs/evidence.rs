//! The figures on the pages add up. They agree with the lists that the scripts in `tests/corpus`
//! compare with.

use std::fs;

use serde_json::Value;

use crate::page::{Page, repository};

fn list(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(repository().join("tests/corpus").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Returns the rows of the table with this header.
fn rows(page: &Page, header: &str) -> Vec<Vec<String>> {
    let start = page
        .text
        .find(&format!("{header}\n"))
        .unwrap_or_else(|| panic!("{}: no table `{header}`", page.name));
    let lines = page.text[start..].lines().take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    lines.skip(2).map(cells).collect()
}

fn sum(rows: &[Vec<String>], column: usize) -> u64 {
    rows.iter().map(|row| row[column].parse::<u64>().unwrap()).sum()
}

/// Asserts that the page has this text, with any line breaks.
#[track_caller]
fn shows(page: &Page, text: &str) {
    let words: Vec<&str> = page.text.split_whitespace().collect();
    assert!(words.join(" ").contains(text), "{}: {text}", page.name);
}

#[test]
fn what_is_said_of_the_published_crates_adds_up() {
    let page = Page::of_book("evidence");
    let all = rows(
        &page,
        "| crate | version | plainly | canonical | points | nextest | cargo | `test` | default \
         | skipped | full | runs | `test` | default | full |",
    );
    let tests = sum(&all, 3);
    let thousands = format!("{},{:03}", tests / 1000, tests % 1000);
    shows(&page, &format!("{} crates with {thousands} tests", all.len()));
    let expected = list("crates.json");
    for row in &all {
        let mut known = expected.iter().filter(|known| known["crate"] == *row[0]);
        assert!(known.any(|known| known["version"] == *row[1]), "{row:?}");
    }

    let findings = rows(
        &page,
        "| crate | test | verdict | level | fails the run | culprit | decides | runs of the \
         search |",
    );
    let is_shown = |known: &&Value| all.iter().any(|row| known["crate"] == *row[0]);
    for known in expected.iter().filter(is_shown) {
        for finding in known["findings"].as_array().unwrap() {
            let row = findings
                .iter()
                .find(|row| {
                    known["crate"] == *row[0]
                        && finding["test"].as_str().unwrap().ends_with(&row[1])
                })
                .unwrap_or_else(|| panic!("{finding} is not on the page"));
            assert_eq!(finding["level"], *row[3], "{row:?}");
            if let (Some(file), Some(lines)) =
                (finding["file"].as_str(), finding["lines"].as_array())
            {
                let places: Vec<String> =
                    lines.iter().map(|line| format!("{file}:{line}")).collect();
                let mut shown = row[5].split([' ', ',', '(', ')']);
                assert!(shown.any(|shown| places.iter().any(|place| place == shown)), "{row:?}");
            }
        }
    }
}

#[test]
fn what_is_said_of_tests_without_a_network_adds_up() {
    let page = Page::of_book("evidence");
    let header = "| crate | tests | labelled | sanitised | rightly | other failures |";
    let table = rows(&page, header);
    let expected = list("network.json");
    for row in &table {
        let found = expected.iter().find(|known| {
            let doc = known["arguments"].to_string().contains("--doc");
            let name = |part: &str| known[part].as_str().unwrap().to_owned();
            let doctests = if doc { ", doctests" } else { "" };
            row[0] == format!("{} {}{doctests}", name("crate"), name("version"))
        });
        let found = found.unwrap_or_else(|| panic!("{row:?} is not in network.json"));
        let labelled = found["network"].as_array().map_or(0, Vec::len);
        assert_eq!(row[2], labelled.to_string(), "{row:?}");
    }
    assert_eq!(table.len(), expected.len());
    let (labelled, sanitised, rightly) = (sum(&table, 2), sum(&table, 3), sum(&table, 4));
    let share = |of: u64| format!("{:.2}", rightly as f64 / of as f64);
    shows(&page, &format!("precision {}, recall {}", share(sanitised), share(labelled)));
    shows(&page, &format!("The {labelled} tests that are labelled so"));
    shows(&page, &format!("the {} that fail for another reason", sum(&table, 5)));
}

#[test]
fn what_is_said_of_tests_that_depend_on_each_other_is_what_is_looked_for() {
    let page = Page::of_book("evidence");
    let table = rows(&page, "| crate | version | tests | found | what reading the source shows |");
    let expected = list("order.json");
    assert_eq!(table.len(), expected.len());
    for (row, known) in table.iter().zip(&expected) {
        let tests = known["tests"].as_array().unwrap();
        assert_eq!(known["crate"], *row[0]);
        assert_eq!(known["version"], *row[1]);
        assert_eq!(tests.len().to_string(), row[3], "{row:?}");
        assert_eq!(known["reading"], *row[4]);
        for test in tests {
            for part in ["name", "verdict"] {
                shows(&page, &format!("`{}`", test[part].as_str().unwrap()));
            }
            // Null means that this cannot be observed.
            if test["state"].is_null() {
                continue;
            }
            for part in ["written", "read"] {
                shows(&page, &format!("`{}`", test[part].as_str().unwrap()));
            }
            shows(&page, test["state"][1].as_str().unwrap());
        }
    }
}

/// Program that measures the schedules.
#[path = "../../nondex-core/examples/schedules.rs"]
#[expect(dead_code, reason = "its `main` prints what is compared here")]
mod schedules;

#[test]
fn what_is_said_of_the_schedules_is_what_is_measured() {
    let page = Page::of_book("evidence");
    // The shortest collections, which are in the first columns. Without optimisation, the others
    // take long.
    let lens = [2, 3, 5];
    for (title, measured) in schedules::tables(&lens) {
        let start = page.text.find(&format!("| {title} | "));
        let table = &page.text[start.unwrap_or_else(|| panic!("no table {title}"))..];
        for (kind, cells) in measured {
            let row = format!("| {kind} | {} | ", cells.join(" | "));
            let shown = table
                .lines()
                .find(|line| line.starts_with(&format!("| {kind} | ")))
                .unwrap_or_default();
            assert!(shown.starts_with(&row), "{title}: {row} is not {shown}");
        }
    }
}
