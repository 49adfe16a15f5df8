//! A failure that only says that there is no network, when no driver is there to judge it: the test is reported as
//! ignored, with the reason.
//!
//! Only what the network's absence alone explains counts; whether this machine is offline as a whole is not asked. The
//! tests of one process run beside each other, so an operation is a test's own only on a thread that the test, or one of its
//! threads, started. Any other thread's operation is nobody's: it excuses no failure, and is only mentioned.

use std::sync::Arc;

use nondex_core::context::Context;
use nondex_core::network::Meaning;
use nondex_core::{NetworkOutcome, NetworkRecord};

/// Switches this off.
const NO_SANITISE: &str = "NONDEX_NO_SANITISE";

/// Looks at the network while a test runs.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    context: &'a Context,
    /// The events before the test.
    before: usize,
}

/// What the network has to do with a failure.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Remark {
    /// It is the reason: the failure says nothing about the code.
    Excuse(String),
    /// It may be the reason.
    Uncertain(String),
}

impl<'a> Watch<'a> {
    /// From here on; `None` where the driver judges, or nobody shall.
    pub(crate) fn start(context: &'a Arc<Context>) -> Option<Self> {
        let is_ours = context.is_own_process() && context.spec().record.is_none();
        let is_off = std::env::var_os(NO_SANITISE).is_some_and(|value| value != "0");
        (is_ours && !is_off).then(|| Watch {
            context,
            before: context.kept(),
        })
    }

    /// What is to be said of the failure of `test`, which has ended.
    pub(crate) fn remark(&self, test: &str) -> Option<Remark> {
        let own = self.context.network_of(test);
        let others = self.context.network_of_nobody(self.before);
        remark(&own, &others)
    }
}

fn remark(own: &[NetworkRecord], others: &[NetworkRecord]) -> Option<Remark> {
    if let Some(reason) = reason(own) {
        return Some(Remark::Excuse(format!("needs the network: {reason}")));
    }
    let reason = reason(others)?;
    Some(Remark::Uncertain(format!(
        "may need the network: meanwhile, on a thread that belongs to no test, {reason}"
    )))
}

fn reason(operations: &[NetworkRecord]) -> Option<String> {
    let explains = |record: &&NetworkRecord| {
        record.meaning() == Meaning::Absent && !record.is_superseded(operations)
    };
    let record = operations.iter().find(explains)?;
    let error = match &record.outcome {
        NetworkOutcome::Failed(error) => error,
        NetworkOutcome::Pending | NetworkOutcome::Answered => "no answer",
    };
    let (operation, target) = (&record.operation, &record.target);
    Some(format!("{operation} {target}: {error}"))
}

#[cfg(test)]
mod tests {
    use nondex_core::network::CHILD;

    use super::*;

    #[test]
    fn only_an_error_that_the_networks_absence_explains_is_a_reason() {
        let record = |target: &str, outcome| NetworkRecord {
            operation: "connect".to_owned(),
            target: target.to_owned(),
            host: None,
            outcome,
            thread: "0".to_owned(),
            site: String::new(),
            count: 1,
            elapsed_ms: 0,
            stack: Vec::new(),
        };
        let failed = |error: &str| NetworkOutcome::Failed(error.to_owned());
        let unreachable = || record("192.0.2.1:80", failed("ENETUNREACH"));
        let reached = || record("192.0.2.1:80", NetworkOutcome::Answered);
        assert_eq!(reason(&[]), None);
        assert_eq!(
            reason(&[record("192.0.2.1:80", failed("ECONNREFUSED"))]),
            None
        );
        assert_eq!(
            reason(&[unreachable()]).as_deref(),
            Some("connect 192.0.2.1:80: ENETUNREACH")
        );
        assert_eq!(reason(&[unreachable(), reached()]), None);
        // Whether this machine is offline would have to be asked.
        for outcome in [failed("exit status 1"), NetworkOutcome::Pending] {
            let child = NetworkRecord {
                operation: CHILD.to_owned(),
                ..record("program", outcome)
            };
            assert_eq!(reason(&[child]), None);
        }

        assert_eq!(remark(&[reached()], &[]), None);
        let Some(Remark::Excuse(text)) = remark(&[unreachable()], &[unreachable()]) else {
            panic!("the test's own operation excuses it");
        };
        assert!(text.starts_with("needs the network: "), "{text}");
        let Some(Remark::Uncertain(text)) = remark(&[], &[unreachable()]) else {
            panic!("an operation of nobody is mentioned");
        };
        assert!(text.starts_with("may need the network: "), "{text}");
    }
}
