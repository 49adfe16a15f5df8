//! Recognises failures whose only cause is a missing network, in runs that no driver judges. Such a
//! test is reported as ignored, with the reason.
//!
//! Only failures that a missing network alone explains count; it does not matter whether the
//! machine is offline. The tests of one process run at the same time. So such a failure is judged
//! by another run of the test in a separate process, where every operation belongs to the test. In
//! the first run, an operation on a thread that belongs to no test also leads to the second run.

use std::sync::Arc;

use nondex_core::context::Context;
use nondex_core::protocol::network::meaning::{Ending, Meaning};
use nondex_core::{NetworkRecord, Outcome, RunRecord};

use super::alone;

/// Variable that turns this off.
const NO_SANITISE: &str = "NONDEX_NO_SANITISE";

/// Observer of the network while a test runs.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    context: &'a Context,
    /// Number of events before the test.
    before: usize,
}

/// Relation of a failure to the network.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Remark {
    /// The missing network is the reason: the failure is no evidence about the code.
    Excuse(String),
    /// The missing network may be the reason.
    Uncertain(String),
}

impl<'a> Watch<'a> {
    /// Starts to observe. Returns `None` if the driver judges failures or the feature is turned
    /// off.
    pub(crate) fn start(context: &'a Arc<Context>) -> Option<Self> {
        let is_ours = context.is_own_process() && context.spec().record.is_none();
        let is_off = std::env::var_os(NO_SANITISE).is_some_and(|value| value != "0");
        (is_ours && !is_off).then(|| Watch { context, before: context.kept() })
    }

    /// Judges the failure of `test`, which ended with this message. Runs the test again, alone, if
    /// the network may be the reason.
    pub(crate) fn remark(&self, test: &str, message: &str) -> Option<Remark> {
        let ending = Ending { is_hang: false, message };
        let own = self.context.network_of(test);
        let suspected = reason(&own, ending)
            .or_else(|| reason(&self.context.network_of_nobody(self.before), ending))?;
        match alone::run(self.context.spec(), test) {
            Some(alone) => remark(&alone, &suspected),
            None => Some(Remark::Uncertain(format!(
                "may need the network ({suspected}), and could not be run again alone"
            ))),
        }
    }
}

/// Judges a failure together with other tests by a run of the test alone. `suspected` is the
/// suspected reason.
fn remark(alone: &RunRecord, suspected: &str) -> Option<Remark> {
    if alone.outcome == Outcome::Passed {
        return Some(Remark::Uncertain(format!(
            "passes alone, so that it does not need the network ({suspected})"
        )));
    }
    let reason = reason(&alone.network, Ending::of(&alone.outcome, alone.failure.as_ref()))?;
    Some(Remark::Excuse(format!("needs the network: {reason}")))
}

fn reason(operations: &[NetworkRecord], ending: Ending<'_>) -> Option<String> {
    let explains = |record: &&NetworkRecord| {
        record.meaning(ending) == Meaning::Absent && !record.is_superseded(operations)
    };
    let record = operations.iter().find(explains)?;
    let error = record.outcome.text();
    let (operation, target) = (&record.operation, &record.target);
    Some(format!("{operation} {target}: {error}"))
}

#[cfg(test)]
mod tests {
    use nondex_core::protocol::network::CHILD;
    use nondex_core::{Level, NetworkOutcome, RunSpec};

    use super::*;

    fn record(target: &str, outcome: NetworkOutcome) -> NetworkRecord {
        NetworkRecord {
            operation: "connect".to_owned(),
            target: target.to_owned(),
            host: None,
            outcome,
            thread: "0".to_owned(),
            site: String::new(),
            count: 1,
            elapsed_ms: 0,
            stack: Vec::new(),
        }
    }

    #[test]
    fn only_an_error_that_the_networks_absence_explains_is_a_reason() {
        let failed = |error: &str| NetworkOutcome::Failed(error.to_owned());
        let unreachable = || record("192.0.2.1:80", failed("ENETUNREACH"));
        let reached = || record("192.0.2.1:80", NetworkOutcome::Answered);
        assert_eq!(reason(&[], Ending::default()), None);
        assert_eq!(
            reason(&[record("192.0.2.1:80", failed("ECONNREFUSED"))], Ending::default()),
            None
        );
        assert_eq!(
            reason(&[unreachable()], Ending::default()).as_deref(),
            Some("connect 192.0.2.1:80: ENETUNREACH")
        );
        assert_eq!(reason(&[unreachable(), reached()], Ending::default()), None);
        // Whether these count depends on whether the machine is offline, which is unknown here.
        for outcome in [failed("exit status 1"), NetworkOutcome::Pending] {
            let child = NetworkRecord { operation: CHILD.to_owned(), ..record("program", outcome) };
            assert_eq!(reason(&[child], Ending::default()), None);
        }
    }

    #[test]
    fn a_failure_beside_others_is_judged_by_the_run_alone() {
        let alone = |outcome, network: &[NetworkRecord]| {
            let spec = RunSpec::new("t", Level::Full, 1);
            RunRecord { network: network.to_vec(), ..RunRecord::fold(&spec, [], outcome) }
        };
        let failed = NetworkOutcome::Failed("ENETUNREACH".to_owned());
        let unreachable = [record("192.0.2.1:80", failed)];
        let excuse = "needs the network: connect 192.0.2.1:80: ENETUNREACH";
        assert_eq!(
            remark(&alone(Outcome::Failed, &unreachable), "it"),
            Some(Remark::Excuse(excuse.to_owned()))
        );
        assert_eq!(remark(&alone(Outcome::Failed, &[]), "it"), None);
        assert!(matches!(
            remark(&alone(Outcome::Passed, &unreachable), "it"),
            Some(Remark::Uncertain(text)) if text.starts_with("passes alone")
        ));
    }
}
