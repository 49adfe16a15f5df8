//! Runs a test executable for another tool's cargo: each test in a separate process, with the
//! requested choices.
//!
//! nextest names one test (`--exact NAME`), whose output goes to our own output. `cargo test` names
//! a whole executable: each of its tests runs in a separate process, and the output has libtest's
//! format.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{self, Command};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use nix::sys::signal::{SigHandler, Signal, raise, signal};
use nondex_core::Outcome;

use super::super::interrupt;
use super::{MANNER, Manner};
use crate::campaign::process::without_randomisation;
use crate::campaign::{Launcher, Setting, StopFlag};
use crate::judge::{Options, Run};
use crate::pool;
use crate::program;
use crate::project::{self, Harness, Surroundings, TestBinary, TestCase};

/// Exit code of libtest if a test fails.
const FAILED: i32 = 101;

/// Time limit of a test. It is long, because the calling tool has its own limit.
const LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Arguments with which an executable prints information and runs no test.
const ASKING: [&str; 5] = ["--list", "--help", "-h", "--version", "-V"];

/// Arguments of libtest that take the next argument as their value.
const VALUED: [&str; 7] =
    ["--skip", "--test-threads", "--format", "--color", "--logfile", "-Z", "--shuffle-seed"];

/// Runs an executable with these arguments. Returns its exit code.
///
/// # Errors
/// Returns the reason why the executable cannot be run.
pub(in crate::command) fn run(arguments: &[OsString]) -> Result<i32, String> {
    let (program, arguments) = arguments.split_first().ok_or("no executable to run")?;
    let around = Surroundings::of_call()?;
    let json = std::env::var(MANNER).map_err(|e| format!("{MANNER}: {e}"))?;
    let manner: Manner = serde_json::from_str(&json).map_err(|e| format!("{MANNER}: {e}"))?;
    let texts: Option<Vec<&str>> = arguments.iter().map(|word| word.to_str()).collect();
    let runs_tests = |words: &Vec<&str>| {
        !words.iter().any(|word| ASKING.contains(word)) && is_of_tests(Path::new(program))
    };
    let Some(words) = texts.filter(runs_tests) else {
        return Err(replace(program, arguments, &around, &manner));
    };
    let cwd = std::env::current_dir().ok().and_then(|dir| Utf8PathBuf::from_path_buf(dir).ok());
    let executable = Utf8PathBuf::from_path_buf(program.into())
        .map_err(|path| format!("{} is not UTF-8", path.display()))?;
    let name = executable.file_stem().unwrap_or_default().to_owned();
    let mut env = around.env.clone();
    env.remove(std::ffi::OsStr::new(MANNER));
    let mut binary = TestBinary {
        id: name.clone(),
        package: name.clone(),
        target: name,
        kind: "test".to_owned(),
        executable,
        cwd: cwd.unwrap_or_default(),
        env,
        runner: manner.runner.iter().map(OsString::from).collect(),
        harness: Harness::Nondex,
        is_on_host: false,
        preload: around.preload.clone(),
        moved: None,
    };
    let named = exact(&words);
    if named.is_none() {
        binary.harness = project::harness_of(&binary).map_err(|e| e.to_string())?;
    }
    // If the system does not allow this, only results that depend on addresses may vary.
    let _ = without_randomisation();
    let runs = Runs {
        options: manner.options(),
        manner: &manner,
        binary: &binary,
        // A test runs in its own process group, so it does not get signals for our group.
        stop: interrupt::install().map_err(|e| e.to_string())?,
    };
    match named {
        Some((name, ignored)) => {
            Ok(runs.one(&TestCase { ignored, ..TestCase::new(name.to_owned()) }))
        }
        None => {
            let has_tests = binary.harness != Harness::Opaque;
            match has_tests.then(|| runs.listed(&words)).transpose()?.flatten() {
                Some(tests) => Ok(runs.all(&tests, &words)),
                None => Err(replace(program, arguments, &around, &manner)),
            }
        }
    }
}

/// Replaces this process with the executable. Returns the reason if that failed.
fn replace(
    program: &OsString,
    arguments: &[OsString],
    around: &Surroundings,
    manner: &Manner,
) -> String {
    let mut line = manner.runner.iter().map(OsString::from).chain([program.clone()]);
    let first = line.next().unwrap_or_default();
    let mut command = Command::new(&first);
    command.args(line).args(arguments).env_clear().envs(&around.env);
    program::replace(command.env_remove(MANNER))
}

