//! Tests of what a confined process may do, with programs that every system has.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use nix::libc::SIGSYS;
use nondex_core::channel::Channel;

use super::confine;

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    assert!(confine(&mut command), "this kernel has no filters of system calls");
    command.output().unwrap()
}

/// Creates a folder with one file and one folder in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "text").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    folder
}

#[test]
fn what_only_reads_and_writes_to_its_output_ends_as_ever() {
    let folder = folder();
    for (program, arguments, written) in [
        ("cat", &["file"][..], "text"),
        ("ls", &[], "file\nfolder\n"),
        ("sleep", &["0.01"], ""),
        ("grep", &["-c", "text", "file"], "1\n"),
        ("env", &["printf", "done"], "done"),
    ] {
        let output = run(folder.path(), program, arguments);
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), written, "{program}");
    }
}

/// Path of the record that this test executable opens in place of its test.
const RECORD: &str = "NONDEX_TEST_RECORD";

#[test]
fn the_record_is_opened() {
    if let Some(record) = std::env::var_os(RECORD) {
        Channel::open(Path::new(&record)).unwrap();
        return;
    }
    let folder = folder();
    for name in ["file", "new"] {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name_of_test = "campaign::process::confined::tests::the_record_is_opened";
        command.args([name_of_test, "--exact", "--test-threads=1"]);
        assert!(confine(command.env(RECORD, folder.path().join(name))));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
        assert!(fs::metadata(folder.path().join(name)).unwrap().len() > 4);
    }
}

#[test]
fn what_another_process_could_notice_is_not_done() {
    let folder = folder();
    for (program, arguments) in [
        ("touch", &["new"][..]),
        ("touch", &["file"]),
        ("mkdir", &["new"]),
        ("mkfifo", &["new"]),
        ("ln", &["-s", "file", "new"]),
        ("ln", &["file", "new"]),
        ("rm", &["file"]),
        ("rmdir", &["folder"]),
        ("mv", &["file", "new"]),
        ("chmod", &["700", "file"]),
        ("truncate", &["-s", "1", "file"]),
        ("sh", &["-c", "echo more >> file"]),
        ("sh", &["-c", "echo other > file"]),
        ("sh", &["-c", "cat file; cat file"]),
        ("sh", &["-c", "kill -0 $$"]),
        ("flock", &["folder", "true"]),
    ] {
        let output = run(folder.path(), program, arguments);
        assert_eq!(output.status.signal(), Some(SIGSYS), "{program} {arguments:?}: {output:?}");
        assert!(output.stdout.is_empty(), "{program} {arguments:?}");
        let mut names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["file", "folder"], "{program} {arguments:?}");
        assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "text");
    }
}
