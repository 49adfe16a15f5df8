//! The in-process harness against libtest itself: the same sources are compiled with both, and must behave the same.

#![cfg(unix)]

mod pairs;
mod states;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod statics;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod threads;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod waits;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use camino::Utf8Path;
use nondex_core::{Failure, Outcome, RunRecord, RunSpec};
use nondex_harness::campaign::StopFlag;
use nondex_harness::campaign::launch::Launcher;
use nondex_harness::project::{TestBinary, TestCase};

const HARNESS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const TEMPORARY: &str = env!("CARGO_TARGET_TMPDIR");

fn fixture(name: &str) -> PathBuf {
    Path::new(HARNESS)
        .join("../tests/fixtures/libtest")
        .join(name)
}

/// Runs a compiler, which must succeed.
fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The directory with the stand-in for the crate `test`, built once, by itself or with the mirror and the interposed functions.
fn stand_in(is_interposed: bool) -> &'static Path {
    static BUILT: [OnceLock<PathBuf>; 2] = [const { OnceLock::new() }; 2];
    BUILT[usize::from(is_interposed)].get_or_init(|| {
        let name = if is_interposed {
            "interposed"
        } else {
            "stand-in"
        };
        let workspace = Path::new(TEMPORARY).join(name);
        let source = Path::new(HARNESS).join("runtime/test");
        fs::create_dir_all(workspace.join("src")).unwrap();
        let manifest = fs::read_to_string(source.join("manifest.toml")).unwrap();
        let mut manifest = manifest.replace("\"../..\"", &format!("{HARNESS:?}"));
        let mut library = fs::read_to_string(source.join("src/lib.rs")).unwrap();
        if is_interposed {
            let path = Path::new(HARNESS).join("../nondex-collections");
            manifest +=
                &format!("nondex-collections = {{ path = {path:?}, features = [\"nondex\"] }}\n");
            library += "\npub use nondex_collections as mirror;\n";
        }
        fs::write(
            workspace.join("Cargo.toml"),
            format!("{manifest}\n[workspace]\n"),
        )
        .unwrap();
        fs::write(workspace.join("src/lib.rs"), library).unwrap();
        fs::copy(
            Path::new(HARNESS).join("../Cargo.lock"),
            workspace.join("Cargo.lock"),
        )
        .unwrap();
        succeed(
            Command::new(env!("CARGO"))
                .args(["build", "--offline", "--quiet"])
                .env("CARGO_TARGET_DIR", workspace.join("target"))
                .current_dir(&workspace),
        );
        workspace.join("target/debug")
    })
}

/// Which harness a fixture is compiled with.
#[derive(Clone, Copy, Debug)]
enum Harness {
    Libtest,
    Ours,
    /// Ours, with the mirror and the interposed functions.
    Interposed,
}

/// Compiles a fixture and returns the executable, which always has the same name, in a directory of its own: tests compile at
/// the same time.
fn compile(name: &str, edition: &str, harness: Harness) -> PathBuf {
    compile_with(name, edition, harness, &[])
}

/// Compiles a fixture whose atomic operations are seen. It is optimised: otherwise it would share functions with the stand-in, in
/// which they are not.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn compile_threads(name: &str) -> PathBuf {
    let flags = [
        "-Copt-level=2",
        "-Cpasses=tsan",
        "-Cllvm-args=-tsan-instrument-func-entry-exit=false",
    ];
    compile_with(name, "2024", Harness::Interposed, &flags)
}

fn compile_with(name: &str, edition: &str, harness: Harness, flags: &[&str]) -> PathBuf {
    static COMPILED: AtomicUsize = AtomicUsize::new(0);
    let number = COMPILED.fetch_add(1, Ordering::Relaxed);
    let directory = Path::new(TEMPORARY).join(format!("{harness:?}-{edition}-{number}"));
    fs::create_dir_all(&directory).unwrap();
    let executable = directory.join(name.strip_suffix(".rs").unwrap());
    let mut rustc = Command::new("rustc");
    rustc.args(["--test", "--edition", edition, "-o"]);
    rustc.args([&executable]).args(flags);
    rustc.arg(fixture(name));
    let stand_in = match harness {
        Harness::Libtest => None,
        Harness::Ours => Some(stand_in(false)),
        Harness::Interposed => Some(stand_in(true)),
    };
    if let Harness::Interposed = harness {
        rustc.arg("-g");
    }
    if let Some(stand_in) = stand_in {
        let library = stand_in.join("libtest.rlib");
        rustc.arg(format!("--extern=test={}", library.display()));
        rustc.arg(format!("-Ldependency={}", stand_in.join("deps").display()));
    }
    succeed(&mut rustc);
    executable
}

