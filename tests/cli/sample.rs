//! Hand-written reports and their renderings.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8Path;
use cargo_nondex::report::human::{Sources, View, render};
use cargo_nondex::report::schema::{CallReport, ElementReport, PlaceReport, RunInfo, Summary};
use cargo_nondex::report::{Culprit, FailureReport, Report, TestReport, Verdict};
use nondex_core::{Family, Level, Outcome, Site};
use tempfile::TempDir;

/// The user's source that the findings refer to. One call follows a tab.
const SOURCE: &str = "\
pub fn names(map: &Map) -> Vec<String> {
    map.keys().cloned().collect()
}
\tlet files = std::fs::read_dir(dir)?;
pub fn shop() -> Map {
    let mut map = Map::new();
    map.insert(\"a\".into(), 1);
    map.insert(\"b\".into(), 2);
    map
}

#[test]
fn sold_out() {
    let map = shop();
    let first = names(&map).into_iter().next();
    let (one, two) = (shop(), shop());
    //
    //
    //
    assert_eq!(names(&map), [\"a\", \"b\"]);
}
";

/// Source of a dependency.
const DEPENDENCY: &str = "// walkdir\n\nfn open(path: &Path) {\n    fs::read_dir(path)\n}\n";

pub(crate) fn report(tests: Vec<TestReport>) -> Report {
    let models = ["directory/std::fs::read_dir", "hash_map/std::collections::HashMap::keys"];
    let models = models.map(str::to_owned).to_vec();
    let report = Report::new(RunInfo::default(), tests, models);
    Report {
        summary: Summary { choice_points: 213, runs: 87, implied: 40, ..report.summary },
        ..report
    }
}

pub(crate) fn test(name: &str, verdict: Verdict) -> TestReport {
    TestReport {
        file: Some("src/lib.rs".to_owned()),
        line: Some(12),
        verdict,
        ..TestReport::new("shop", "shop", name)
    }
}

pub(crate) fn failure(level: Option<Level>, seed: Option<u64>, message: &str) -> FailureReport {
    FailureReport {
        level,
        seed,
        message: message.to_owned(),
        file: Some("src/lib.rs".to_owned()),
        line: Some(20),
        ..FailureReport::clean(Outcome::Failed)
    }
}

pub(crate) fn culprit(
    api: &str,
    family: Family,
    (file, line, column): (&str, u32, u32),
) -> Culprit {
    Culprit {
        len: 2,
        confirmed: true,
        ..Culprit::new(&Site { api: api.to_owned(), family, file: file.to_owned(), line, column })
    }
}

/// Returns a test that fails at ONE because of a call in the user's own code.
pub(crate) fn dependent() -> TestReport {
    let message =
        "assertion `left == right` failed\n  left: [\"b\", \"a\"]\n right: [\"a\", \"b\"]";
    TestReport {
        weakest_level: Some(Level::One),
        failures: vec![
            failure(Some(Level::One), Some(3), message),
            failure(Some(Level::One), Some(4), message),
        ],
        failure_rate: BTreeMap::from([(Level::Std, [0, 10]), (Level::One, [3, 10])]),
        culprits: vec![culprit(
            "std::collections::HashMap::keys",
            Family::HashMap,
            ("src/lib.rs", 2, 9),
        )],
        reproduce: Some("cargo nondex replay 0123abcd".to_owned()),
        ..test("names", Verdict::ImplementationDependent)
    }
}

/// Returns a test that fails only at FULL, because of a call in a dependency.
pub(crate) fn advice() -> TestReport {
    let mut inner =
        culprit("std::fs::read_dir", Family::Directory, ("walkdir-2.5.0/src/lib.rs", 900, 23));
    inner.user_file = Some("src/lib.rs".to_owned());
    inner.user_line = Some(4);
    inner.confirmed = false;
    let mut own = culprit("std::fs::read_dir", Family::Directory, ("src/lib.rs", 4, 14));
    own.elements = Some([0, 1]);
    TestReport {
        weakest_level: Some(Level::Full),
        failures: vec![failure(Some(Level::Full), Some(0), "no first entry")],
        failure_rate: BTreeMap::from([(Level::Full, [10, 10])]),
        culprits: vec![inner, own],
        ..test("listing", Verdict::ImplementationDependent)
    }
}

/// Returns the report with detailed findings, without colours.
pub(crate) fn shown(report: &Report, verbose: u8, quiet: bool) -> String {
    drawn(report, false, verbose, quiet)
}

/// Returns the report as shown by default.
pub(crate) fn briefly(report: &Report) -> String {
    drawn(report, true, 0, false)
}

/// Returns the sources, in a folder that is removed when the first value is dropped.
pub(crate) fn sources() -> (TempDir, Sources) {
    let temporary = tempfile::tempdir().unwrap();
    let directory = Utf8Path::from_path(temporary.path()).unwrap();
    let (root, home) = (directory.join("shop"), directory.join("home"));
    for (file, source) in [
        (root.join("src/lib.rs"), SOURCE),
        (home.join("registry/src/index-1/walkdir-2.5.0/src/lib.rs"), DEPENDENCY),
    ] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, source).unwrap();
    }
    let sources = Sources::new(&root, Some(&home));
    (temporary, sources)
}

fn drawn(report: &Report, brief: bool, verbose: u8, quiet: bool) -> String {
    let (_temporary, sources) = sources();
    let text = render(
        report,
        &View {
            sources: &sources,
            report: Some(Utf8Path::new("target/nondex/runs/1-2/report.json")),
            elapsed: Duration::from_millis(12_345),
            brief,
            verbose,
            quiet,
        },
    );
    anstream::adapter::strip_str(&text).to_string()
}

/// Returns the rendered findings, without the summary.
pub(crate) fn findings(tests: Vec<TestReport>, verbose: u8) -> String {
    let shown = shown(&report(tests), verbose, false);
    let (findings, _) = shown.split_once("     Summary").unwrap();
    findings.to_owned()
}

/// Returns a call in the user's own code with all details.
pub(crate) fn known() -> Culprit {
    Culprit {
        elements: Some([0, 1]),
        call: Some(CallReport { thread: "0.1".to_owned(), ordinal: 2, of: 12 }),
        element_details: vec![element(0, None, Some(7)), element(1, None, Some(8))],
        created: Some(PlaceReport { file: "src/lib.rs".to_owned(), line: 6, column: Some(19) }),
        ..dependent().culprits[0].clone()
    }
}

pub(crate) fn element(index: u64, name: Option<&str>, line: Option<u32>) -> ElementReport {
    ElementReport {
        index,
        name: name.map(str::to_owned),
        file: line.map(|_| "src/lib.rs".to_owned()),
        line,
    }
}

pub(crate) fn because_of(culprits: Vec<Culprit>) -> TestReport {
    TestReport { culprits, ..dependent() }
}
