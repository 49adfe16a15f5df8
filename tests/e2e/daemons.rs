//! What a test leaves running ends with the test, whatever group, session or parent it has taken,
//! and the report shows it.

use std::collections::BTreeMap;
use std::path::Path;

use cargo_nondex::report::Report;

use crate::support::{Fixture, Nondex};

/// The processes whose numbers are in the folder, by the name of the file.
fn daemons(folder: &Path) -> BTreeMap<String, u32> {
    let entries = std::fs::read_dir(folder).unwrap();
    let number = |path: &Path| std::fs::read_to_string(path).unwrap().parse().unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), number(&path)))
        .collect()
}

/// Whether a process lives; one that is dead but not reaped does not.
fn is_alive(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// The report of a command, and the daemons of its last runs.
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
    // Neither is a stranger, nor what has the same parent as the driver.
    let mut bystander = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let many = ["--seeds", "0", "--clean-runs", "1", "--jobs", "4"];
    // One at a time, one run of each is enough.
    for (command, args) in [("test", &["--jobs", "1"][..]), ("run", &many)] {
        let (report, daemons) = left(&project, command, args);
        assert_eq!(daemons.len(), 8, "{daemons:?}");
        let alive: Vec<_> = daemons.iter().filter(|(_, id)| is_alive(**id)).collect();
        assert!(alive.is_empty(), "{command}: {alive:?}");
        for test in &report.tests {
            let is_noted = test.notes.iter().any(|note| note == "it left a child process running");
            // Beside other tests, one that has taken another program and another environment may be
            // of any of them.
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
