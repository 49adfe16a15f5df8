//! Failures that say nothing about the code, only about the machine: no network, no free port, a program that is not there.
//!
//! A [`Sanitiser`] knows such a want. It decides from the record of a failed run, as a pure function, whether the run is
//! explained by it. [`NetworkSanitiser`] is built in; an [`OperationSanitiser`] is an entry `[[sanitise]]` of the
//! configuration file; users of the library add their own to [`Options::sanitisers`](crate::campaign::Options::sanitisers).

mod network;
mod operation;

use std::fmt::Debug;

use nondex_core::{Frame, Observed};

pub use self::network::NetworkSanitiser;
pub use self::operation::OperationSanitiser;
use crate::campaign::Options;
use crate::campaign::evidence::{Evidence, Run};

/// Knows one want of a machine.
pub trait Sanitiser: Debug + Send + Sync {
    /// Its name, unique among all.
    fn name(&self) -> &str;

    /// What the machine is in want of, a sentence.
    fn reason(&self) -> &str;

    /// The failures that are to be recorded while tests run.
    fn observes(&self) -> Vec<Observed> {
        Vec::new()
    }

    /// The operations of a failed run that explain its failure; none when this is not what it was in want of. `passing` are
    /// all runs of the test that passed: what they meet too explains nothing.
    fn explain(&self, failed: &Run, passing: &[&Run]) -> Vec<Want>;
}

/// An operation that failed, and so explains a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// The operation, such as `exec`.
    pub operation: String,
    /// What it was about.
    pub target: String,
    /// How it failed.
    pub error: String,
    /// Where it was called, innermost frame first, when that is known.
    pub stack: Vec<Frame>,
}

/// What explains all failed runs of a test.
#[derive(Debug)]
pub struct Explanation<'a> {
    /// The sanitiser that explains the first of them.
    pub sanitiser: &'a dyn Sanitiser,
    /// The operations, each once.
    pub wants: Vec<Want>,
}

/// What explains every failed run, by the sanitisers of `options`; `None` when one is not explained, or none failed. The
/// built-in one only helps the others: what it explains alone is a verdict of its own.
#[must_use]
pub fn explain<'a>(evidence: &Evidence, options: &'a Options) -> Option<Explanation<'a>> {
    let runs = || evidence.all().map(|(_, run)| run);
    let passing: Vec<&Run> = runs().filter(|run| run.passed()).collect();
    explain_runs(runs().filter(|run| !run.passed()), &passing, options)
}

/// Whether these runs, which all failed, are all explained; no run of the test has passed.
#[must_use]
pub fn explains_all(runs: &[Run], options: &Options) -> bool {
    explain_runs(runs.iter(), &[], options).is_some()
}

fn explain_runs<'a, 'r>(
    failed: impl Iterator<Item = &'r Run>,
    passing: &[&Run],
    options: &'a Options,
) -> Option<Explanation<'a>> {
    if !options.network.sanitise || options.sanitisers.is_empty() {
        return None;
    }
    let network = NetworkSanitiser::new(&options.network);
    let mut explanation: Option<Explanation<'a>> = None;
    for run in failed {
        let mut own = options.sanitisers.iter().map(AsRef::as_ref);
        let found = own.find_map(|sanitiser| {
            let wants = sanitiser.explain(run, passing);
            (!wants.is_empty()).then_some((sanitiser, wants))
        });
        match found {
            Some((sanitiser, wants)) => {
                let explanation = explanation.get_or_insert(Explanation {
                    sanitiser,
                    wants: Vec::new(),
                });
                for want in wants {
                    if !explanation.wants.contains(&want) {
                        explanation.wants.push(want);
                    }
                }
            }
            None if network.explain(run, passing).is_empty() => return None,
            None => {}
        }
    }
    explanation
}

#[cfg(test)]
mod tests;
