//! What the runs of a test say about the network.

use std::collections::BTreeSet;

use nondex_core::{NetworkMode, NetworkOutcome, NetworkRecord, RunSpec};

use super::{Policy, judge};
use crate::campaign::evidence::{Evidence, Run};
use crate::report::schema::NetworkEvent;
use crate::report::{TestReport, Verdict};

/// How many operations a report names of one test.
const MAX_EVENTS: usize = 20;

/// What the runs of a test say about the network.
#[derive(Debug, Default)]
pub struct Findings<'a> {
    /// The operations that explain failures, each once, in a fixed order.
    pub reasons: Vec<&'a NetworkRecord>,
    /// Whether every failed run is explained, and there is one.
    pub explains_all: bool,
    /// The operations that alone explain a failed run, and only make it likely.
    pub uncertain: Vec<&'a NetworkRecord>,
    /// The machines that it asked for, by name or address, whether it reached them or not.
    pub hosts: BTreeSet<&'a str>,
    /// Whether a run passed although an operation on another machine failed.
    pub is_ignored: bool,
}

/// Judges every failed run in `evidence`.
#[must_use]
pub fn findings<'a>(evidence: &'a Evidence, policy: &Policy) -> Findings<'a> {
    let runs = || evidence.all().map(|(_, run)| run);
    let passing: Vec<&[NetworkRecord]> = runs()
        .filter(|run| run.passed())
        .map(|run| &*run.network)
        .collect();
    let mut findings = Findings {
        explains_all: runs().any(|run| !run.passed()),
        is_ignored: passing.iter().copied().flatten().any(has_failed),
        ..Findings::default()
    };
    for run in runs() {
        findings
            .hosts
            .extend(run.network.iter().map(NetworkRecord::machine));
        if !run.passed() {
            let reasons = judge::reason(&run.network, run.ending(), &passing, &policy.canary);
            findings.explains_all &= !reasons.is_empty();
            if reasons
                .iter()
                .all(|reason| reason.is_child() || reason.is_unanswered())
            {
                add(&reasons, &mut findings.uncertain);
            }
            add(&reasons, &mut findings.reasons);
        }
    }
    findings.reasons.sort();
    findings.uncertain.sort();
    findings
}

/// Adds the operations that are not known yet.
fn add<'a>(reasons: &[&'a NetworkRecord], known: &mut Vec<&'a NetworkRecord>) {
    for reason in reasons {
        // The same operation of several runs differs in its count and thread at most.
        let is_known = known.iter().any(|known| {
            (&known.operation, &known.target, &known.outcome)
                == (&reason.operation, &reason.target, &reason.outcome)
        });
        if !is_known {
            known.push(reason);
        }
    }
}

/// Whether an operation failed on another machine: what is only known of a program is that it failed, and of a datagram that
/// nobody asked for an answer.
fn has_failed(record: &NetworkRecord) -> bool {
    !record.is_child()
        && !matches!(
            record.outcome,
            NetworkOutcome::Answered | NetworkOutcome::Awaited | NetworkOutcome::Unawaited
        )
}

/// Why a judgement is less certain than others, a sentence for the report for each operation that only makes it likely.
pub fn reservations(findings: &Findings<'_>) -> impl Iterator<Item = String> {
    findings.uncertain.iter().map(|record| {
        if record.is_unanswered() {
            let target = &record.target;
            return format!(
                "less certain: what was sent to {target} had no answer, which may have another reason than the network"
            );
        }
        let (name, host) = (&record.target, record.machine());
        let end = match &record.outcome {
            NetworkOutcome::Failed(error) => format!("ended with {error}"),
            _ => "had not ended".to_owned(),
        };
        format!("less certain: `{name}` cannot be observed; it was given {host} and {end}")
    })
}

/// Whether these runs, which all failed, are all explained; no run of the test has passed.
#[must_use]
pub fn explains_all(runs: &[Run], policy: &Policy) -> bool {
    policy.sanitise
        && runs
            .iter()
            .all(|run| !judge::reason(&run.network, run.ending(), &[], &policy.canary).is_empty())
}

/// What a run of the test with the network told, a sentence for the report; `None` when there was none.
#[must_use]
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
#[must_use]
pub fn unknown(tests: &[TestReport], policy: &Policy) -> Option<String> {
    let sanitised = tests
        .iter()
        .filter(|test| test.verdict == Verdict::Network)
        .count();
    let tests = match sanitised {
        0 => return None,
        1 => "the test",
        _ => "the tests",
    };
    (policy.mode == NetworkMode::Block && !policy.verify).then(|| {
        format!(
            "that {tests} with verdict `network` would pass with a network is not known: `--network-verify` looks"
        )
    })
}

/// The operations for the report. `place` gives the place in the source that a stack is shown at.
pub fn events(
    reasons: &[&NetworkRecord],
    place: impl Fn(&NetworkRecord) -> Option<(String, u32)>,
) -> Vec<NetworkEvent> {
    reasons
        .iter()
        .take(MAX_EVENTS)
        .map(|record| {
            let (file, line) = place(record).unzip();
            NetworkEvent {
                operation: record.operation.clone(),
                address: match &record.host {
                    Some(host) => format!("{host} ({})", record.target),
                    None => record.target.clone(),
                },
                error: record.outcome.text().to_owned(),
                file,
                line,
                thread: record.thread.clone(),
                elapsed_ms: record.outcome.has_ended().then_some(record.elapsed_ms),
            }
        })
        .collect()
}
