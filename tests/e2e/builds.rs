//! Tests whose outcome a build script or a proc macro decides are found by comparing two builds.

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Verdict;

use crate::support::{Fixture, Nondex, test};

fn campaign(fixture: &Fixture, folder: &str) -> Nondex {
    Nondex::run_in(&fixture.path(folder)).args(["--seeds", "1", "--levels", "STD"])
}

#[test]
fn a_test_that_its_build_decides_depends_on_the_program_that_the_build_ran() {
    let fixture = Fixture::new("builds");
    let rebuilt = fixture.path("target/nondex/rebuilt");

    // The program draws random keys, but its output does not depend on them.
    let output = campaign(&fixture, "lookup").run();
    let report = output.expect(ExitCode::CleanRunFailed).report();
    assert_eq!(test(&report, "tests::it_has_a_name").verdict, Verdict::Stable);
    assert_eq!(test(&report, "tests::is_broken").verdict, Verdict::Broken);
    assert!(!rebuilt.exists());

    let output = campaign(&fixture, "").run();
    let report = output.expect(ExitCode::Found).report();
    assert!(rebuilt.exists());
    let script = ("builds", "build-script", Some("names.rs"));
    let proc_macro = ("macros", "proc-macro", Some("macros/src/lib.rs"));
    for (name, cause, passes) in [
        ("two_names_are_in_order", script, true),
        ("a_name_is_not_last", script, true),
        ("all_names_are_in_order", script, false),
        ("an_element_is_first", proc_macro, true),
    ] {
        let found = test(&report, &format!("tests::{name}"));
        let build = found.build.as_ref().unwrap_or_else(|| panic!("{found:#?}"));
        let named = (&*build.package, &*build.kind, build.file.as_deref());
        assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
        assert_eq!(named, cause, "{found:#?}");
        assert_eq!(build.passes.is_some(), passes, "{found:#?}");
        assert!(build.fails.is_some() && build.passes != build.fails, "{found:#?}");
    }
    let script = test(&report, "tests::a_name_is_not_last");
    let failure = &script.failures[0];
    let place = (failure.file.as_deref(), failure.line);
    assert_eq!(place, (Some("src/lib.rs"), Some(25)), "{failure:?}");
    for name in ["all_names_are_there", "all_elements_are_there"] {
        let found = test(&report, &format!("tests::{name}"));
        assert_eq!(found.verdict, Verdict::Stable, "{found:#?}");
    }
    let broken = test(&report, "tests::is_broken");
    assert_eq!(broken.verdict, Verdict::Broken, "{broken:#?}");
    output.prints(&[
        "depends on how it was built: the build script of `builds` may write a different \
         `names.rs`",
        "Note the proc macro `macros` (macros/src/lib.rs) may expand to different code in each \
         build",
    ]);
    assert!(!output.stderr.contains("broken builds$tests::two"), "{}", output.stderr);

    // No program of the other packages is named for a package that uses none of them.
    let alone = campaign(&fixture, "lookup").run();
    assert!(!alone.stderr.contains("in each build"), "{}", alone.stderr);
}

#[test]
fn a_test_that_its_build_decides_by_chance_depends_on_the_build_script() {
    let fixture = Fixture::new("builds");
    let output = campaign(&fixture, "stamped").run();
    let report = output.expect(ExitCode::Found).report();
    let found = test(&report, "tests::is_even");
    let build = found.build.as_ref().unwrap_or_else(|| panic!("{found:#?}"));
    let named = (&*build.package, &*build.kind, build.file.as_deref(), build.by_chance);
    assert_eq!(named, ("stamped", "build-script", Some("stamp.rs"), true));
    assert_eq!(found.verdict, Verdict::ImplementationDependent, "{found:#?}");
    assert_eq!(test(&report, "tests::has_a_number").verdict, Verdict::Stable);
    // This test fails in each build. Only its message differs.
    assert_eq!(test(&report, "tests::is_broken").verdict, Verdict::Broken);
    output.prints(&[
        "depends on how it was built: the build script of `stamped` may write a different \
         `stamp.rs`",
        "it reads the date, its process id or a random device",
    ]);
}
