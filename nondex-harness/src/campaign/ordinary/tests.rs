use nondex_core::Schedule;

use super::*;
use crate::report::FailureReport;
use crate::report::schema::Sanitised;

fn broken(message: &str, outcome: Outcome) -> TestReport {
    TestReport {
        verdict: Verdict::Broken,
        runs: 2,
        reproduce: Some("cargo nondex replay 0".to_owned()),
        failures: vec![FailureReport {
            id: None,
            level: None,
            seed: None,
            schedule: Schedule::default(),
            message: message.to_owned(),
            file: Some("src/lib.rs".to_owned()),
            line: Some(2),
            outcome,
            limit_ms: None,
        }],
        ..TestReport::new("p", "p", "t")
    }
}

fn judged(compared: &Compared) -> TestReport {
    let root = Utf8Path::new("/nonexistent");
    judge(broken("left != right", Outcome::Failed), compared, root)
}

#[test]
fn the_verdict_follows_from_the_ordinary_runs() {
    for (compared, verdict, rate, note) in [
        (
            Compared::Runs([3, 3]),
            Verdict::Broken,
            Some([3, 3]),
            "it fails in an ordinary build too",
        ),
        (
            Compared::Runs([1, 1]),
            Verdict::Broken,
            Some([1, 1]),
            "it fails in an ordinary build too",
        ),
        (
            Compared::Runs([0, 3]),
            Verdict::NotRun,
            Some([0, 3]),
            "it is not judged: it passes in 3 of 3 runs of an ordinary build",
        ),
        (
            Compared::Runs([1, 3]),
            Verdict::Unknown,
            Some([1, 3]),
            "it fails in every run here, but in 1 of 3 runs of an ordinary build",
        ),
        (
            Compared::Not("it does not build".to_owned()),
            Verdict::Broken,
            None,
            "whether it fails in an ordinary build too is not known: it does not build",
        ),
    ] {
        let report = judged(&compared);
        assert_eq!((report.verdict, report.ordinary), (verdict, rate));
        assert!(report.notes[0].starts_with(note), "{:?}", report.notes);
        assert_eq!(report.runs, 2 + rate.map_or(0, |rate| rate[1]));
        assert_eq!(report.unjudged, verdict == Verdict::NotRun);
        // Nothing is there to be reproduced when this tool is the reason.
        assert_eq!(report.reproduce.is_none(), report.unjudged);
    }
}

#[test]
fn what_this_tool_adds_is_named_by_the_line_that_fails() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    for (source, message, named) in [
        (
            "\nfn f() { assert!(x); }\nlet alloc = 1;",
            "left",
            "such as",
        ),
        (
            "\nassert_eq!(\n    allocations(),\n    1,\n);",
            "left",
            "allocations",
        ),
        ("\nassert!(x);\nallocations();", "left", "such as"),
        (
            "\nassert!(env::vars().count() == 1);",
            "left",
            "environment",
        ),
        ("", "allocations differ", "allocations"),
        ("\nassert!(x);", "left", "such as"),
    ] {
        std::fs::write(root.join("src/lib.rs"), source).unwrap();
        let report = broken(message, Outcome::Failed);
        let report = judge(report, &Compared::Runs([0, 3]), root);
        assert!(report.notes[0].contains(named), "{:?}", report.notes);
    }
    let report = broken("no end after 60s", Outcome::TimedOut);
    let report = judge(report, &Compared::Runs([0, 3]), root);
    assert!(report.notes[0].contains("--timeout"), "{:?}", report.notes);
}

#[test]
fn only_what_is_about_to_be_called_broken_is_compared() {
    let policy = |mode| Policy::new(mode, Vec::new(), true);
    let report = broken("left", Outcome::Failed);
    for (mode, wanted) in [
        (NetworkMode::Observe, true),
        (NetworkMode::Off, true),
        (NetworkMode::Block, false),
        (NetworkMode::Fault, false),
    ] {
        assert_eq!(is_wanted(&report, &policy(mode)), wanted, "{mode:?}");
    }
    let observe = policy(NetworkMode::Observe);
    for verdict in Verdict::ALL {
        let report = TestReport {
            verdict,
            ..report.clone()
        };
        assert_eq!(is_wanted(&report, &observe), verdict == Verdict::Broken);
    }
    let sanitised = TestReport {
        sanitised_by: Some(Sanitised {
            name: "port".to_owned(),
            reason: "the port is in use".to_owned(),
            operations: Vec::new(),
        }),
        ..report
    };
    assert!(!is_wanted(&sanitised, &observe));
}
