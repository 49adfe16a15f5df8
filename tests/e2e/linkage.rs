//! Linking of tests: with libc as a shared library, whose functions can be replaced, and without
//! link-time optimisation.

use cargo_nondex::exit_code::ExitCode;

use crate::support::{Fixture, Nondex, Output, plain_command};

fn expect_the_reason(output: &Output) {
    output.expect(ExitCode::Setup);
    assert!(output.stderr.contains("+crt-static"), "{}", output.stderr);
    assert!(output.stderr.contains("--mode swap"), "{}", output.stderr);
    assert!(!output.stderr.contains("could not compile"), "{}", output.stderr);
    assert!(!output.stderr.contains("duplicate symbol"), "{}", output.stderr);
}

#[test]
fn statically_linked_tests_are_refused_at_once_with_the_reason() {
    let project = Fixture::new("daemons");
    let root = project.path("");
    let run = || Nondex::run_in(&root).args(["--seeds", "0", "none"]);
    expect_the_reason(&run().env("RUSTFLAGS", "-Ctarget-feature=+crt-static").run());
    let target = target_triple();
    let folder = project.path(".cargo");
    std::fs::create_dir(&folder).unwrap();
    for text in [
        "[build]\nrustflags = ['-C', 'target-feature=+crt-static']".to_owned(),
        format!("[target.{target}]\nrustflags = ['-C', 'target-feature=+crt-static']"),
        "[target.'cfg(target_env = \"gnu\")']\nrustflags = ['-C', 'target-feature=+crt-static']"
            .to_owned(),
    ] {
        std::fs::write(folder.join("config.toml"), &text).unwrap();
        // Twice, because cargo caches the output of rustc.
        for _ in 0..2 {
            expect_the_reason(&run().run());
        }
    }
    // Flags for another system do not matter here.
    let text = "[target.'cfg(windows)']\nrustflags = ['-C', 'target-feature=+crt-static']";
    std::fs::write(folder.join("config.toml"), text).unwrap();
    run().run().expect(ExitCode::Ok);
}

#[test]
fn tests_that_are_to_be_optimised_at_link_time_are_built_without_it() {
    let project = Fixture::new("daemons");
    let root = project.path("");
    for lto in ["fat", "thin"] {
        Nondex::run_in(&root)
            .args(["--seeds", "0", "none"])
            .env("CARGO_PROFILE_DEV_LTO", lto)
            .env("CARGO_PROFILE_TEST_LTO", lto)
            .run()
            .expect(ExitCode::Ok);
    }
}

#[test]
fn a_program_that_aborts_when_it_panics_is_built_beside_its_tests() {
    let project = Fixture::new("daemons");
    Nondex::run_in(&project.path(""))
        .args(["--seeds", "0", "none"])
        .env("CARGO_PROFILE_DEV_PANIC", "abort")
        .run()
        .expect(ExitCode::Ok);
}

/// Returns the triple that tests are built for.
fn target_triple() -> String {
    let version = plain_command("rustc", std::path::Path::new("/")).arg("-vV").output().unwrap();
    let text = String::from_utf8(version.stdout).unwrap();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_owned()
}
