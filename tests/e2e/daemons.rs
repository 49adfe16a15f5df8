//! Processes that a test leaves running end with the test, in any group, in any session and with
//! any parent. The report shows them.

use std::collections::BTreeMap;
use std::path::Path;

use cargo_nondex::report::Report;

use crate::support::{Fixture, Nondex};

/// Returns the processes whose ids are in the folder, by file name.
fn daemons(folder: &Path) -> BTreeMap<String, u32> {
    let entries = std::fs::read_dir(folder).unwrap();
    let number = |path: &Path| std::fs::read_to_string(path).unwrap().parse().unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), number(&path)))
        .collect()
}

/// Returns whether a process is alive. A zombie is not.
fn is_alive(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// Returns the report of a command, and the daemons of its last runs.
fn left(project: &Fixture, command: &str, args: &[&str]) -> (Report, BTreeMap<String, u32>) {
    let folder = project.path("daemons");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir(&folder).unwrap();
    let output =
        Nondex::reported(&project.path(""), command).args(args).env("DAEMONS", &folder).run();
    (output.report(), daemons(&folder))
}

#[test]
fn daemons_end_with_the_test_that_left_them_behind_and_nothing_else_does() {
    let project = Fixture::new("daemons");
    // This process must survive: it is a child of this process, as the driver is.
    let mut bystander = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let many = ["--seeds", "0", "--clean-runs", "1", "--jobs", "4"];
    // One test at a time, and one run of each, are enough.
    for (command, args) in [("test", &["--jobs", "1"][..]), ("run", &many)] {
        let (report, daemons) = left(&project, command, args);
        assert_eq!(daemons.len(), 8, "{daemons:?}");
        let alive: Vec<_> = daemons.iter().filter(|(_, id)| is_alive(**id)).collect();
        assert!(alive.is_empty(), "{command}: {alive:?}");
        for test in &report.tests {
            let is_noted = test.notes.iter().any(|note| note == "it left a child process running");
            // With several tests at a time, a daemon with another program and another environment
            // cannot be assigned to its test.
            if command == "test" || test.name.starts_with("forked_twice") {
                assert_eq!(is_noted, test.name != "none", "{}: {:?}", test.name, test.notes);
            }
            assert!(test.name != "none" || !is_noted);
        }
    }
    assert!(is_alive(bystander.id()));
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}