/// Returns whether cargo built an executable for tests. Its name then ends with the hash of the
/// build, unlike that of a program or example that `cargo run` starts.
fn is_of_tests(program: &Path) -> bool {
    let stem = program.file_stem().and_then(|stem| stem.to_str());
    let number = stem.and_then(|stem| stem.rsplit_once('-'));
    number.is_some_and(|(_, number)| {
        number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns the only named test, and whether ignored tests are requested.
fn exact<'w>(words: &[&'w str]) -> Option<(&'w str, bool)> {
    let mut names = Vec::new();
    let mut words_left = words.iter();
    while let Some(word) = words_left.next() {
        if VALUED.contains(word) {
            words_left.next();
        } else if !word.starts_with('-') {
            names.push(*word);
        }
    }
    let is_ignored = words.iter().any(|word| word.ends_with("ignored"));
    match (words.contains(&"--exact"), names.as_slice()) {
        (true, [name]) => Some((name, is_ignored)),
        _ => None,
    }
}

/// Runs of an executable's tests.
struct Runs<'a> {
    options: Options,
    manner: &'a Manner,
    binary: &'a TestBinary,
    stop: StopFlag,
}

impl Runs<'_> {
    /// Runs a test whose output goes to our own output, and returns its exit code.
    fn one(&self, test: &TestCase) -> i32 {
        let has_backtraces = std::env::var_os("RUST_BACKTRACE").is_some();
        match self.run(test, |launcher| launcher.showing(has_backtraces)) {
            Some(run) => end(&run.outcome),
            None => FAILED,
        }
    }

    /// Runs a test. If the scheduled run has no outcome, runs the test again with real threads.
    fn run(&self, test: &TestCase, with: impl Fn(Launcher<'_>) -> Launcher<'_>) -> Option<Run> {
        let launch = |options: &Options| {
            let launcher = Launcher::new(self.manner.records.clone(), &self.stop);
            let spec = options.world_spec(&test.name, &self.manner.world());
            with(launcher).run(Setting::Private, LIMIT, self.binary, test, &spec).ok()
        };
        let run = launch(&self.options)?;
        if self.options.is_scheduled() && run.has_no_outcome() {
            launch(&self.options.with_real_threads())
        } else {
            Some(run)
        }
    }

    /// Returns the tests that these arguments of libtest select. Returns `None` if the harness does
    /// not list them.
    fn listed(&self, words: &[&str]) -> Result<Option<Vec<(TestCase, bool)>>, String> {
        let ask = |more: &[&str]| {
            let mut command = Command::new(&self.binary.executable);
            command.args(words).args(more).env_clear().envs(&self.binary.env);
            let output = command.output().map_err(|e| format!("failed to list the tests: {e}"))?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let tests: Vec<String> = text
                .lines()
                .filter_map(|line| line.strip_suffix(": test"))
                .map(str::to_owned)
                .collect();
            Ok::<_, String>(output.status.success().then_some(tests))
        };
        let terse = ["--list", "--format", "terse"];
        let Some(all) = ask(&terse)? else { return Ok(None) };
        let has_ignored = words.iter().any(|word| word.ends_with("ignored"));
        let ignored = if has_ignored {
            Vec::new()
        } else {
            ask(&[&terse[..], &["--ignored"]].concat())?.unwrap_or_default()
        };
        let tests = all.into_iter().map(|name| {
            let is_run = !ignored.contains(&name);
            let case = TestCase { ignored: has_ignored, ..TestCase::new(name) };
            (case, is_run)
        });
        Ok(Some(tests.collect()))
    }

    /// Runs all tests, several at once, and writes libtest's output. Returns the exit code.
    fn all(&self, tests: &[(TestCase, bool)], words: &[&str]) -> i32 {
        let begin = Instant::now();
        let jobs = jobs(words);
        let noun = if tests.len() == 1 { "test" } else { "tests" };
        say(&format!("\nrunning {} {noun}", tests.len()));
        // Each line is written when its test ends, so the lines of parallel tests are in order of
        // completion.
        let results = pool::each(jobs, tests, |_, (test, is_run)| {
            let run = is_run.then(|| self.run(test, |launcher| launcher));
            let word = match &run {
                None => "ignored",
                Some(Some(run)) if run.passed() => "ok",
                Some(_) if self.stop.is_set() => return Some(run),
                Some(_) => "FAILED",
            };
            say(&format!("test {} ... {word}", test.name));
            Some(run)
        });
        if self.stop.is_set() {
            return FAILED;
        }
        let results: Vec<_> = tests.iter().map(|(test, _)| test).zip(results).collect();
        let ran = || results.iter().filter_map(|(test, run)| Some((test, run.as_ref()?)));
        let is_failed = |run: &Option<Run>| !run.as_ref().is_some_and(Run::passed);
        let failed: Vec<_> = ran().filter(|(_, run)| is_failed(run)).collect();
        if !failed.is_empty() {
            say("\nfailures:\n");
            for (test, run) in &failed {
                let output = run
                    .as_ref()
                    .and_then(|run| run.output.as_deref())
                    .unwrap_or("it could not be run\n");
                say(&format!("---- {} stdout ----\n{output}", test.name));
            }
            say("\nfailures:");
            for (test, _) in &failed {
                say(&format!("    {}", test.name));
            }
        }
        let (ran, failed) = (ran().count(), failed.len());
        let word = if failed == 0 { "ok" } else { "FAILED" };
        say(&format!(
            "\ntest result: {word}. {} passed; {failed} failed; {} ignored; 0 measured; 0 filtered \
             out; finished in {:.2}s\n",
            ran - failed,
            results.len() - ran,
            begin.elapsed().as_secs_f64()
        ));
        if failed == 0 { 0 } else { FAILED }
    }
}

