//! Reports missing prerequisites of a test, such as the network.

use nondex_core::{NetworkMode, RunSpec};

use super::basis::Basis;
use crate::judge::{Evidence, Explanation, FailedOperation, NetworkPolicy, prerequisite};
use crate::report::schema::{NetworkEvent, Sanitised, TestReport, Verdict};

/// Maximum number of operations that the report of a test lists.
const MAX_EVENTS: usize = 20;

/// Writes which hosts and operations the test requested, and what explains its failures.
pub(super) fn write(report: &mut TestReport, basis: &Basis<'_>) {
    let policy = &basis.options.network;
    let seen = prerequisite::seen(basis.evidence, policy);
    let shown = seen.operations.iter().take(MAX_EVENTS);
    report.network = shown.map(|one| event(one, basis)).collect();
    report.hosts = seen.hosts.into_iter().collect();
    if report.verdict.passes() && seen.is_ignored {
        let hosts = report.hosts.join(", ");
        report.notes.push(format!("it passes without the network that it requests ({hosts})"));
    }
    if let Some(explanation) = basis.explanation() {
        explain(report, explanation, basis);
    }
    let verification = policy.verification(&basis.clean());
    let verified = verification.and_then(|spec| verified(basis.evidence, &spec, report.verdict));
    report.notes.extend(verified);
}

/// Writes the explanation of the failures. Without a network, culprits are no evidence and are
/// removed. Any other missing prerequisite keeps what the runs show.
fn explain(report: &mut TestReport, explanation: &Explanation, basis: &Basis<'_>) {
    let operations = explanation.operations.iter().take(MAX_EVENTS);
    report.sanitised_by = Some(Sanitised {
        name: explanation.name.clone(),
        reason: explanation.reason.clone(),
        operations: operations.map(|one| event(one, basis)).collect(),
    });
    report.notes.extend(explanation.reservations.iter().cloned());
    if explanation.is_of_network() {
        report.weakest_level = None;
        report.culprits.clear();
    }
}

fn event(one: &FailedOperation, basis: &Basis<'_>) -> NetworkEvent {
    let (file, line) = basis.workspace.nearest(&one.stack).unzip();
    NetworkEvent {
        operation: one.operation.clone(),
        address: one.target.clone(),
        error: one.error.clone(),
        file,
        line,
        thread: one.thread.clone(),
        elapsed_ms: one.elapsed_ms,
    }
}

/// Describes the outcome of the verification run with the network. Returns `None` if there was no
/// such run.
fn verified(evidence: &Evidence, verification: &RunSpec, verdict: Verdict) -> Option<String> {
    let run = evidence.of(verification).first()?;
    let text = match (run.passed(), verdict) {
        (true, _) => "it passes with the network",
        (false, Verdict::Network) => "it was run with the network too, which is not available",
        (false, _) => "it fails with the network too",
    };
    Some(text.to_owned())
}

/// Describes what is unknown about the tests of verdict `network`.
pub fn unknown(tests: &[TestReport], policy: &NetworkPolicy) -> Option<String> {
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