fn run(executable: &Path, args: &str, bootstrap: bool) -> Output {
    let mut command = Command::new(format!(
        "./{}",
        executable.file_name().unwrap().to_str().unwrap()
    ));
    command
        .current_dir(executable.parent().unwrap())
        .args(args.split_whitespace())
        .env("RUST_BACKTRACE", "0")
        .env("TERM", "xterm");
    for variable in [
        "RUST_TEST_THREADS",
        "RUST_TEST_NOCAPTURE",
        "RUSTC_BOOTSTRAP",
    ] {
        command.env_remove(variable);
    }
    if bootstrap {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    command.output().unwrap()
}

/// Text without what differs from run to run: times and thread ids.
fn normalised(bytes: &[u8]) -> String {
    let mut text = String::from_utf8(bytes.to_vec()).unwrap();
    for (before, after) in [("finished in ", "s"), ("' (", ") panicked")] {
        let mut result = String::new();
        for line in text.split_inclusive('\n') {
            match line.split_once(before) {
                Some((start, rest)) => match rest.split_once(after) {
                    Some((number, end))
                        if number
                            .chars()
                            .all(|c| c.is_ascii_digit() || ".e-".contains(c)) =>
                    {
                        result += &format!("{start}{before}_{after}{end}");
                    }
                    _ => result += line,
                },
                None => result += line,
            }
        }
        text = result;
    }
    text
}

fn assert_same(libtest: &Path, ours: &Path, args: &str, bootstrap: bool) {
    let expected = run(libtest, args, bootstrap);
    let found = run(ours, args, bootstrap);
    let context = format!("{} {args}", ours.display());
    assert_eq!(
        normalised(&found.stdout),
        normalised(&expected.stdout),
        "{context}"
    );
    assert_eq!(
        normalised(&found.stderr),
        normalised(&expected.stderr),
        "{context}"
    );
    assert_eq!(found.status.code(), expected.status.code(), "{context}");
}

/// Command lines whose output is libtest's. Capture is off and tests run one by one, because output is compared.
const STABLE: &str = "
    --nocapture --test-threads=1
    --no-capture --test-threads=1 --format pretty
    --nocapture --test-threads=1 --ignored
    --nocapture --test-threads=1 --include-ignored
    --nocapture --test-threads=1 --color always
    --nocapture --exact passes
    --nocapture --exact nested::deeper::passes passes --test-threads 1
    --nocapture --exact nothing_of_this_name
    --nocapture --exact is_ignored_for_a_reason
    --nocapture --exact is_ignored_for_a_reason --ignored
    --nocapture passes returns_ok --skip deeper --test-threads=1
    --bench --test-threads=1
    --bench --test --nocapture --test-threads=1
    --list
    --list -q
    --list --format terse
    --list --format terse --ignored
    --list --include-ignored --format=pretty
    --list passes
    --list --exact nested::passes passes --skip passes
    -- --list
    -
";

/// The same, where libtest needs `-Z unstable-options`.
const UNSTABLE: &str = "
    --list --format json
    --list --format json --ignored
";

/// Command lines that both refuse, each in its own words.
const REFUSED: &str = "
    --unknown
    --list=1
    --skip
    --format
    --format yaml
    --color sometimes
    --test-threads 0
    --test-threads many
    --ignored --include-ignored
    -Z
";

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

#[test]
fn our_harness_prints_and_ends_as_libtest_does() {
    let libtest = compile("suite.rs", "2024", Harness::Libtest);
    let ours = compile("suite.rs", "2024", Harness::Ours);
    for args in lines(STABLE) {
        assert_same(&libtest, &ours, args, false);
    }
    for args in lines(UNSTABLE) {
        assert_same(&libtest, &ours, &format!("{args} -Zunstable-options"), true);
    }
    for args in lines(REFUSED) {
        let [expected, found] = [&libtest, &ours].map(|executable| run(executable, args, false));
        assert_eq!(found.status.code(), expected.status.code(), "{args}");
        assert!(
            found.stdout.is_empty() && !found.stderr.is_empty(),
            "{args}"
        );
    }
}

#[test]
fn our_harness_is_linked_in_place_of_libtest_in_every_edition() {
    for edition in ["2015", "2018", "2021"] {
        let libtest = compile("suite.rs", edition, Harness::Libtest);
        let ours = compile("suite.rs", edition, Harness::Ours);
        assert_same(&libtest, &ours, "--nocapture --test-threads=1", false);
    }
}

#[test]
fn tests_that_run_at_the_same_time_are_all_reported() {
    let ours = compile("suite.rs", "2021", Harness::Ours);
    let one_by_one = run(&ours, "--test-threads=1", false);
    let at_once = run(&ours, "--test-threads=4", false);
    let sorted = |output: &Output| {
        let text = normalised(&output.stdout);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&at_once), sorted(&one_by_one));
}

