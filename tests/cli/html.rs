//! The HTML report of hand-written reports.

mod document;
mod samples;

use camino::Utf8Path;
use cargo_nondex::report::html::{self, EarlierResult, Histories, PageContext};
use cargo_nondex::report::human::{Sources, View};
use cargo_nondex::report::schema::KnownFlake;
use cargo_nondex::report::{FailureReport, Report, TestReport, Verdict};
use nondex_core::{Level, Outcome};

use self::document::Document;
use self::samples::{deadlock, race, victim};
use crate::sample::{
    advice, because_of, dependent, element, failure, known, report, sources, test,
};

/// Text that, without escaping, is executed or ends an element or an attribute.
const HOSTILE: &str = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&lt;\u{0}";

fn page(report: &Report) -> String {
    page_with(report, &Histories::new())
}

fn page_with(report: &Report, past: &Histories) -> String {
    let (_temporary, sources) = sources();
    drawn(report, past, &sources)
}

fn drawn(report: &Report, past: &Histories, sources: &Sources) -> String {
    let view = View::brief(sources);
    html::render(report, &view, &PageContext { name: "shop", past })
}

fn document(report: &Report) -> Document {
    Document::parse(&page(report))
}

/// Returns a report in which each text that a user can choose is hostile.
fn hostile() -> Report {
    let text = || HOSTILE.to_owned();
    let mut all = dependent();
    all.id = format!("shop${HOSTILE}");
    (all.name, all.binary, all.package) = (text(), text(), text());
    all.notes = vec![text()];
    all.output = Some(text());
    all.difference = Some(format!("-{HOSTILE}\n+{HOSTILE}"));
    all.reproduce = Some(format!("cargo nondex replay '{HOSTILE}'"));
    for failure in &mut all.failures {
        failure.message = text();
        failure.file = Some(text());
    }
    let mut named = known();
    named.element_details =
        vec![element(0, Some(HOSTILE), Some(7)), element(1, Some(HOSTILE), None)];
    all.culprits = vec![named];
    let mut raced = race();
    if let Some(found) = &mut raced.interleaving {
        found.threads[0].name = Some(text());
        found.steps[0].what = text();
        found.steps[2].file = Some(text());
        found.conflicts[0].object = format!("file:{HOSTILE}");
    }
    let mut locked = deadlock();
    if let Some(scheduled) = &mut locked.scheduled {
        scheduled.waits[0].operation = text();
        scheduled.waits[1].file = Some(text());
    }
    let mut ordered = victim();
    if let Some(order) = &mut ordered.order {
        order.state[0].name = text();
        order.sets = vec![vec![text()]];
    }
    let flaky = TestReport {
        known: Some(KnownFlake {
            reason: text(),
            expires: "2027-01-31".to_owned(),
            link: Some("javascript:alert(3)".to_owned()),
        }),
        ..TestReport::new(HOSTILE, "other", "known")
    };
    let mut report = report(vec![all, raced, locked, ordered, flaky]);
    report.run.command = text();
    report.run.toolchain = text();
    report.run.commit = Some(text());
    report.notes = vec![text()];
    report
}

#[test]
fn what_a_report_has_is_text_and_never_part_of_the_page() {
    let report = hostile();
    let moment = |verdict| EarlierResult {
        time: 1_700_000_000_000,
        commit: Some(HOSTILE.to_owned()),
        modified: true,
        verdict,
    };
    let moments = [Verdict::Stable, Verdict::ImplementationDependent].map(moment);
    let past = Histories::from([(report.tests[0].id.clone(), moments.to_vec())]);
    let directory = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(directory.path()).unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    let source = format!("    let text = r#\"{HOSTILE}\"#; // {HOSTILE}\n").repeat(20);
    std::fs::write(root.join("src/lib.rs"), source).unwrap();
    let page = drawn(&report, &past, &Sources::new(root, None));
    let document = Document::parse(&page);
    // Every page has two scripts, whose texts are fixed.
    assert_eq!(document.all("script").count(), 2);
    assert_eq!(document.all("img").count(), 0);
    for element in &document.elements {
        for (name, value) in &element.attributes {
            assert!(!name.starts_with("on"), "{element:?}");
            assert!(!value.starts_with("javascript:"), "{element:?}");
        }
    }
    let shown = HOSTILE.replace('\0', "\u{2400}");
    let body = document.all("body").next().unwrap();
    assert!(body.text.matches(&shown).count() > 20, "{}", body.text);
    assert!(!page.contains('\0'));
}

