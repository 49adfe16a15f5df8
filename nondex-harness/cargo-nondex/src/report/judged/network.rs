//! What is known, and not, of tests with a network.

use nondex_core::{NetworkMode, RunSpec};

use crate::judge::evidence::Evidence;
use crate::judge::prerequisite::Policy;
use crate::report::{TestReport, Verdict};

/// What a run of the test with the network told, a sentence for the report; `None` when there was
/// none.
pub fn verified(evidence: &Evidence, verification: &RunSpec, verdict: Verdict) -> Option<String> {
    let run = evidence.of(verification).first()?;
    let text = match (run.passed(), verdict) {
        (true, _) => "it passes with the network",
        (false, Verdict::Network) => "it was run with the network too, which is not there",
        (false, _) => "it fails with the network too",
    };
    Some(text.to_owned())
}

/// What is not known of the tests with verdict `network`, a sentence for the report.
pub fn unknown(tests: &[TestReport], policy: &Policy) -> Option<String> {
    let sanitised = tests.iter().filter(|test| test.verdict == Verdict::Network).count();
    let tests = match sanitised {
        0 => return None,
        1 => "the test",
        _ => "the tests",
    };
    (policy.mode == NetworkMode::Block && !policy.verify).then(|| {
        format!(
            "that {tests} with verdict `network` would pass with a network is not known: \
             `--network-verify` looks"
        )
    })
}
