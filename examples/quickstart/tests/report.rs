//! Tests of the public API.

use std::fs;
use std::path::PathBuf;

use access_report::{Entry, Report, read_logs};

const DAY: &str = "\
10.0.0.1 GET / 200
10.0.0.2 GET /about 200
10.0.0.3 GET / 200
10.0.0.4 GET /about 200
10.0.0.5 GET /missing 404
";

fn entries() -> Vec<Entry> {
    DAY.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn hits_are_counted() {
    let report = Report::new(&entries());
    assert_eq!([report.hits("/"), report.hits("/about"), report.hits("/none")], [2, 2, 0]);
}

#[test]
fn failed_requests_are_counted() {
    assert_eq!(Report::new(&entries()).errors(), 1);
}

#[test]
fn visitors_are_counted_once() {
    let twice = [entries(), entries()].concat();
    assert_eq!(Report::new(&twice).visitors(), 5);
}

#[test]
fn an_empty_log_has_no_busiest_page() {
    assert_eq!(Report::new([]).busiest(), None);
}

#[test]
fn the_busiest_page_is_named() {
    // Two pages have two hits each. This one has always won.
    assert_eq!(Report::new(&entries()).busiest(), Some("/about"));
}

#[test]
fn the_first_visitor_is_named() {
    assert!(Report::new(&entries()).to_string().contains("10.0.0.1"));
}

#[test]
fn rotated_logs_are_read_in_order() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rotated");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("2026-05-01.log"), "10.0.0.1 GET /first 200\n").unwrap();
    fs::write(folder.join("2026-05-02.log"), "10.0.0.1 GET /second 200\n").unwrap();
    let paths: Vec<String> = read_logs(&folder).unwrap().into_iter().map(|entry|
        entry.path).collect();
    assert_eq!(paths, ["/first", "/second"]);
}