#[test]
fn a_listing_has_the_place_of_each_test_without_unstable_options() {
    let ours = compile("suite.rs", "2024", Harness::Ours);
    let output = run(&ours, "--list --format json", false);
    let text = String::from_utf8(output.stdout).unwrap();
    let source = fs::read_to_string(fixture("suite.rs")).unwrap();
    let mut found = 0;
    for line in text.lines().filter(|line| line.contains("discovered")) {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = event["name"].as_str().unwrap().rsplit("::").next().unwrap();
        let number = event["start_line"].as_u64().unwrap() as usize;
        assert!(
            source
                .lines()
                .nth(number - 1)
                .unwrap()
                .contains(&format!("fn {name}(")),
            "{line}"
        );
        found += 1;
    }
    assert_eq!(found, source.matches("#[test]").count());
}

#[test]
fn doctests_that_rustdoc_compiles_together_run_in_our_harness() {
    for edition in ["2021", "2024"] {
        let test = |harness: Harness| {
            let mut rustdoc = Command::new("rustdoc");
            rustdoc.args([
                "--test",
                "--edition",
                edition,
                "--test-args=--test-threads=1",
            ]);
            rustdoc.arg(fixture("documented.rs"));
            if let Harness::Ours = harness {
                let library = stand_in(false).join("libtest.rlib");
                rustdoc.arg(format!("--extern=test={}", library.display()));
                rustdoc.arg(format!(
                    "-Ldependency={}",
                    stand_in(false).join("deps").display()
                ));
            }
            let output = rustdoc.output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let outcomes: Vec<String> = text
                .lines()
                .filter(|line| line.starts_with("test ") && line.contains(" ... "))
                .map(str::to_owned)
                .collect();
            (outcomes, output.status.code())
        };
        let expected = test(Harness::Libtest);
        assert_eq!(expected.0.len(), 6);
        assert_eq!(test(Harness::Ours), expected);
    }
}

/// A failure's message, and the text of its line when it has a place.
type Told = (&'static str, Option<&'static str>);

/// How a run of each test in `ends.rs` is recorded.
const ENDS: &[(&str, Outcome, Option<Told>)] = &[
    ("passes", Outcome::Passed, None),
    (
        "panics",
        Outcome::Failed,
        Some(("told so", Some("panic!(\"told so\")"))),
    ),
    (
        "panics_with_a_number",
        Outcome::Failed,
        Some(("Box<dyn Any>", Some("panic_any(7)"))),
    ),
    ("panics_on_another_thread", Outcome::Passed, None),
    (
        "fails_after_a_caught_panic",
        Outcome::Failed,
        Some(("not caught", Some("panic!(\"not caught\")"))),
    ),
    ("catches_its_panic", Outcome::Passed, None),
    (
        "has_a_hook_of_its_own",
        Outcome::Failed,
        Some(("unheard", None)),
    ),
    (
        "takes_the_hook_away",
        Outcome::Failed,
        Some(("unheard", None)),
    ),
    (
        "resumes_a_panic_from_elsewhere",
        Outcome::Failed,
        Some(("carried over", None)),
    ),
    (
        "returns_an_error",
        Outcome::Failed,
        Some((
            "the test returned a termination value with a non-zero status code (1) which indicates a failure",
            None,
        )),
    ),
    (
        "should_panic_and_does_not",
        Outcome::Failed,
        Some((
            "test did not panic as expected at ",
            Some("fn should_panic_and_does_not()"),
        )),
    ),
    (
        "should_panic_with_other_words",
        Outcome::Failed,
        Some((
            "panic did not contain expected string\n      panic message: \"that\"\n expected substring: \"this\"",
            Some("panic!(\"that\")"),
        )),
    ),
    ("exits_with_0", Outcome::Exited(0), None),
    ("aborts", Outcome::Signalled(6), None),
    (
        "panics_while_panicking",
        Outcome::Signalled(6),
        Some(("second", Some("panic!(\"second\")"))),
    ),
    (
        "throws_what_panics_when_dropped",
        Outcome::Failed,
        Some(("Box<dyn Any>", Some("panic_any(Bomb)"))),
    ),
    ("overflows_the_stack", Outcome::Signalled(6), None),
    (
        "changes_the_directory",
        Outcome::Failed,
        Some(("far away", Some("panic!(\"far away\")"))),
    ),
    ("closes_all_of_stdio", Outcome::Passed, None),
    (
        "prints_what_looks_like_a_result",
        Outcome::Failed,
        Some(("not so", Some("panic!(\"not so\")"))),
    ),
];

