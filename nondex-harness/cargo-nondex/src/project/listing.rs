//! Lists the tests of an executable by running it with `--list`, as nextest does.

use std::collections::BTreeSet;
use std::io::{Read, pipe};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use camino::Utf8Path;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde::Deserialize;

use super::plan::Mode;
use super::suite::{Harness, Suite, TestBinary, TestCase};
use crate::error::{Error, OrSetup, Result};
use crate::pool;

/// Time limit on a listing. An executable that takes longer is treated as a program without a test
/// harness.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Option that no harness accepts, without its dashes.
const UNKNOWN_OPTION: &str = "no-option-of-a-test-harness";

/// Option that makes other harnesses than this tool's run their tests on the main thread.
pub const ONE_THREAD: &str = "--test-threads=1";

/// Lists the tests of all `binaries`, in parallel on all cores. Also returns a note on each binary
/// with benchmarks. In whole-program mode, no binary has libtest itself as its harness.
///
/// # Errors
/// Returns an error if an executable cannot be started. An executable that does not implement
/// libtest's protocol is no error: it counts as one test.
pub(super) fn list(
    binaries: &[TestBinary],
    workspace_root: &Utf8Path,
    mode: Mode,
) -> Result<(Vec<Suite>, Vec<String>)> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    let listed = pool::each(threads, binaries, |_, binary| {
        Some(suite(binary.clone(), workspace_root, mode))
    });
    let mut suites = Vec::new();
    let mut notes = Vec::new();
    for listed in listed {
        let (suite, benchmarks) = listed?;
        if benchmarks > 0 {
            let (noun, are) = match benchmarks {
                1 => ("benchmark", "is"),
                _ => ("benchmarks", "are"),
            };
            notes.push(format!(
                "`{}` has {benchmarks} {noun}, which {are} not run: only tests are",
                suite.binary.id
            ));
        }
        suites.push(suite);
    }
    Ok((suites, notes))
}

/// Returns the harness of an executable that was built for whole-program mode.
///
/// # Errors
/// Returns an error if the executable cannot be started.
pub fn harness_of(binary: &TestBinary) -> Result<Harness> {
    let (suite, _) = suite(binary.clone(), Utf8Path::new(""), Mode::Program)?;
    Ok(suite.binary.harness)
}

/// Returns the tests of an executable, and its number of benchmarks.
fn suite(mut binary: TestBinary, workspace_root: &Utf8Path, mode: Mode) -> Result<(Suite, usize)> {
    if let Some(text) = output_of(&binary, &["--list", "--format", "json"])?
        && let Some((mut tests, benchmarks)) = from_json(&text)
    {
        binary.harness = Harness::Nondex;
        for file in tests.iter_mut().filter_map(|test| test.file.as_mut()) {
            if let Ok(relative) = Utf8Path::new(file.as_str()).strip_prefix(workspace_root) {
                *file = relative.to_string();
            }
        }
        return Ok((sorted(binary, tests), benchmarks));
    }
    let terse = ["--list", "--format", "terse"];
    let listing = output_of(&binary, &terse)?.and_then(|text| from_terse(&text));
    // An empty listing is that of a harness without tests, or the output of a program that ran its
    // only test. A harness refuses an unknown option, and names it. That the program fails is not
    // enough, because its test may be flaky.
    let refuses_options = || {
        let ended = run(&binary, &[&format!("--{UNKNOWN_OPTION}")], true)?;
        Ok::<_, Error>(ended.is_some_and(|(passed, text)| !passed && text.contains(UNKNOWN_OPTION)))
    };
    let known = match listing {
        Some((tests, 0)) if tests.is_empty() && !refuses_options()? => None,
        listing => listing,
    };
    let Some((all, benchmarks)) = known else {
        binary.harness = Harness::Opaque;
        let tests = vec![TestCase::new(binary.target.clone())];
        return Ok((Suite { binary, tests }, 0));
    };
    let takes_threads = || {
        let output = output_of(&binary, &[&terse[..], &[ONE_THREAD]].concat())?;
        Ok(output.and_then(|text| from_terse(&text)).is_some_and(|(tests, _)| tests == all))
    };
    binary.harness = match mode {
        Mode::Program if takes_threads()? => Harness::Serial,
        Mode::Program => Harness::Pooled,
        _ => Harness::Libtest,
    };
    let (ignored, _) = output_of(&binary, &[&terse[..], &["--ignored"]].concat())?
        .and_then(|text| from_terse(&text))
        .unwrap_or_default();
    let tests = all
        .into_iter()
        .map(|name| TestCase { ignored: ignored.contains(&name), ..TestCase::new(name) })
        .collect();
    Ok((sorted(binary, tests), benchmarks))
}

fn sorted(binary: TestBinary, mut tests: Vec<TestCase>) -> Suite {
    tests.sort_by(|a, b| a.name.cmp(&b.name));
    Suite { binary, tests }
}

/// Returns what the executable prints with these arguments. Returns `None` if it does not succeed
/// within [`TIME_LIMIT`].
fn output_of(binary: &TestBinary, arguments: &[&str]) -> Result<Option<String>> {
    let ended = run(binary, arguments, false)?;
    Ok(ended.and_then(|(passed, output)| passed.then_some(output)))
}

