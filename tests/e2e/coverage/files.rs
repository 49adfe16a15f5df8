//! The files that a test opened or queried are known, like the code that it ran.

use std::collections::BTreeMap;
use std::fs;

use cargo_nondex::report::schema::{Blame, Witness};

use super::*;

const READS: &str = r#"
use std::path::Path;
use std::process::Command;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data");

fn fail() {
    assert!(project::is_before());
}

#[test]
fn opens_what_is_changed() {
    std::fs::read(Path::new(DATA).join("a.json")).unwrap();
    fail();
}

#[test]
fn opens_it_by_another_way() {
    std::fs::read("tests/../data/link.json").unwrap();
    fail();
}

#[test]
fn lets_a_program_open_it() {
    assert!(Command::new("cat").arg(format!("{DATA}/a.json")).output().unwrap().status.success());
    fail();
}

#[test]
fn opens_what_is_as_it_was() {
    std::fs::read(Path::new(DATA).join("b.json")).unwrap();
    fail();
}

#[test]
fn lists_a_folder_with_a_new_file() {
    std::fs::read_dir(Path::new(DATA).join("more")).unwrap().count();
    fail();
}

#[test]
fn asks_for_the_size_of_what_is_changed() {
    assert!(std::fs::metadata("data/a.json").unwrap().len() > 0);
    fail();
}

#[test]
fn asks_whether_a_new_file_is_there() {
    let _ = Path::new(DATA).join("more/d.json").exists();
    fail();
}

#[test]
fn opens_nothing() {
    fail();
}
"#;

#[test]
fn a_changed_file_that_is_no_code_is_blamed_for_a_test_that_opened_it_and_no_other() {
    let project = committed(&[
        ("src/lib.rs", LIB),
        ("tests/reads.rs", READS),
        ("data/a.json", "1\n"),
        ("data/b.json", "1\n"),
        ("data/more/c.json", "1\n"),
    ]);
    std::os::unix::fs::symlink("a.json", project.path("data/link.json")).unwrap();
    crate::support::commit(&project);
    fs::write(project.path("data/a.json"), "2\n").unwrap();
    fs::write(project.path("data/more/d.json"), "2\n").unwrap();
    let run = || {
        let output = deflake(&project).args(["--test", "reads"]).run();
        output.report()
    };
    let a = || blamed(Witness::File, &["data/a.json"]);
    let expected = BTreeMap::from([
        ("opens_what_is_changed", a()),
        ("opens_it_by_another_way", a()),
        ("lets_a_program_open_it", a()),
        ("opens_what_is_as_it_was", cleared()),
        ("lists_a_folder_with_a_new_file", blamed(Witness::File, &["data/more/d.json"])),
        ("asks_for_the_size_of_what_is_changed", a()),
        ("asks_whether_a_new_file_is_there", blamed(Witness::File, &["data/more/d.json"])),
        ("opens_nothing", cleared()),
    ]);
    let report = run();
    assert_eq!(impacts(&report), expected);
    let note = "the change may be to blame: the test opens or queries data/a.json";
    let notes = &crate::support::test(&report, "opens_what_is_changed").notes;
    assert!(notes.iter().any(|text| text == note), "{notes:?}");

    // Nothing records the reading of a removed file or of a file that is a part of the program.
    fs::remove_file(project.path("data/b.json")).unwrap();
    let unknown = (Blame::Unknown, None, Vec::new());
    assert_eq!(impacts(&run())["opens_nothing"], unknown);
    fs::write(project.path("data/b.json"), "1\n").unwrap();
    let included = "\npub const DATA: &str = include_str!(\"../data/a.json\");\n";
    fs::write(project.path("src/lib.rs"), LIB.to_owned() + included).unwrap();
    crate::support::commit(&project);
    fs::write(project.path("data/a.json"), "3\n").unwrap();
    assert_eq!(impacts(&run())["opens_nothing"], unknown);
}
