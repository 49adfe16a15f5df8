//! Commands that start tests as cargo does, with a spec in the environment.

use std::process::Command;

use camino::Utf8Path;
use nondex_core::RunSpec;
use nondex_core::protocol::spec::SPEC_VARIABLE;

use crate::project::{Harness, ONE_THREAD, TestBinary, TestCase};

/// Maximum length in bytes of a spec in an environment variable. The system accepts 128 KiB,
/// including the name.
const MAX_VARIABLE: usize = 100 << 10;

/// Environment variables that enable backtraces of std.
pub const BACKTRACES: [&str; 2] = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];

/// Disables backtraces of std. They take time and open files, which may change the schedule.
pub fn without_backtraces(command: &mut Command) {
    for name in BACKTRACES {
        command.env_remove(name);
    }
}

/// Returns the command with which cargo would start the test, with the spec, if there is one, in
/// the environment.
pub fn command(binary: &TestBinary, test: &TestCase, spec: Option<RunSpec>) -> Command {
    let mut command = program(binary, binary.executable_of(test));
    match binary.harness {
        Harness::Nondex | Harness::Libtest | Harness::Pooled | Harness::Serial => {
            let is_serial = binary.harness == Harness::Serial;
            command.args(arguments(test, is_serial.then_some(ONE_THREAD)));
        }
        Harness::Opaque | Harness::Doctest => {}
    }
    let spec = spec.map(|spec| RunSpec {
        preload: binary.preload.clone().map(Into::into),
        start: binary.harness.test_start(),
        ..spec
    });
    command.envs(spec.map(|spec| (SPEC_VARIABLE, in_variable(&spec))));
    command
}

/// Returns the arguments that run one test; `more` is an additional argument. Tests that run before
/// this one are in the spec.
pub fn arguments<'t>(test: &'t TestCase, more: Option<&'t str>) -> Vec<&'t str> {
    let name = test.name.as_str();
    let ignored = test.ignored.then_some("--ignored");
    let options = ["--nocapture"].into_iter().chain(more).chain(ignored);
    if name.starts_with('-') {
        return ["--exact"].into_iter().chain(options).chain(["--", name]).collect();
    }
    ["--exact", name].into_iter().chain(options).collect()
}

/// Returns the command with which cargo would start all tests of a binary.
pub fn all(binary: &TestBinary) -> Command {
    program(binary, &binary.executable)
}

/// Returns the command for a program of a binary, with its runner, working directory and
/// environment.
fn program(binary: &TestBinary, executable: &Utf8Path) -> Command {
    let mut command = match binary.runner.split_first() {
        Some((runner, arguments)) => {
            let mut command = Command::new(runner);
            command.args(arguments).arg(executable);
            command
        }
        None => Command::new(executable),
    };
    command.current_dir(&binary.cwd).env_clear().envs(&binary.env);
    command
}

/// Returns a spec as the value of an environment variable. A spec that is too long is written to a
/// file next to its record, and the value refers to that file.
fn in_variable(spec: &RunSpec) -> String {
    let text = spec.to_json();
    let file = spec
        .record
        .as_ref()
        .filter(|_| text.len() > MAX_VARIABLE)
        .map(|record| record.with_extension(RunSpec::FILE));
    match file {
        Some(file) if std::fs::write(&file, &text).is_ok() => format!("@{}", file.display()),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_looks_like_an_option_comes_last() {
        let test = TestCase { ignored: true, ..TestCase::new("a") };
        assert_eq!(arguments(&test, None), ["--exact", "a", "--nocapture", "--ignored"]);
        let test = TestCase::new("-a");
        let expected = ["--exact", "--nocapture", ONE_THREAD, "--", "-a"];
        assert_eq!(arguments(&test, Some(ONE_THREAD)), expected);
    }
}
