//! Invalid input gives a clear message and the documented exit code.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;

use crate::support::{Fixture, Nondex, Output, cache, cargo, commit, git_at_noon};

/// Command line with its exit code and parts of stderr.
struct Bad {
    args: &'static [&'static str],
    code: ExitCode,
    stderr: &'static [&'static str],
}

static COMMAND_LINES: &[Bad] = &[
    Bad {
        args: &["--levels", "FUL"],
        code: ExitCode::Usage,
        stderr: &["unknown level `FUL`", "expected one of STD, ONE, EQ, ID, FULL"],
    },
    Bad { args: &["--seeds", "many"], code: ExitCode::Usage, stderr: &["many", "--seeds"] },
    Bad { args: &["--seeds", "9..3"], code: ExitCode::Usage, stderr: &["9..3"] },
    Bad { args: &["--seed", "-1"], code: ExitCode::Usage, stderr: &["-1"] },
    Bad {
        args: &["--seed", "1", "--seeds", "2"],
        code: ExitCode::Usage,
        stderr: &["cannot be used with"],
    },
    Bad { args: &["--clean-runs", "0"], code: ExitCode::Usage, stderr: &["--clean-runs"] },
    Bad { args: &["--timeout", "0"], code: ExitCode::Usage, stderr: &["expected a time above 0"] },
    Bad { args: &["--no-such-flag"], code: ExitCode::Usage, stderr: &["--no-such-flag"] },
    Bad { args: &["-E", "test(("], code: ExitCode::Usage, stderr: &["invalid filterset"] },
    Bad {
        args: &["-E", "package(nowhere)"],
        code: ExitCode::Usage,
        stderr: &["invalid filterset", "nowhere"],
    },
    Bad { args: &["--models", "("], code: ExitCode::Usage, stderr: &["--models"] },
    Bad { args: &["--models", "no_such_model"], code: ExitCode::Usage, stderr: &["no_such_model"] },
    Bad {
        args: &["--files", "src/nowhere.rs"],
        code: ExitCode::Usage,
        stderr: &["`--files src/nowhere.rs` matches no source"],
    },
    Bad {
        args: &["--manifest-path", "nowhere/Cargo.toml"],
        code: ExitCode::Setup,
        stderr: &["nowhere/Cargo.toml", "does not exist"],
    },
    Bad {
        args: &["-p", "nowhere"],
        code: ExitCode::Usage,
        stderr: &["no package is called `nowhere`; there are: no-tests"],
    },
    Bad {
        args: &["--test", "nowhere"],
        code: ExitCode::Usage,
        stderr: &["no test target is called `nowhere`; there is none"],
    },
    Bad {
        args: &["--features", "nowhere"],
        code: ExitCode::Usage,
        stderr: &["no feature is called `nowhere`"],
    },
    Bad { args: &[], code: ExitCode::NoTests, stderr: &["no tests to run"] },
    Bad {
        args: &["--no-tests", "warn"],
        code: ExitCode::Ok,
        stderr: &["warning: no tests to run"],
    },
    Bad {
        args: &["--no-tests", "sometimes"],
        code: ExitCode::Usage,
        stderr: &["pass, warn, fail"],
    },
];

#[test]
fn a_command_line_that_cannot_be_followed_is_refused() {
    let project = Fixture::new("no-tests");
    for bad in COMMAND_LINES {
        let output = Nondex::run_in(&project.path("")).args(bad.args).run();
        output.expect(bad.code).prints(bad.stderr);
        assert_eq!(output.stdout, "", "{:?}", bad.args);
    }
    assert!(!project.path("target/nondex/runs").exists(), "nothing was run");
}

#[test]
fn a_word_that_is_neither_a_command_nor_part_of_a_test_is_reported_as_both() {
    let project = Fixture::new("slow");
    for (args, end) in [
        (
            &["history"][..],
            ", and `history` is not a command; did you mean `cargo nondex report --history`?",
        ),
        (&["parses"], ", and `parses` is not a command; `cargo nondex help` lists them"),
        (&["run", "history"], ""),
    ] {
        let output = Nondex::with_cache(&project.path(""), &cache()).args(args).run();
        let line = format!("error: no tests to run: the filters match none of 2 tests{end}\n");
        output.expect(ExitCode::NoTests).prints(&[&line]);
    }
}

#[test]
fn a_list_without_tests_warns_once() {
    let project = Fixture::new("no-tests");
    let list = Nondex::command(&project.path(""), "list");
    let output = list.args(["--no-tests", "warn"]).run();
    let warnings = output.stderr.matches("no tests to run").count();
    assert_eq!(warnings, 1, "{}", output.stderr);
}

#[test]
fn an_environment_that_cannot_be_followed_is_refused() {
    let project = Fixture::new("no-tests");
    for (name, value) in
        [("NONDEX_LEVELS", "FUL"), ("NONDEX_SEEDS", "many"), ("NONDEX_TIMEOUT", "soon")]
    {
        let output = Nondex::run_in(&project.path("")).env(name, value).run();
        output.expect(ExitCode::Setup).prints(&[name, value]);
    }
}

#[test]
fn a_project_that_does_not_compile_is_reported() {
    let project = Fixture::new("does-not-compile");
    let output = Nondex::run_in(&project.path("")).run();
    output.expect(ExitCode::BuildFailed).prints(&["error[E0308]", "src/lib.rs:1", "do not build"]);
}

