//! Which tests are in an executable: it lists them, as for cargo and nextest.

use std::collections::BTreeSet;
use std::io::Read;
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
use crate::error::{Error, Result};
use crate::pool;

/// How long an executable may take to list its tests before it is taken for a program that does
/// something else.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// What no harness takes, so that only a program that does not read its arguments succeeds with it.
const UNKNOWN_OPTION: &str = "--no-option-of-a-test-harness";

/// Has another harness than ours run its tests on the main thread.
pub const ONE_THREAD: &str = "--test-threads=1";

/// Lists the tests of all `binaries`, as many at once as there are cores; with a sentence on each
/// that has benchmarks. In the whole program, libtest itself is none of their harnesses.
///
/// # Errors
/// When an executable cannot be started at all. One that does not speak libtest's protocol is one
/// test.
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

/// The tests of an executable, and how many benchmarks it has.
fn suite(mut binary: TestBinary, workspace_root: &Utf8Path, mode: Mode) -> Result<(Suite, usize)> {
    if let Some(text) = ask(&binary, &["--list", "--format", "json"])?
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
    let all = ask(&binary, &terse)?.and_then(|text| from_terse(&text));
    // A harness without tests prints nothing, and so does a program that ran its only test.
    let ignores_arguments = || Ok::<_, Error>(ask(&binary, &[UNKNOWN_OPTION])?.is_some());
    let all = match all {
        Some((tests, 0)) if tests.is_empty() && ignores_arguments()? => None,
        all => all,
    };
    let Some((all, benchmarks)) = all else {
        binary.harness = Harness::Opaque;
        let tests = vec![TestCase::new(binary.target.clone())];
        return Ok((Suite { binary, tests }, 0));
    };
    let takes_threads = || {
        let told = ask(&binary, &[&terse[..], &[ONE_THREAD]].concat())?;
        Ok(told.and_then(|text| from_terse(&text)).is_some_and(|(tests, _)| tests == all))
    };
    binary.harness =
        if mode == Mode::Program && takes_threads()? { Harness::Serial } else { Harness::Libtest };
    let ignored =
        ask(&binary, &[&terse[..], &["--ignored"]].concat())?.and_then(|text| from_terse(&text));
    let (ignored, _) = ignored.unwrap_or_default();
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

/// What the executable prints for these arguments, `None` when it does not succeed within
/// [`TIME_LIMIT`].
fn ask(binary: &TestBinary, arguments: &[&str]) -> Result<Option<String>> {
    let mut line =
        binary.runner.iter().map(std::ffi::OsString::as_os_str).chain([binary.executable.as_ref()]);
    let program = line.next().unwrap_or_else(|| binary.executable.as_ref());
    let failed =
        |e| Error::setup(format!("failed to list the tests of `{}`: {e}", binary.executable));
    let mut child = Command::new(program)
        .args(line)
        .args(arguments)
        .env_clear()
        .envs(&binary.env)
        .current_dir(&binary.cwd)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let mut stdout = child.stdout.take().expect("stdout is piped");
    let (send, receive) = mpsc::channel();
    // Not joined: a child of such a program may keep the pipe open for ever.
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.read_to_end(&mut bytes);
        let _ = send.send(bytes);
    });
    let Ok(bytes) = receive.recv_timeout(TIME_LIMIT) else {
        let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        let _ = child.wait();
        return Ok(None);
    };
    let status = child.wait().map_err(failed)?;
    Ok(status.success().then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// A line of libtest's listing in JSON.
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

/// The tests of a listing in JSON, and how many benchmarks are in it; `None` when it is none.
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
                    doctest: None,
                });
            }
            Line::Bench {} => benchmarks += 1,
            Line::Suite {} => {}
        }
    }
    Some((tests, benchmarks))
}

/// How the line of a benchmark ends: in libtest's listing, and in that of `libtest-mimic`.
const BENCHMARK: [&str; 2] = [": benchmark", ": bench"];

/// The tests of a terse listing, and how many benchmarks are in it; `None` when a line is none of
/// its.
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
    fn a_program_that_prints_nothing_is_one_test_unless_it_reads_its_arguments() {
        let named = |script: &str| {
            let words = ["/bin/sh", "-c", script].map(std::ffi::OsString::from);
            let binary = binary("own", "prints_nothing");
            let binary = TestBinary { runner: words.into(), cwd: "/".into(), ..binary };
            let (suite, benchmarks) = suite(binary, Utf8Path::new("/"), Mode::Program).unwrap();
            assert_eq!(benchmarks, 0);
            suite.tests.into_iter().map(|test| test.name).collect::<Vec<_>>()
        };
        assert_eq!(named("exit 0"), ["prints_nothing"]);
        assert_eq!(named(r#"case "$1" in --list) exit 0;; *) exit 101;; esac"#), [""; 0]);
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
            doctest: None,
        };
        assert_eq!(from_json(text), Some((vec![place], 1)));
        assert_eq!(from_json("a: test\n"), None);
    }
}
