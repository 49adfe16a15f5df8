//! Runs tests in forks of this process. Each finds what earlier tests of the process left, and
//! leaves nothing to the next.

use std::time::Duration;

use nondex_core::context::{self, Context, system};
use nondex_core::{ForkRecord, Forks, RunSpec};

use super::descriptor::TestDescAndFn;
use super::verdict::ERROR_EXIT_CODE;

/// Runs `tests` in forks, one after the other. `run` runs a test and returns whether it passed. If
/// the process has something that a fork would lack, such as another thread, no test runs and the
/// record has the reason.
pub(crate) fn run(
    context: &Context,
    forks: &Forks,
    tests: Vec<TestDescAndFn>,
    mut run: impl FnMut(TestDescAndFn) -> bool,
) {
    let (Some(system), Some(record)) = (system::system(), context.forks_record()) else { return };
    if tests.is_empty() {
        return;
    }
    let others = system.others();
    if !others.is_none() {
        context.note_unforked(others);
        return;
    }
    context.note_forks();
    let notes = Notes::of(&record);
    let limits = || forks.tests.iter().zip(&forks.limits_ms);
    for test in tests {
        let name = test.desc.name.as_slice().to_owned();
        let spec = RunSpec { record: Some(record.clone()), ..context.spec().in_fork(&name) };
        let mut test = Some(test);
        let limit = limits().find(|(limited, _)| **limited == name);
        let limit = Duration::from_millis(limit.map_or(u64::MAX, |(_, limit)| *limit));
        let end = system.fork(&spec.to_json(), limit, &mut || {
            let passed = context::fork_global(spec.clone()).and(test.take()).is_some_and(&mut run);
            if passed { 0 } else { ERROR_EXIT_CODE }
        });
        notes.restore();
        if let Some(end) = end {
            context.note_fork(ForkRecord {
                test: name,
                end: end.end,
                micros: u64::try_from(end.took.as_micros()).unwrap_or(u64::MAX),
                left_child: end.left_child,
            });
        }
    }
}

/// Notes about unidentified children. Each fork only sees its own.
#[derive(Debug)]
struct Notes {
    path: std::path::PathBuf,
    length: u64,
}

impl Notes {
    fn of(record: &std::path::Path) -> Self {
        let path = record.with_extension(context::inheritance::NOTES);
        let length = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        Notes { path, length }
    }

    /// Removes the notes that a fork added.
    fn restore(&self) {
        if std::fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() > self.length) {
            if let Ok(file) = std::fs::OpenOptions::new().write(true).open(&self.path) {
                let _ = file.set_len(self.length);
            }
        }
    }
}
