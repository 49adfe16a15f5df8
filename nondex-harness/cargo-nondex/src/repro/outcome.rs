//! Runs of a script, and whether they fail as the finding does.

use std::process::Command;
use std::time::Duration;

use nondex_core::Outcome;

use super::script::{NOT_BUILT, Script};
use super::{Subject, VERIFICATIONS};
use crate::campaign::process::{self, End};
use crate::campaign::{ended, message};
use crate::error::{Error, Result};
use crate::project::Harness;

/// How long a script may take to build the test.
const BUILD: Duration = Duration::from_secs(1800);

/// How some runs of a script ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptOutcome {
    /// All failed where the finding does.
    Fails,
    /// All passed.
    Passes,
    /// Neither: outcomes differ, or it failed at another place.
    Otherwise,
    /// The test was not built.
    NotBuilt,
}

impl Subject<'_> {
    /// Runs a script [`VERIFICATIONS`] times, or until it is known to be of no use.
    pub(super) fn try_script(&self, script: &Script, arguments: &[&str]) -> Result<ScriptOutcome> {
        let mut first = None;
        for _ in 0..VERIFICATIONS {
            let mut command = Command::new("sh");
            command.arg(&script.0).args(arguments);
            let outcome = self.try_once(command)?;
            if *first.get_or_insert(outcome) != outcome {
                return Ok(ScriptOutcome::Otherwise);
            }
            if matches!(outcome, ScriptOutcome::Otherwise | ScriptOutcome::NotBuilt) {
                return Ok(outcome);
            }
        }
        Ok(first.unwrap_or(ScriptOutcome::Otherwise))
    }

    /// One run of a script.
    pub(super) fn try_once(&self, command: Command) -> Result<ScriptOutcome> {
        let timeout = BUILD + self.timeout;
        let finished = process::run(command, timeout, self.stop)
            .map_err(|e| Error::setup(format!("failed to start `sh`: {e}")))?;
        let outcome = match finished.end {
            End::Exited(NOT_BUILT) => return Ok(ScriptOutcome::NotBuilt),
            // A shell's exit code for a process that a signal ended.
            End::Exited(code @ 129..=192) => Outcome::Signalled(code - 128),
            end => match ended::outcome(Harness::Libtest, end) {
                Some(outcome) => outcome,
                None => return Ok(ScriptOutcome::Otherwise),
            },
        };
        if outcome.passed() {
            return Ok(ScriptOutcome::Passes);
        }
        let failure = message::explain(&outcome, &finished.output.to_text(), self.timeout);
        let expected = (self.finding.file.as_deref(), self.finding.line);
        let is_there = match (expected, failure.file.as_deref()) {
            ((Some(file), line), Some(found)) => {
                line == failure.line && (found.ends_with(file) || file.ends_with(found))
            }
            ((None, _), None) => true,
            _ => false,
        };
        Ok(if is_there { ScriptOutcome::Fails } else { ScriptOutcome::Otherwise })
    }
}
