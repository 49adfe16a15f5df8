//! A failure that only says that there is no network, when no driver is there to judge it: the test is reported as
//! ignored, with the reason.
//!
//! Only what the network's absence alone explains counts; whether this machine is offline as a whole is not asked. An
//! operation of a thread that belongs to no test in particular is nobody's, and excuses no failure.

use nondex_core::context::Context;
use nondex_core::network::Meaning;
use nondex_core::{NetworkOutcome, NetworkRecord};

/// Switches this off.
const NO_SANITISE: &str = "NONDEX_NO_SANITISE";

/// Why the failure of `test`, which has ended, says nothing about the code; `None` when it may.
pub(crate) fn excuse(context: &Context, test: &str) -> Option<String> {
    let is_ours = context.is_own_process() && context.spec().record.is_none();
    let is_off = std::env::var_os(NO_SANITISE).is_some_and(|value| value != "0");
    if !is_ours || is_off {
        return None;
    }
    reason(&context.network_of(test))
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
    Some(format!("needs the network: {operation} {target}: {error}"))
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
        assert_eq!(reason(&[]), None);
        assert_eq!(
            reason(&[record("192.0.2.1:80", failed("ECONNREFUSED"))]),
            None
        );
        assert_eq!(
            reason(&[unreachable()]).as_deref(),
            Some("needs the network: connect 192.0.2.1:80: ENETUNREACH")
        );
        let reached = record("192.0.2.1:80", NetworkOutcome::Answered);
        assert_eq!(reason(&[unreachable(), reached]), None);
        // Whether this machine is offline would have to be asked.
        for outcome in [failed("exit status 1"), NetworkOutcome::Pending] {
            let child = NetworkRecord {
                operation: CHILD.to_owned(),
                ..record("program", outcome)
            };
            assert_eq!(reason(&[child]), None);
        }
    }
}
