//! Tests every rule as a row of a table.

use nondex_core::NetworkOutcome;
use nondex_core::protocol::network::{CHILD, ROUTE, SEND};

use super::*;

fn record(operation: &str, target: &str, outcome: NetworkOutcome) -> NetworkRecord {
    NetworkRecord {
        operation: operation.to_owned(),
        target: target.to_owned(),
        host: None,
        outcome,
        thread: "0".to_owned(),
        site: "stack:1".to_owned(),
        count: 1,
        elapsed_ms: 0,
        stack: Vec::new(),
    }
}

fn failed(operation: &str, target: &str, error: &str) -> NetworkRecord {
    record(operation, target, NetworkOutcome::Failed(error.to_owned()))
}

fn of_host(host: &str, record: NetworkRecord) -> NetworkRecord {
    NetworkRecord { host: Some(host.to_owned()), ..record }
}

const HOST: &str = "example.com";
const ADDRESS: &str = "192.0.2.1:80";

/// Returns whether a run with these operations is explained, online and offline.
fn explained(failing: &[NetworkRecord], passing: &[&[NetworkRecord]]) -> (bool, bool) {
    let [online, offline] = [false, true].map(|offline| {
        !reason(failing, Ending::default(), passing, &Canary::known(offline)).is_empty()
    });
    (online, offline)
}

const ALWAYS: (bool, bool) = (true, true);
const OFFLINE: (bool, bool) = (false, true);
const NEVER: (bool, bool) = (false, false);

#[test]
fn an_error_counts_as_its_row_says() {
    for (operation, error, expected) in [
        ("getaddrinfo", "EAI_AGAIN", ALWAYS),
        ("getaddrinfo", "EAI_FAIL", ALWAYS),
        ("getaddrinfo", "EAI_SYSTEM", ALWAYS),
        ("getaddrinfo", "EAI_NONAME", OFFLINE),
        ("getaddrinfo", "EAI_NODATA", OFFLINE),
        ("getaddrinfo", "EAI_SERVICE", NEVER),
        ("getaddrinfo", "EAI_BADFLAGS", NEVER),
        ("getaddrinfo", "EAI_FAMILY", NEVER),
        ("getaddrinfo", "EAI_MEMORY", NEVER),
        ("connect", "ENETUNREACH", ALWAYS),
        ("connect", "EHOSTUNREACH", ALWAYS),
        ("connect", "ENETDOWN", ALWAYS),
        ("connect", "ETIMEDOUT", ALWAYS),
        ("connect", "EADDRNOTAVAIL", ALWAYS),
        ("connect", "EACCES", ALWAYS),
        ("connect", "EPERM", ALWAYS),
        ("send", "ENETUNREACH", ALWAYS),
        ("send", "EPERM", ALWAYS),
        ("connect", "ECONNREFUSED", OFFLINE),
        ("connect", "ECONNRESET", OFFLINE),
        ("connect", "EINPROGRESS", NEVER),
        ("connect", "EAGAIN", NEVER),
        ("connect", "EINTR", NEVER),
        ("connect", "EINVAL", NEVER),
        ("connect", "EAFNOSUPPORT", NEVER),
        ("connect", "EADDRINUSE", NEVER),
        ("send", "EMSGSIZE", NEVER),
        ("send", "EPIPE", NEVER),
        ("connect", "errno 999", NEVER),
    ] {
        let run = [failed(operation, ADDRESS, error)];
        assert_eq!(explained(&run, &[]), expected, "{operation} {error}");
    }
}

#[test]
fn what_has_no_answer_counts_and_what_has_one_does_not() {
    use NetworkOutcome::{Answered, Pending};
    for operation in ["connect", "getaddrinfo"] {
        assert_eq!(explained(&[record(operation, ADDRESS, Pending)], &[]), ALWAYS);
        assert_eq!(explained(&[record(operation, ADDRESS, Answered)], &[]), NEVER);
    }
    assert_eq!(explained(&[], &[]), NEVER);
}

