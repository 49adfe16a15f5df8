//! Sentences about tests that use the network.

use nondex_core::{NetworkMode, RunSpec};

use crate::judge::evidence::Evidence;
use crate::judge::prerequisite::Policy;
use crate::report::{TestReport, Verdict};

/// Describes the outcome of the verification run with the network. Returns `None` if there was no
/// such run.
pub fn verified(evidence: &Evidence, verification: &RunSpec, verdict: Verdict) -> Option<String> {
    let run = evidence.of(verification).first()?;
    let text = match (run.passed(), verdict) {
        (true, _) => "it passes with the network",
        (false, Verdict::Network) => "it was run with the network too, which is not available",
        (false, _) => "it fails with the network too",
    };
    Some(text.to_owned())
}

/// Describes what is unknown about the tests of verdict `network`.
pub fn unknown(tests: &[TestReport], policy: &Policy) -> Option<String> {
    let sanitised = tests.iter().filter(|test| test.verdict == Verdict::Network).count();
    let tests = match sanitised {
        0 => return None,
        1 => "the test",
        _ => "the tests",
    };
    (policy.mode == NetworkMode::Block && !policy.verify).then(|| {
        format!(
            "whether {tests} with verdict `network` would pass with a network is not known: \
             `--network-verify` tests it"
        )
    })
}
