//! A change of the lock file alone affects the packages that depend on the changed versions, and no
//! others.

use std::collections::BTreeSet;
use std::fs;

use cargo_nondex::exit_code::ExitCode;

use crate::distance::{FLAKY, REGRESSION, deflake, failing, impacts, manifest, repository};
use crate::support::{Fixture, Nondex, commit, edit};

/// Returns a workspace of two packages. One depends on a published crate, of which the project
/// keeps two versions.
fn workspace() -> Fixture {
    let of_version = |version: u8| manifest("dep", "").replace("0.1.0", &format!("1.0.{version}"));
    let source =
        "[source.crates-io]\nreplace-with = \"kept\"\n[source.kept]\ndirectory = \"kept\"\n";
    let sums = "{\"files\":{}}";
    let lib = |version: u8| format!("pub fn number() -> u8 {{\n    {version}\n}}\n");
    let workspace = "[workspace]\nresolver = \"3\"\nmembers = [\"asks\", \"other\"]\n";
    let project = repository(&[
        ("Cargo.toml", workspace.to_owned()),
        (".cargo/config.toml", source.to_owned()),
        ("kept/zero/Cargo.toml", of_version(0)),
        ("kept/zero/src/lib.rs", lib(0)),
        ("kept/zero/.cargo-checksum.json", sums.to_owned()),
        ("kept/one/Cargo.toml", of_version(1)),
        ("kept/one/src/lib.rs", lib(1)),
        ("kept/one/.cargo-checksum.json", sums.to_owned()),
        ("asks/Cargo.toml", manifest("asks", "[dependencies]\ndep = \"1\"\n")),
        ("asks/src/lib.rs", String::new()),
        ("asks/tests/it.rs", failing("assert!(dep::number() < 2)")),
        ("asks/tests/calm.rs", "#[test]\nfn asks_nothing() {}\n".to_owned()),
        ("other/Cargo.toml", manifest("other", "")),
        ("other/src/lib.rs", String::new()),
        ("other/tests/it.rs", failing("assert!(true)")),
        ("other/tests/calm.rs", "#[test]\nfn is_another() {}\n".to_owned()),
    ]);
    let lock = "version = 4\n\n[[package]]\nname = \"asks\"\nversion = \"0.1.0\"\n\
        dependencies = [\n \"dep\",\n]\n\n[[package]]\nname = \"dep\"\nversion = \"1.0.0\"\n\
        source = \"registry+https://github.com/rust-lang/crates.io-index\"\n\n[[package]]\n\
        name = \"other\"\nversion = \"0.1.0\"\n";
    fs::write(project.path("Cargo.lock"), lock).unwrap();
    fs::write(project.path(".gitignore"), "target\n").unwrap();
    commit(&project);
    project
}

#[test]
fn another_version_of_a_dependency_acts_on_those_that_depend_on_it() {
    let project = workspace();
    let changed = || {
        let arguments = ["--workspace", "--seeds", "0", "--tests", "--changed=HEAD"];
        let run = Nondex::reported(&project.path(""), "run").args(arguments);
        run.args(["-E", "binary(calm)"]).run().expect(ExitCode::Ok).report()
    };
    assert_eq!(changed().tests.len(), 2);
    assert_eq!(changed().tests.len(), 0);
    edit(&project, "Cargo.lock", &[("1.0.0", "1.0.1")]);
    let report = changed();
    let ran: BTreeSet<&str> = report.tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(ran, BTreeSet::from(["asks_nothing"]));
    let output = deflake(&project, "").arg("--workspace").run();
    let report = output.report();
    let impacts = impacts(&report);
    assert_eq!(impacts["asks"], REGRESSION, "{}", output.stderr);
    assert_eq!(impacts["other"], FLAKY, "{}", output.stderr);
}
