//! How cargo would start a test, with a spec in its environment.

use std::process::Command;

use camino::Utf8Path;
use nondex_core::RunSpec;
use nondex_core::protocol::spec::SPEC_VARIABLE;

use crate::project::{Harness, ONE_THREAD, TestBinary, TestCase};

/// The longest spec that is given in a variable; the system takes 128 KiB, with its name.
const MAX_VARIABLE: usize = 100 << 10;

/// The variables that enable backtraces of std.
pub const BACKTRACES: [&str; 2] = ["RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];

/// Lets std write no backtraces: they take time and open files, which may be another schedule.
pub fn without_backtraces(command: &mut Command) {
    for name in BACKTRACES {
        command.env_remove(name);
    }
}

/// How cargo would start the test; with a spec, if there is one.
pub fn command(binary: &TestBinary, test: &TestCase, spec: Option<RunSpec>) -> Command {
    let mut command = program(binary, binary.executable_of(test));
    match binary.harness {
        Harness::Nondex | Harness::Libtest | Harness::Serial => {
            command.args(["--exact", &test.name, "--nocapture"]);
            command.args((binary.harness == Harness::Serial).then_some(ONE_THREAD));
            // Those before it are in the spec.
            command.args(test.ignored.then_some("--ignored"));
        }
        Harness::Opaque | Harness::Doctest => {}
    }
    let spec = spec.map(|spec| RunSpec { preload: binary.preload.clone().map(Into::into), ..spec });
    command.envs(spec.map(|spec| (SPEC_VARIABLE, in_variable(&spec))));
    command
}

/// How cargo would start all tests of a binary.
pub fn all(binary: &TestBinary) -> Command {
    program(binary, &binary.executable)
}

/// A program of a binary with its runner, folder and environment.
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

/// A spec as the value of a variable: one that is too long is in a file next to its record.
fn in_variable(spec: &RunSpec) -> String {
    let text = spec.to_json();
    let file = spec.record.as_ref().filter(|_| text.len() > MAX_VARIABLE);
    let file = file.map(|record| record.with_extension(RunSpec::FILE));
    match file {
        Some(file) if std::fs::write(&file, &text).is_ok() => format!("@{}", file.display()),
        _ => text,
    }
}
