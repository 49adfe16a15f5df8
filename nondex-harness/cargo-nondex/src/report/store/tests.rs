//! Tests of the store.

use std::collections::BTreeSet;
use std::thread;

use super::*;
use crate::exit_code::ExitCode;
use crate::report::Verdict;
use crate::report::schema::tests::{report, test};

fn target() -> (tempfile::TempDir, Utf8PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(directory.path().join("target")).unwrap();
    (directory, path)
}

#[test]
fn a_report_is_found_in_its_run_and_as_the_latest() {
    let (_directory, target) = target();
    let run = RunDirectory::create(&target).unwrap();
    let written = report(vec![test(Verdict::Stable)]);
    let path = run.write(&written).unwrap();
    assert_eq!(path, target.join("nondex/runs").join(run.id()).join("report.json"));
    assert_eq!(read(&path).unwrap(), written);
    assert_eq!(read_latest(&target).unwrap(), written);
    let left: Vec<_> =
        fs::read_dir(run.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["report.json"]);
}

#[test]
fn runs_at_once_on_one_target_share_no_directory_and_leave_a_whole_latest_report() {
    let (_directory, target) = target();
    let ids: BTreeSet<String> = thread::scope(|scope| {
        let runs: Vec<_> = (0..16)
            .map(|i| {
                let target = &target;
                scope.spawn(move || {
                    let run = RunDirectory::create(target).unwrap();
                    run.write(&report(vec![test(Verdict::Stable); i * 50])).unwrap();
                    assert!(read_latest(target).is_ok());
                    run.id().to_owned()
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), 16);
}

#[test]
fn what_is_no_report_is_said_with_its_path_what_was_found_and_what_was_expected() {
    let (_directory, target) = target();
    let path = target.join("nondex/latest/report.json");
    let message = |text: Option<&str>| {
        if let Some(text) = text {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
        }
        let error = read_latest(&target).unwrap_err();
        assert_eq!(error.code(), ExitCode::Setup);
        error.to_string().replace(path.as_str(), "PATH")
    };
    for (text, expected) in [
        (None, "there is no report at `PATH`: run `cargo nondex` first"),
        (
            Some(""),
            "failed to read report `PATH`: it is not JSON: EOF while parsing a value at line 1 \
             column 0",
        ),
        (Some("{}"), "failed to read report `PATH`: it has no `schema`, expected 2"),
        (Some("[]"), "failed to read report `PATH`: it has no `schema`, expected 2"),
        (Some(r#"{"schema": 1}"#), "failed to read report `PATH`: its schema is 1, expected 2"),
        (
            Some(r#"{"schema": 3}"#),
            "failed to read report `PATH`: its schema is 3, which a newer `cargo nondex` writes, \
             expected 2",
        ),
        (
            Some(r#"{"schema": 2}"#),
            "failed to read report `PATH`: it is not a report of schema 2: missing field `run` at \
             line 1 column 13",
        ),
    ] {
        assert_eq!(message(text), expected);
    }
}

#[test]
fn a_target_that_cannot_be_written_is_a_setup_error_with_its_path() {
    let (_directory, target) = target();
    fs::create_dir_all(&target).unwrap();
    // A file in place of the directory fails even for root, who may write anywhere else.
    fs::write(target.join("nondex"), "").unwrap();
    let error = RunDirectory::create(&target).unwrap_err();
    assert_eq!(error.code(), ExitCode::Setup);
    assert!(error.to_string().contains(target.join("nondex/runs").as_str()));
}

#[test]
fn a_latest_report_that_cannot_be_replaced_is_a_setup_error_and_leaves_the_runs_own() {
    let (_directory, target) = target();
    let run = RunDirectory::create(&target).unwrap();
    fs::write(target.join("nondex/latest"), "").unwrap();
    let error = run.write(&report(Vec::new())).unwrap_err();
    assert_eq!(error.code(), ExitCode::Setup);
    assert!(read(&run.path().join("report.json")).is_ok());
}

#[test]
fn the_last_runs_are_kept_and_those_that_are_being_written() {
    let (_directory, target) = target();
    let runs = target.join("nondex/runs");
    let written = RunDirectory::create(&target).unwrap();
    // These runs are older than any run of today, and ended without a report.
    for second in 0..KEPT_RUNS {
        fs::create_dir_all(runs.join(format!("1000000{second:03}-1/records"))).unwrap();
    }
    fs::rename(written.path(), runs.join("1000000000-2")).unwrap();
    let last = RunDirectory::create(&target).unwrap();
    let mut left: Vec<_> = fs::read_dir(&runs)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    left.sort_unstable();
    let mut expected: Vec<_> =
        (1..KEPT_RUNS).map(|second| format!("1000000{second:03}-1")).collect();
    expected.insert(0, "1000000000-2".to_owned());
    expected.push(last.id().to_owned());
    assert_eq!(left, expected);
}