#[test]
fn a_page_loads_nothing_and_each_of_its_links_leads_somewhere() {
    let tests = vec![
        dependent(),
        advice(),
        race(),
        deadlock(),
        victim(),
        test("stable", Verdict::Stable),
        test("src/lib.rs - shop (line 3)", Verdict::Passed),
    ];
    let document = document(&report(tests));
    let ids = document.ids();
    for element in &document.elements {
        for (name, value) in &element.attributes {
            assert!(!["src", "srcset", "data", "action"].contains(&name.as_str()));
            if name != "href" {
                continue;
            }
            match value.strip_prefix('#') {
                Some(id) => assert!(ids.contains(id), "{value}"),
                // Without this, browsers request an icon.
                None if element.tag == "link" => assert_eq!(value, "data:,"),
                None => assert!(value.starts_with("https://"), "{value}"),
            }
        }
    }
    let style = &document.all("style").next().unwrap().text;
    assert!(!style.contains("url(") && !style.contains("@import"));
    let policy = document.all("meta").find_map(|meta| meta.attribute("content"));
    assert!(policy.unwrap().starts_with("default-src 'none'"));
}

#[test]
fn tests_are_grouped_by_verdict_those_that_need_the_reader_first() {
    let mut tests: Vec<TestReport> = ["a", "b", "c"].map(|name| test(name, Verdict::Stable)).into();
    tests.extend([race(), victim(), dependent(), test("off", Verdict::NotRun)]);
    let document = document(&report(tests));
    let groups: Vec<_> = document
        .all("details")
        .filter(|one| one.has_class("group"))
        .map(|one| (one.attribute("data-v").unwrap(), one.attribute("open").is_some()))
        .collect();
    let expected =
        [("ID", true), ("OD-victim", true), ("ND", true), ("not-run", true), ("stable", false)];
    assert_eq!(groups, expected);
    let chips: Vec<&str> = document
        .all("a")
        .filter(|one| one.has_class("chip"))
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(chips, ["7 all", "1 ID", "1 OD-victim", "1 ND", "1 not-run", "3 stable"]);
    for id in ["shop$a", "shop$tills", "shop$is_closed", "shop$names", "shop$off"] {
        document.by_id(id);
    }
}

#[test]
fn a_finding_has_its_line_both_orders_the_message_the_rate_the_fix_and_the_command() {
    let document = document(&report(vec![because_of(vec![known()])]));
    let card = document.by_id("shop$names");
    for text in [
        "map.keys().cloned().collect()",
        "the order of elements 0 and 1 of 2 decides",
        "Canonical order: the test passes",
        "The order that decides: the test fails",
        "element 1, inserted at src/lib.rs:8element 0, inserted at src/lib.rs:7",
        "left: [\"b\", \"a\"]",
        "ONE 3 of 10 (11 to 60 %) with 95 % confidence",
        "ONE: breaks on another platform, std or hasher version",
        "confirmed both ways",
        "cargo nondex replay 0123abcd",
        "What to do instead",
    ] {
        assert!(card.text.contains(text), "{text}: {}", card.text);
    }
    let mut marks = document.all("mark").map(|mark| mark.text.as_str());
    assert!(marks.any(|mark| mark == "keys"));
}

#[test]
fn a_test_that_fails_in_canonical_order_passes_with_the_order_that_decides() {
    let mut finding = because_of(vec![known()]);
    finding.failures.insert(0, FailureReport::clean(Outcome::Failed));
    let document = document(&report(vec![finding]));
    let text = &document.by_id("shop$names").text;
    assert!(text.contains("Canonical order: the test fails"), "{text}");
    assert!(text.contains("The order that decides: the test passes"), "{text}");
}

#[test]
fn a_level_is_called_flaky_today_only_where_std_or_the_platform_draws_in_every_run() {
    let mut found = advice();
    found.culprits.truncate(1);
    found.weakest_level = Some(Level::Std);
    found.failures = vec![failure(Some(Level::Std), Some(1), "no first entry")];
    found.failure_rate = [(Level::Std, [1, 10]), (Level::One, [0, 10])].into();
    let document = document(&report(vec![found]));
    let text = &document.by_id("shop$listing").text;
    assert!(!text.contains("flaky today"), "{text}");
    let platform = "1 of 10 failedfails where the platform lists another order";
    assert!(text.contains(platform), "{text}");
    assert!(text.contains("a failure means: breaks on another platform"), "{text}");
}