/// Returns the number of tests that run at once, as libtest determines it.
fn jobs(words: &[&str]) -> usize {
    let mut words = words.iter().skip_while(|word| !word.starts_with("--test-threads"));
    let argument = words.next().and_then(|word| match word.split_once('=') {
        Some((_, value)) => Some(value.to_owned()),
        None => words.next().map(|value| (*value).to_owned()),
    });
    argument
        .or_else(|| std::env::var("RUST_TEST_THREADS").ok())
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Writes a line to stdout. Ignores errors, because the reader may be gone.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Returns the exit code for an outcome. If a signal ended the process, sends this process the same
/// signal.
fn end(outcome: &Outcome) -> i32 {
    match outcome {
        Outcome::Passed => 0,
        Outcome::Exited(code) => *code,
        Outcome::Signalled(number) => {
            if let Ok(number) = Signal::try_from(*number) {
                // SAFETY: the default action has no handler.
                #[expect(unsafe_code, reason = "nix has no other way to reset a signal")]
                let _ = unsafe { signal(number, SigHandler::SigDfl) };
                let _ = raise(number);
            }
            process::abort()
        }
        Outcome::Failed | Outcome::TimedOut => FAILED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_test_is_named_exactly_whatever_else_is_given() {
        for (words, expected) in [
            (&["--exact", "a::b", "--nocapture"][..], Some(("a::b", false))),
            (&["--exact", "a", "--nocapture", "--ignored"], Some(("a", true))),
            (&["--exact", "--test-threads", "2", "a"], Some(("a", false))),
            (&["--exact", "a", "b"], None),
            (&["a"], None),
            (&["--exact"], None),
        ] {
            assert_eq!(exact(words), expected, "{words:?}");
        }
    }

    #[test]
    fn what_cargo_built_to_test_something_has_the_number_of_its_build_in_its_name() {
        for (path, expected) in [
            ("target/debug/deps/shop-0123456789abcdef", true),
            ("target/debug/examples/demo-0123456789abcdef", true),
            ("target/debug/shop", false),
            ("target/debug/my-tool", false),
            ("/tmp/rustdoctest/rust_out", false),
        ] {
            assert_eq!(is_of_tests(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn as_many_tests_run_at_once_as_the_arguments_say() {
        assert_eq!(jobs(&["--test-threads", "3"]), 3);
        assert_eq!(jobs(&["a", "--test-threads=7"]), 7);
    }
}
