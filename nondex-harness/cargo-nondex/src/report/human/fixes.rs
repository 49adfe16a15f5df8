//! Advice for tests whose outcome depends on threads or time.

use nondex_core::{Kind, Model, Source, model};

use super::interleaving;
use crate::report::schema::{TestReport, Timing, WaitCauseKind, WaitReport};

/// Returns the fixes for a test whose outcome depends on threads or time.
pub(super) fn of_threads(test: &TestReport, reason: Timing) -> Vec<&'static str> {
    // Threads that wait for one that panicked do nothing wrong.
    let ended = test.scheduled.iter().filter(|one| !one.after_panic);
    let waits = ended.flat_map(|one| &one.waits);
    let operations: Vec<&str> = waits.clone().map(|wait| wait.operation.as_str()).collect();
    let waits_in = |word: &str| operations.iter().any(|one| one.contains(word));
    let is_caused_by =
        |kind| move |wait: &WaitReport| wait.cause.as_ref().is_some_and(|cause| cause.kind == kind);
    let has_cause = |kind| waits.clone().any(is_caused_by(kind));
    // A woken thread waits in `Condvar::wait` for the lock.
    let waits_for_condition = || {
        let is_owned = is_caused_by(WaitCauseKind::Has);
        let is_condition = |name: &str| name.contains("Condvar") || name.contains("park");
        waits.clone().any(|wait| is_condition(&wait.operation) && !is_owned(wait))
    };
    // Suspects of different kinds have different fixes, and all but one of these may be beside the
    // point.
    let is_known = test.has_one_kind_of_culprits();
    let has_kind = |kind| is_known && test.culprits.iter().any(|culprit| culprit.kind == kind);
    let notify_all = model::CONDVAR_NOTIFY_ONE.fix;
    let mut fixes: Vec<&str> = Vec::new();
    // If a clock decides, the waiting threads are only a consequence.
    if test.depends_on_clocks() {
        let models = test.culprits.iter().filter_map(|one| Model::by_api(&one.api));
        fixes.extend(models.map(|model| model.fix));
        fixes.dedup();
    }
    if waits_in("Barrier") {
        fixes.push(
            "make the number of waiting threads match the `Barrier` in every round: it blocks \
             until all have arrived",
        );
    } else if has_cause(WaitCauseKind::Another) {
        fixes.push(notify_all);
    } else if waits_for_condition() {
        fixes.push(
            "check the condition under its lock before each wait, in a loop (`while`, \
             `wait_while`): a notification without a waiting thread is lost",
        );
    } else if waits_in("Mutex")
        || waits_in("RwLock")
        || waits_in("lock")
        || has_cause(WaitCauseKind::Has)
    {
        fixes.push(
            "take the locks in the same order everywhere, or hold no lock while you wait for \
             another thread",
        );
    } else if waits_in("pthread") {
        // Locks, conditions and semaphores of C are not told apart.
        fixes.push(
            "take the locks in the same order everywhere, and wait for a condition of C in a loop \
             that checks it under its lock",
        );
    } else if waits.clone().any(|wait| wait.last.is_some()) {
        fixes.push(
            "let what each task waits for happen: take locks in the same order in all tasks, and \
             drop unused senders",
        );
    } else if !operations.is_empty() {
        fixes.push(
            "let every wait end: drop unused senders, and do not join a thread that waits for the \
             joining thread",
        );
    }
    if has_kind(Kind::Spurious) {
        fixes.push(
            "check the condition again in a loop after waking: `while` instead of `if`, or \
             `wait_while`",
        );
    }
    if has_kind(Kind::Permute) && !fixes.contains(&notify_all) {
        fixes.push(notify_all);
    }
    if !fixes.is_empty() || !is_known {
        return fixes;
    }
    let sleeps = test.sources.contains(&Source::Sleep);
    vec![match reason {
        _ if interleaving::slept(test).is_some() => {
            "join the thread, or wait for its message, instead of sleeping: no sleep is long enough"
        }
        _ if interleaving::timed_out(test).is_some() => {
            "wait without a time limit, or with one that a loaded machine never reaches"
        }
        Timing::Time => {
            "wait with a deadline instead of a margin, or use a clock that the test sets"
        }
        Timing::Race if sleeps => {
            "join the thread, or wait for its message, instead of sleeping: no sleep is long \
             enough; and hold one lock over operations that belong together"
        }
        Timing::Race => {
            "hold the lock over operations that belong together, join or wait for a message before \
             reading, and make a required order explicit"
        }
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::schema::{Scheduled, WaitCause};

    #[test]
    fn a_deadlock_is_mended_where_its_threads_wait() {
        let fixed = |operations: &[&str], cause: Option<&WaitCause>| {
            let wait = |operation: &&str| WaitReport {
                thread: "0".to_owned(),
                operation: (*operation).to_owned(),
                cause: cause.cloned(),
                ..WaitReport::default()
            };
            let mut test = TestReport::new("shop", "shop", "waits");
            test.scheduled = Some(Scheduled {
                waits: operations.iter().map(wait).collect(),
                ..Scheduled::default()
            });
            of_threads(&test, Timing::Race).join("; ")
        };
        for (operations, word) in [
            (&["Barrier::wait", "JoinHandle::join"][..], "`Barrier`"),
            (&["Condvar::wait", "JoinHandle::join"], "`wait_while`"),
            (&["Mutex::lock", "JoinHandle::join"], "same order"),
            (&["RawMutex::lock_slow"], "same order"),
            (&["Receiver::recv", "JoinHandle::join"], "drop unused senders"),
            (&["pthread wait", "thread::scope"], "condition of C"),
        ] {
            let fix = fixed(operations, None);
            assert!(fix.contains(word), "{operations:?}: {fix}");
        }
        let cause = |kind| WaitCause {
            kind,
            thread: "0.0".to_owned(),
            what: "Mutex::lock".to_owned(),
            file: None,
            line: None,
        };
        // Locks of parking_lot wait in a futex call.
        let owner = cause(WaitCauseKind::Has);
        assert!(fixed(&["futex wait"], Some(&owner)).contains("same order"));
        let relocks = fixed(&["Condvar::wait"], Some(&owner));
        assert!(relocks.contains("same order"), "{relocks}");
        // A loop around the wait does not help a thread that a notification passed over.
        let other = fixed(&["Condvar::wait"], Some(&cause(WaitCauseKind::Another)));
        assert!(other.contains("`notify_all`") && !other.contains("`wait_while`"), "{other}");
    }
}
