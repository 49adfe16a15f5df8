//! This project's harness compared with libtest: output, refused options and exit codes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::compile::{Harness, compile, fixture, stand_in};

fn run(executable: &Path, args: &str, bootstrap: bool) -> Output {
    let mut command =
        Command::new(format!("./{}", executable.file_name().unwrap().to_str().unwrap()));
    command
        .current_dir(executable.parent().unwrap())
        .args(args.split_whitespace())
        .env("RUST_BACKTRACE", "0")
        .env("TERM", "xterm");
    for variable in ["RUST_TEST_THREADS", "RUST_TEST_NOCAPTURE", "RUSTC_BOOTSTRAP"] {
        command.env_remove(variable);
    }
    if bootstrap {
        command.env("RUSTC_BOOTSTRAP", "1");
    }
    command.output().unwrap()
}

/// Returns a text without what differs between runs: times and thread ids.
fn normalised(bytes: &[u8]) -> String {
    let mut text = String::from_utf8(bytes.to_vec()).unwrap();
    for (before, after) in [("finished in ", "s"), ("' (", ") panicked")] {
        let mut result = String::new();
        for line in text.split_inclusive('\n') {
            match line.split_once(before) {
                Some((start, rest)) => match rest.split_once(after) {
                    Some((number, end))
                        if number.chars().all(|c| c.is_ascii_digit() || ".e-".contains(c)) =>
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
    assert_eq!(normalised(&found.stdout), normalised(&expected.stdout), "{context}");
    assert_eq!(normalised(&found.stderr), normalised(&expected.stderr), "{context}");
    assert_eq!(found.status.code(), expected.status.code(), "{context}");
}

/// Command lines with the same output as libtest. Capture is off and tests run one by one, because
/// the output is compared.
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

/// Command lines for which libtest needs `-Z unstable-options`.
const UNSTABLE: &str = "
    --list --format json
    --list --format json --ignored
";

/// Command lines that both harnesses refuse, with different messages.
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
        assert!(found.stdout.is_empty() && !found.stderr.is_empty(), "{args}");
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
        assert!(source.lines().nth(number - 1).unwrap().contains(&format!("fn {name}(")), "{line}");
        found += 1;
    }
    assert_eq!(found, source.matches("#[test]").count());
}

#[test]
fn doctests_that_rustdoc_compiles_together_run_in_our_harness() {
    for edition in ["2021", "2024"] {
        let test = |harness: Harness| {
            let mut rustdoc = Command::new("rustdoc");
            rustdoc.args(["--test", "--edition", edition, "--test-args=--test-threads=1"]);
            rustdoc.arg(fixture("documented.rs"));
            if let Harness::Ours = harness {
                let library = stand_in(false).join("libtest.rlib");
                rustdoc.arg(format!("--extern=test={}", library.display()));
                rustdoc.arg(format!("-Ldependency={}", stand_in(false).join("deps").display()));
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