#[test]
fn a_race_is_a_table_with_a_lane_for_each_thread_that_ends_with_the_failure() {
    let document = document(&report(vec![race()]));
    let rows: Vec<&str> = document
        .all("tr")
        .filter(|row| row.has_class("step") || row.has_class("end"))
        .map(|row| row.text.as_str())
        .collect();
    let expected = [
        ("1fillsMutex::lock", "uses the same lock"),
        ("2fills(stopped for 500 ns)", ""),
        ("3emptiesMutex::lock", "uses the same lock"),
        ("4fillsMutex::lock", "uses the same lock"),
        ("the test fails", ""),
    ];
    assert_eq!(rows.len(), expected.len());
    for (row, (start, end)) in rows.iter().zip(expected) {
        assert!(row.starts_with(start) && row.ends_with(end), "{row}");
    }
    // The text drawing is for terminals.
    let text = &document.by_id("shop$tills").text;
    assert!(!text.contains("-+-"), "{text}");
}

#[test]
fn a_deadlock_shows_where_each_thread_waits_and_who_has_what_it_waits_for() {
    let document = document(&report(vec![deadlock()]));
    let text = &document.by_id("shop$waits").text;
    let waits = "the 1st thread that the test starts in Mutex::lock, for a lock that the 2nd \
                 thread that the test starts took at src/lib.rs:6";
    assert!(text.contains(waits), "{text}");
    assert!(text.contains("waits here") && text.contains("taken here"), "{text}");
}

#[test]
fn a_victim_stands_alone_and_after_its_polluter_with_the_lines_that_share_state() {
    let document = document(&report(vec![victim()]));
    let text = &document.by_id("shop$is_closed").text;
    for part in [
        "Alone: the test passes",
        "After: the test fails",
        "let mut map = Map::new();changes the static shop::OPEN",
        "uses the static shop::OPEN",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn tests_with_one_cause_are_described_once_and_link_to_each_other() {
    let second =
        TestReport { name: "second".to_owned(), id: "shop$second".to_owned(), ..dependent() };
    let document = document(&report(vec![dependent(), second]));
    let (first, second) = (document.by_id("shop$names"), document.by_id("shop$second"));
    assert!(first.text.contains("Other tests with the same cause: 1shop$second"));
    assert!(second.text.contains("described in full at shop$names"));
    assert!(second.text.contains("cargo nondex replay 0123abcd"));
}

#[test]
fn the_history_of_a_test_is_shown_with_the_runs_at_which_it_changed() {
    let moment = |commit: &str, verdict| EarlierResult {
        time: 1_700_000_000_000,
        commit: Some(commit.to_owned()),
        modified: false,
        verdict,
    };
    let moments = vec![
        moment("aaaa", Verdict::Stable),
        moment("bbbb", Verdict::Stable),
        moment("cccc", Verdict::ImplementationDependent),
    ];
    let past = Histories::from([("shop$names".to_owned(), moments)]);
    let page = page_with(&report(vec![dependent()]), &past);
    let document = Document::parse(&page);
    let text = &document.by_id("shop$names").text;
    let changes =
        "since 2023-11-14 22:13, commit aaaa: stablesince 2023-11-14 22:13, commit cccc: ID";
    assert!(text.contains(changes), "{text}");
}

#[test]
fn a_page_of_two_thousand_tests_has_less_than_a_megabyte() {
    let tests = (0..2000).map(|number| test(&format!("module::case_{number}"), Verdict::Stable));
    let mut tests: Vec<TestReport> = tests.collect();
    tests.extend((0..20).map(|number| TestReport {
        id: format!("shop$found_{number}"),
        name: format!("found_{number}"),
        ..dependent()
    }));
    let page = page(&report(tests));
    assert!(page.len() < 1_000_000, "{}", page.len());
    let document = Document::parse(&page);
    assert_eq!(document.all("li").filter(|row| row.attribute("id").is_some()).count(), 2000);
    let cards = document.all("details").filter(|one| one.has_class("card"));
    assert_eq!(cards.count(), 20);
}
