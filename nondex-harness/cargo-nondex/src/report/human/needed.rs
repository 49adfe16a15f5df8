//! What a schedule needs to change the outcome of a test.

use std::collections::BTreeSet;

use nondex_core::{Family, Kind};

use super::delay::time;
use super::wording::called;
use super::{short, timing};
use crate::report::schema::{Culprit, NeededDelays, TestReport};

/// Maximum number of calls that are named.
const MAX_CALLS: usize = 2;

/// Describes what a schedule needs to make the test fail or, if the test fails in canonical order,
/// to make it pass.
pub(super) fn needed(test: &TestReport) -> String {
    let is_known = !test.culprits.is_empty() && test.has_one_kind_of_culprits();
    let others: Vec<&Culprit> = test.culprits.iter().filter(|one| !timing::is_of(one)).collect();
    if is_known && !others.is_empty() {
        let depends = if test.has_confirmed_culprits() { "depends on" } else { "may depend on" };
        // A delay may be a separate cause, so this does not state that all are needed together.
        let all =
            calls(&others).into_iter().chain(of_timing(test, "which waiting thread is woken"));
        return format!("{depends} {}", list(&all.collect::<Vec<_>>()));
    }
    let (needs, may_need) = if test.fails_in_canonical_order() {
        ("passes with", "may pass with")
    } else {
        ("needs", "may need")
    };
    let parts = if is_known {
        of_timing(test, "another waiting thread to be woken")
    } else {
        test.needed_delays().map(of_delays).into_iter().collect()
    };
    if parts.is_empty() {
        return format!("{may_need} an injected delay");
    }
    format!("{needs} {}", list(&parts))
}

/// Describes the delays, wake-ups and clocks among the culprits. `woken` is the text for the choice
/// of which thread is woken.
fn of_timing(test: &TestReport, woken: &str) -> Vec<String> {
    let timed = || test.culprits.iter().filter(|one| timing::is_of(one));
    let has = |kind| timed().any(|one| one.kind == kind);
    let mut parts = Vec::new();
    if let Some(delays) = test.delays() {
        parts.push(of_delays(delays));
    } else if has(Kind::Extend) {
        parts.push("an injected delay".to_owned());
    }
    if has(Kind::Random) {
        parts.push("a clock that shows an old time".to_owned());
    }
    if has(Kind::Spurious) {
        parts.push("a spurious wakeup".to_owned());
    }
    // Orders of collections are permuted, too, but no thread waits for these.
    if timed().any(|one| one.kind == Kind::Permute && one.family == Family::Schedule) {
        parts.push(woken.to_owned());
    }
    parts
}

/// Describes delays of which each is as short as possible.
fn of_delays(NeededDelays { longest, delays, threads }: NeededDelays) -> String {
    let longest = time(longest);
    match (delays, threads) {
        (1, _) => format!("a delay of {longest}"),
        (_, 1) => format!("{delays} delays of {longest} in total"),
        _ => format!("delays of {threads} threads, one of them by {longest}"),
    }
}

/// Describes the choices of other calls than those of threads and time.
fn calls(culprits: &[&Culprit]) -> Vec<String> {
    let described: BTreeSet<String> = culprits
        .iter()
        .map(|one| {
            let part = if one.kind == Kind::Permute { "order" } else { "result" };
            format!("the {part} of `{}`", short(called(one)))
        })
        .collect();
    if described.len() > MAX_CALLS {
        return vec!["unspecified orders or values".to_owned()];
    }
    described.into_iter().collect()
}

/// Joins the parts of a list in a sentence.
fn list(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => parts.concat(),
    }
}

#[cfg(test)]
mod tests {
    use nondex_core::{Outcome, model};

    use super::*;
    use crate::report::FailureReport;
    use crate::report::human::interleaving::tests::{delayed, suspect};
    use crate::report::schema::Timing;

    fn test(culprits: Vec<Culprit>) -> TestReport {
        let reason = culprits.iter().all(timing::is_of).then_some(Timing::Race);
        TestReport { reason, culprits, ..TestReport::new("shop", "shop", "waits") }
    }

    #[test]
    fn delays_of_one_thread_add_up_and_of_several_the_longest_is_shown() {
        let mut test = TestReport::new("shop", "shop", "waits");
        test.reason = Some(Timing::Race);
        test.culprits = vec![delayed(3, 3_000_000)];
        assert_eq!(needed(&test), "needs a delay of 3 ms");
        test.culprits.push(delayed(4, 2_000_000));
        assert_eq!(needed(&test), "needs 2 delays of 5 ms in total");
        let mut of_another = delayed(5, 4_000_000);
        of_another.call.as_mut().unwrap().thread = "0.2".to_owned();
        test.culprits.push(of_another);
        assert_eq!(needed(&test), "needs delays of 2 threads, one of them by 5 ms");
        test.culprits[0].number = None;
        assert_eq!(needed(&test), "needs an injected delay");
    }

    #[test]
    fn a_test_that_fails_without_a_delay_does_not_need_one() {
        let mut test = TestReport::new("shop", "shop", "waits");
        test.reason = Some(Timing::Race);
        test.culprits = vec![delayed(3, 3_000_000)];
        test.failures = vec![FailureReport::new(Outcome::Failed, None)];
        assert_eq!(needed(&test), "passes with a delay of 3 ms");
        test.culprits.clear();
        assert_eq!(needed(&test), "may pass with an injected delay");
    }

    #[test]
    fn a_map_order_is_not_said_to_be_a_waiting_thread_that_must_be_woken() {
        let keys = || Culprit {
            kind: Kind::Permute,
            ..suspect(&model::HASH_MAP_KEYS, Family::HashMap, 9)
        };
        let confirmed = |culprit: Culprit| Culprit { confirmed: true, ..culprit };
        let both = test(vec![confirmed(keys()), confirmed(delayed(18, 3_000_000))]);
        assert_eq!(needed(&both), "depends on the order of `HashMap::keys` and a delay of 3 ms");
        let notified = Culprit {
            kind: Kind::Permute,
            ..suspect(&model::CONDVAR_NOTIFY_ONE, Family::Schedule, 9)
        };
        let woken = test(vec![notified.clone()]);
        assert_eq!(needed(&woken), "needs another waiting thread to be woken");
        let all = [keys(), notified, delayed(18, 3_000_000)].map(confirmed);
        assert_eq!(
            needed(&test(all.into())),
            "depends on the order of `HashMap::keys`, a delay of 3 ms and which waiting thread is \
             woken"
        );
        // An order that is only suspected.
        assert_eq!(needed(&test(vec![keys()])), "may depend on the order of `HashMap::keys`");
    }
}