fn record_of(executable: &Path, test: &str) -> RunRecord {
    use std::os::unix::process::ExitStatusExt;
    let path = executable.with_file_name(format!("{test}.jsonl"));
    let _ = fs::remove_file(&path);
    let mut spec = RunSpec::clean(test);
    spec.record = Some(path.clone());
    let status = Command::new(executable)
        .args(["--exact", test, "--nocapture"])
        .env("NONDEX_SPEC", spec.to_json())
        .output()
        .unwrap()
        .status;
    let process_end = match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, signal) => Outcome::Signalled(signal.unwrap()),
    };
    let events = fs::read_to_string(&path).unwrap_or_default();
    RunRecord::fold(
        &spec,
        RunRecord::parse_events(&events).unwrap(),
        process_end,
    )
}

#[test]
fn however_a_test_ends_its_record_says_so() {
    let ends = compile("ends.rs", "2021", Harness::Ours);
    let source = fs::read_to_string(fixture("ends.rs")).unwrap();
    assert_eq!(source.matches("#[test]").count(), ENDS.len());
    for (test, outcome, failure) in ENDS {
        let record = record_of(&ends, test);
        assert_eq!(record.outcome, *outcome, "{test}: {record:?}");
        match (failure, record.failure) {
            (None, None) => {}
            (Some((message, place)), Some(found)) => {
                let Failure {
                    message: words,
                    file,
                    line,
                } = found;
                assert!(words.starts_with(message), "{test}: {words}");
                assert_eq!(file.is_some(), place.is_some(), "{test}: {file:?}");
                if let (Some(place), Some(line)) = (place, line) {
                    let text = source.lines().nth(line as usize - 1).unwrap();
                    assert!(text.contains(place), "{test}: line {line} is {text}");
                }
            }
            (expected, found) => panic!("{test}: expected {expected:?}, found {found:?}"),
        }
    }
}

/// A fixture compiled with our harness.
fn binary(executable: &Path) -> TestBinary {
    let executable = Utf8Path::from_path(executable).unwrap();
    let name = executable.file_stem().unwrap();
    TestBinary {
        id: name.into(),
        package: name.into(),
        target: name.into(),
        kind: "test".into(),
        executable: executable.to_owned(),
        cwd: executable.parent().unwrap().to_owned(),
        env: BTreeMap::new(),
        runner: Vec::new(),
        harness: nondex_harness::project::Harness::Nondex,
        preload: None,
    }
}

#[test]
fn an_experiment_runs_its_tests_in_its_order_in_one_process_and_gives_a_record_for_each() {
    let executable = compile("order.rs", "2021", Harness::Ours);
    let binary = binary(&executable);
    let folder = &binary.cwd;
    let case = |name: &&str| TestCase {
        name: (*name).to_owned(),
        file: None,
        line: None,
        ignored: *name == "setter",
        doctest: None,
    };
    let stop = StopFlag::new();
    let limit = Duration::from_secs(60);
    let launcher = Launcher::new(folder.to_owned(), limit, &stop);
    let outcomes = |tests: &[&str]| {
        let cases: Vec<TestCase> = tests.iter().map(case).collect();
        let cases: Vec<&TestCase> = cases.iter().collect();
        let spec = RunSpec::clean(*tests.last().unwrap());
        let runs = launcher.experiment(limit, &binary, &cases, &spec).unwrap();
        let outcomes = runs.into_iter().map(|run| run.outcome);
        outcomes.collect::<Vec<Outcome>>()
    };
    let (passed, failed, exited) = (Outcome::Passed, Outcome::Failed, Outcome::Exited(7));
    for (tests, expected) in [
        (
            &["setter", "alone", "last"][..],
            vec![&passed, &passed, &passed],
        ),
        (
            &["alone", "setter", "last"],
            vec![&failed, &failed, &failed],
        ),
        (
            &["setter", "last", "alone"],
            vec![&passed, &failed, &failed],
        ),
        (&["setter"], vec![&passed]),
        (&["alone"], vec![&failed]),
        (
            &["setter", "ends_the_process", "alone"],
            vec![&passed, &exited, &exited],
        ),
    ] {
        assert_eq!(
            outcomes(tests).iter().collect::<Vec<_>>(),
            expected,
            "{tests:?}"
        );
    }
}