/// Runs the executable with these arguments. Returns whether it succeeds, and its standard output,
/// together with its standard error if `with_errors`. Returns `None` if it does not end within
/// [`TIME_LIMIT`].
fn run(
    binary: &TestBinary,
    arguments: &[&str],
    with_errors: bool,
) -> Result<Option<(bool, String)>> {
    let mut line =
        binary.runner.iter().map(std::ffi::OsString::as_os_str).chain([binary.executable.as_ref()]);
    let program = line.next().unwrap_or_else(|| binary.executable.as_ref());
    let failed = format!("failed to list the tests of `{}`", binary.executable);
    let (mut output, writer) = pipe().or_setup(&failed)?;
    let errors = if with_errors {
        Stdio::from(writer.try_clone().or_setup(&failed)?)
    } else {
        Stdio::null()
    };
    let mut child = Command::new(program)
        .args(line)
        .args(arguments)
        .env_clear()
        .envs(&binary.env)
        .current_dir(&binary.cwd)
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(errors)
        // The group makes it possible to kill the children of the executable, too.
        .process_group(0)
        .spawn()
        .or_setup(&failed)?;
    let (send, receive) = mpsc::channel();
    // The thread is not joined, because a child of the executable may keep the pipe open for ever.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = output.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    let Ok(bytes) = receive.recv_timeout(TIME_LIMIT) else {
        let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        let _ = child.wait();
        return Ok(None);
    };
    let status = child.wait().or_setup(&failed)?;
    Ok(Some((status.success(), String::from_utf8_lossy(&bytes).into_owned())))
}

/// Line of libtest's listing in JSON.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Suite {},
    Test {
        name: String,
        ignore: bool,
        source_path: String,
        start_line: u32,
    },
    #[serde(alias = "benchmark")]
    Bench {},
}

/// Returns the tests of a listing in JSON, and its number of benchmarks. Returns `None` if the text
/// is no such listing.
fn from_json(text: &str) -> Option<(Vec<TestCase>, usize)> {
    let mut lines = text.lines().map(serde_json::from_str::<Line>);
    let Some(Ok(Line::Suite {})) = lines.next() else { return None };
    let mut tests = Vec::new();
    let mut benchmarks = 0;
    for line in lines {
        match line.ok()? {
            Line::Test { name, ignore, source_path, start_line } => {
                let known = !source_path.is_empty();
                tests.push(TestCase {
                    name,
                    file: known.then_some(source_path),
                    line: known.then_some(start_line),
                    ignored: ignore,
                    left_out: false,
                    doctest: None,
                });
            }
            Line::Bench {} => benchmarks += 1,
            Line::Suite {} => {}
        }
    }
    Some((tests, benchmarks))
}

/// Ends of a benchmark's line: in libtest's listing, and in that of `libtest-mimic`.
const BENCHMARK: [&str; 2] = [": benchmark", ": bench"];

/// Returns the tests of a terse listing, and its number of benchmarks. Returns `None` if the text
/// has a line of another format.
fn from_terse(text: &str) -> Option<(BTreeSet<String>, usize)> {
    let mut tests = BTreeSet::new();
    let mut benchmarks = 0;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_suffix(": test") {
            tests.insert(name.to_owned());
        } else if BENCHMARK.iter().any(|end| line.ends_with(end)) {
            benchmarks += 1;
        } else {
            return None;
        }
    }
    Some((tests, benchmarks))
}

#[cfg(test)]
mod tests {
    use super::super::suite::tests::binary;
    use super::*;

    #[test]
    fn a_terse_listing_is_read_and_anything_else_is_refused() {
        let text = "a::b: test\nwith: colon: test\nb: benchmark\nof mimic: bench\n";
        let listed = from_terse(text).unwrap();
        let tests = ["a::b", "with: colon"].map(str::to_owned);
        assert_eq!(listed, (BTreeSet::from(tests), 2));
        assert_eq!(from_terse("running benchmarks\n"), None);
    }

    #[test]
    fn a_program_that_prints_nothing_is_one_test_unless_it_refuses_unknown_options() {
        let named = |script: &str| {
            let words = ["/bin/sh", "-c", script].map(std::ffi::OsString::from);
            let binary = binary("own", "prints_nothing");
            let binary = TestBinary { runner: words.into(), cwd: "/".into(), ..binary };
            let (suite, benchmarks) = suite(binary, Utf8Path::new("/"), Mode::Program).unwrap();
            assert_eq!(benchmarks, 0);
            suite.tests.into_iter().map(|test| test.name).collect::<Vec<_>>()
        };
        assert_eq!(named("exit 0"), ["prints_nothing"]);
        // Its test is flaky.
        assert_eq!(
            named(r#"case "$1" in --list) exit 0;; *) exit 101;; esac"#),
            ["prints_nothing"]
        );
        let refuses = r#"case "$1" in --list) exit 0;; *) echo "unknown: '$1'" >&2; exit 1;; esac"#;
        assert_eq!(named(refuses), [""; 0]);
    }

    #[test]
    fn a_json_listing_has_places_and_anything_else_is_refused() {
        let text = concat!(
            r#"{ "type": "suite", "event": "discovery" }"#,
            "\n",
            r#"{ "type": "test", "event": "discovered", "name": "a", "ignore": true, "#,
            r#""ignore_message": "x", "source_path": "src/lib.rs", "start_line": 7, "#,
            r#""start_col": 4, "end_line": 7, "end_col": 5 }"#,
            "\n",
            r#"{ "type": "bench", "event": "discovered", "name": "b" }"#,
            "\n",
            r#"{ "type": "suite", "event": "completed", "tests": 1, "benchmarks": 0, "total": 1, "#,
            r#""ignored": 1 }"#,
            "\n",
        );
        let place = TestCase {
            name: "a".into(),
            file: Some("src/lib.rs".into()),
            line: Some(7),
            ignored: true,
            left_out: false,
            doctest: None,
        };
        assert_eq!(from_json(text), Some((vec![place], 1)));
        assert_eq!(from_json("a: test\n"), None);
    }
}