#[test]
fn what_a_change_is_compared_with_is_looked_for_before_anything_is_built() {
    let project = Fixture::new("does-not-compile");
    let compare = |base: &str, code: ExitCode, words: &str| {
        for (command, option) in [
            ("deflake", "--base"),
            ("check", "--base"),
            ("run", "--changed"),
            ("order", "--changed"),
            ("test", "--changed"),
        ] {
            let output =
                Nondex::reported(&project.path(""), command).arg(format!("{option}={base}")).run();
            output.expect(code).prints(&[words]);
        }
    };
    compare("HEAD", ExitCode::Setup, "has no history to search");
    git_at_noon(&project, &["init", "--quiet"]);
    commit(&project);
    compare("nowhere", ExitCode::Usage, "`nowhere` names no commit");
    compare("HEAD", ExitCode::BuildFailed, "do not build");
}

#[test]
fn a_folder_without_a_manifest_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    Nondex::run_in(folder.path())
        .run()
        .expect(ExitCode::Setup)
        .prints(&["could not find `Cargo.toml`"]);
}

#[test]
fn an_invalid_manifest_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("Cargo.toml"), "this is no manifest").unwrap();
    Nondex::run_in(folder.path()).run().expect(ExitCode::Setup).prints(&["Cargo.toml"]);
}

#[test]
fn folders_that_cannot_be_written_are_named() {
    let project = Fixture::new("slow");
    // Permissions do not apply to the superuser, but nobody can create a folder below a file.
    let file = project.path("a-file");
    fs::write(&file, "").unwrap();
    let below = file.join("below");
    let below = below.to_str().unwrap();

    let target = Nondex::run_in(&project.path("")).args(["--target-dir", below]).run();
    target.expect(ExitCode::Setup).prints(&[below]);
    let cache =
        Nondex::with_cache(&project.path(""), Path::new(below)).args(["run", "--offline"]).run();
    cache.expect(ExitCode::Setup).prints(&[below]);
    let reports = project.path("target/nondex");
    fs::create_dir_all(&reports).unwrap();
    fs::write(reports.join("runs"), "").unwrap();
    let report = Nondex::run_in(&project.path("")).arg("a_quick_one").run();
    report.expect(ExitCode::Setup).prints(&[reports.join("runs").to_str().unwrap()]);
}

/// Writes a cargo that copies the runtime in `cache` instead of building one. It passes all other
/// calls to cargo.
fn cargo_that_copies(cache: &Path, at: &Path) {
    let script = format!(
        "#!/bin/sh\n\
         case \"$PWD\" in\n\
         */src) ;;\n\
         *) exec '{cargo}' \"$@\" ;;\n\
         esac\n\
         work=$(basename \"$(dirname \"$PWD\")\")\n\
         while [ \"$1\" != --target ]; do shift; done\n\
         built=\"$CARGO_TARGET_DIR/$2/release\"\n\
         mkdir -p \"$built/deps\"\n\
         cp '{cache}'/\"${{work%.*}}\"/*.rlib \"$built/deps\"\n\
         cp '{cache}'/\"${{work%.*}}\"/*.so \"$built\"\n",
        cargo = cargo().display(),
        cache = cache.display(),
    );
    fs::write(at, script).unwrap();
    fs::set_permissions(at, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Calls `check` with a function that runs a project over a cache, and a cache whose libraries are
/// damaged.
fn over_a_damaged_cache(check: impl FnOnce(&dyn Fn(&Path) -> Nondex, &Path)) {
    let project = Fixture::new("slow");
    let own = tempfile::tempdir().unwrap();
    copy_runtimes(&cache(), own.path());
    let run_over = |cache: &Path| {
        Nondex::with_cache(&project.path(""), cache).args(["run", "--offline", "a_quick_one"])
    };
    run_over(own.path()).run().expect(ExitCode::Ok);
    for library in files(own.path()).filter(|path| path.to_string_lossy().contains("libstd-")) {
        fs::write(library, "no longer a library").unwrap();
    }
    check(&run_over, own.path());
}

/// Asserts that this run found the damage, and that the next one finds none.
fn expect_healed(healed: &Output, next: &Output) {
    healed.expect(ExitCode::Ok).prints(&["the cached runtime is damaged", "building it again"]);
    let whole = &next.expect(ExitCode::Ok).stderr;
    assert!(!whole.contains("damaged"), "{whole}");
}

#[test]
fn a_damaged_cache_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let copies = folder.path().join("cargo");
    cargo_that_copies(&cache(), &copies);
    over_a_damaged_cache(|run_over, own| {
        let healed = run_over(own).env("CARGO", &copies).run();
        expect_healed(&healed, &run_over(own).run());
    });
}

#[test]
#[ignore = "second tier: builds a runtime"]
fn a_damaged_cache_is_built_again_and_so_is_what_was_built_over_another_copy_of_it() {
    over_a_damaged_cache(|run_over, own| {
        expect_healed(&run_over(own).run(), &run_over(own).run());
        // A CI job may restore `target` from one cache and the runtime from another. The compiler
        // treats the two runtimes as different.
        run_over(&cache()).run().expect(ExitCode::Ok);
    });
}

/// Returns the files one folder down: those of every runtime.
fn files(cache: &Path) -> impl Iterator<Item = std::path::PathBuf> {
    let runtimes = fs::read_dir(cache).unwrap().map(|entry| entry.unwrap().path());
    let folders = runtimes.filter(|path| path.is_dir());
    folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path())
}

/// Copies the finished runtimes of a cache, without any that another process is building.
fn copy_runtimes(from: &Path, to: &Path) {
    for file in
        files(from).filter(|file| file.with_file_name("runtime.json").is_file() && file.is_file())
    {
        let copy = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(&file, copy).unwrap();
    }
}