#[test]
fn a_datagram_without_an_answer_counts_if_it_was_waited_for_in_vain() {
    use NetworkOutcome::{Answered, Awaited, Pending, Unawaited};
    let counts = |outcome, is_hang| {
        let run = [record(SEND, ADDRESS, outcome)];
        let ending = Ending { is_hang, message: "" };
        !reason(&run, ending, &[], &Canary::known(true)).is_empty()
    };
    for (outcome, in_a_hang, otherwise) in [
        (Pending, true, true),
        (Awaited, true, false),
        (Unawaited, false, false),
        (Answered, false, false),
    ] {
        assert_eq!(
            (counts(outcome.clone(), true), counts(outcome.clone(), false)),
            (in_a_hang, otherwise),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_route_that_was_not_found_counts_if_the_failure_speaks_of_it() {
    let run = [failed(ROUTE, ADDRESS, "ENETUNREACH")];
    let counts = |message| {
        let ending = Ending { is_hang: false, message };
        !reason(&run, ending, &[], &Canary::known(true)).is_empty()
    };
    assert!(counts(
        "called `Result::unwrap()` on an `Err` value: \
         Os { code: 101, kind: NetworkUnreachable, .. }"
    ));
    assert!(!counts("assertion `left == right` failed\n  left: 2\n right: 3"));
}

#[test]
fn an_error_that_a_passing_run_meets_too_does_not_count() {
    let unreachable = || failed("connect", ADDRESS, "ENETUNREACH");
    assert_eq!(explained(&[unreachable()], &[&[unreachable()]]), NEVER);
    assert_eq!(explained(&[unreachable()], &[&[]]), ALWAYS);
    let others = [
        failed("connect", ADDRESS, "ETIMEDOUT"),
        failed("connect", "192.0.2.2:80", "ENETUNREACH"),
        failed("send", ADDRESS, "ENETUNREACH"),
    ];
    assert_eq!(explained(&[unreachable()], &[&others]), ALWAYS);
    // A server has several addresses, and their order changes.
    let first = of_host(HOST, unreachable());
    let second = of_host(HOST, failed("connect", "192.0.2.2:80", "ENETUNREACH"));
    assert_eq!(explained(&[first], &[&[second]]), NEVER);
}

#[test]
fn an_error_of_a_passing_run_that_reached_the_host_otherwise_excuses_nothing() {
    let dead = || of_host(HOST, failed("connect", "[2001:db8::1]:80", "ENETUNREACH"));
    let alive = of_host(HOST, record("connect", ADDRESS, NetworkOutcome::Answered));
    assert_eq!(explained(&[dead()], &[&[dead(), alive]]), ALWAYS);
    assert_eq!(explained(&[dead()], &[&[dead()]]), NEVER);
}

#[test]
fn an_error_from_the_seed_explains_nothing() {
    for error in ["ENETUNREACH", "ETIMEDOUT", "EAI_AGAIN"] {
        let run = [failed("connect", ADDRESS, &format!("{error} (from the seed)"))];
        assert_eq!(explained(&run, &[]), NEVER);
    }
}

#[test]
fn one_dead_family_of_a_host_that_was_reached_does_not_count() {
    let dead = || of_host(HOST, failed("connect", "[2001:db8::1]:80", "ENETUNREACH"));
    let alive = || of_host(HOST, record("connect", ADDRESS, NetworkOutcome::Answered));
    let other_host = of_host("other.example", alive());
    assert_eq!(explained(&[dead(), alive()], &[]), NEVER);
    assert_eq!(explained(&[dead(), other_host], &[]), ALWAYS);
}

#[test]
fn a_lookup_that_succeeded_when_it_was_tried_again_does_not_count() {
    let again = [
        failed("getaddrinfo", HOST, "EAI_AGAIN"),
        record("getaddrinfo", HOST, NetworkOutcome::Answered),
    ];
    assert_eq!(explained(&again, &[]), NEVER);
    // The name was found, but not the host.
    let found = [
        record("getaddrinfo", HOST, NetworkOutcome::Answered),
        of_host(HOST, failed("connect", ADDRESS, "ETIMEDOUT")),
    ];
    assert_eq!(explained(&found, &[]), ALWAYS);
}

#[test]
fn a_program_that_cannot_be_observed_counts_only_where_the_machine_itself_is_offline() {
    let child = |outcome| of_host(HOST, record(CHILD, "program", outcome));
    let ended = |error: &str| child(NetworkOutcome::Failed(error.to_owned()));
    for (run, expected) in [
        (ended("exit status 1"), OFFLINE),
        (ended("signal 9"), OFFLINE),
        // The child's own output is no error of the test.
        (ended("EAI_AGAIN"), OFFLINE),
        (child(NetworkOutcome::Pending), OFFLINE),
        (child(NetworkOutcome::Answered), NEVER),
    ] {
        let run = [run];
        assert_eq!(explained(&run, &[]), expected, "{run:?}");
        assert_eq!(explained(&run, &[&run]), NEVER, "{run:?}");
    }
    let again = [ended("exit status 1"), child(NetworkOutcome::Answered)];
    assert_eq!(explained(&again, &[]), NEVER);
    // Blocking the test's network does not block the child.
    let blocked = Canary::known(false).blocked();
    assert!(reason(&[ended("exit status 1")], Ending::default(), &[], &blocked).is_empty());
    let refused = [failed("connect", ADDRESS, "ECONNREFUSED")];
    assert_eq!(reason(&refused, Ending::default(), &[], &blocked), [&refused[0]]);
}

#[test]
fn the_reason_names_what_counts_and_nothing_else() {
    let run = [failed("connect", ADDRESS, "EINVAL"), failed("connect", ADDRESS, "ENETUNREACH")];
    assert_eq!(reason(&run, Ending::default(), &[], &Canary::known(false)), [&run[1]]);
}
