//! What becomes of datagrams.

use ::std::io::ErrorKind;

use nondex_core::{NetworkMode, NetworkOutcome};

use super::Conversation;
use crate::net::tests::{CALLER, ELSEWHERE, failed, pair, run, seen, told};
use crate::net::{UdpSocket, error};

#[test]
fn a_blocked_datagram_is_not_sent() {
    let records = seen(&run(NetworkMode::Block), || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        let error = socket.send_to(b"x", ELSEWHERE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
        let error = socket.connect(ELSEWHERE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
        assert_eq!(socket.send(b"x").unwrap_err().kind(), unconnected());
    });
    let refused = failed("ENETUNREACH");
    assert_eq!(
        told(&records),
        [
            ("connect", ELSEWHERE, &refused),
            ("send", ELSEWHERE, &refused)
        ]
    );
}

/// How sending fails from a socket that is not connected.
fn unconnected() -> ErrorKind {
    let socket = ::std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.send(b"x").unwrap_err().kind()
}

#[test]
fn datagrams_are_pending_until_something_is_received_by_any_clone() {
    let (socket, other) = pair();
    let sent = |target: &str| {
        let target = target.parse().unwrap();
        let result = socket.conversation.send_to(&target, CALLER, || Ok(1));
        result.unwrap();
    };
    let observe = run(NetworkMode::Observe);
    let records = seen(&observe, || {
        sent("192.0.2.1:53");
        sent("192.0.2.1:53");
        sent("224.0.0.251:5353");
        // Nothing came in that time.
        socket.set_nonblocking(true).unwrap();
        socket.recv(&mut [0]).unwrap_err();
    });
    let pending = [("send", "192.0.2.1:53", &NetworkOutcome::Pending)];
    assert_eq!(told(&records), pending, "a group need not answer");
    let records = seen(&observe, || {
        other.send_to(b"x", socket.local_addr().unwrap()).unwrap();
        let clone = socket.try_clone().unwrap();
        clone.set_nonblocking(false).unwrap();
        clone.recv_from(&mut [0]).unwrap();
        sent("192.0.2.2:53");
    });
    let answered = [("send", "192.0.2.1:53", &NetworkOutcome::Answered)];
    assert_eq!(told(&records), answered);
}

#[test]
fn an_error_that_comes_back_ends_what_was_sent() {
    for (error, outcome) in [
        ("ECONNREFUSED", failed("ECONNREFUSED")),
        ("EHOSTUNREACH", failed("EHOSTUNREACH")),
        ("ETIMEDOUT", NetworkOutcome::Pending),
        ("EAGAIN", NetworkOutcome::Pending),
        ("EMSGSIZE", NetworkOutcome::Answered),
    ] {
        let conversation = Conversation::default();
        let records = seen(&run(NetworkMode::Observe), || {
            let target = ELSEWHERE.parse().unwrap();
            conversation.connect(&target, CALLER, || Ok(())).unwrap();
            conversation.send(CALLER, || Ok(1)).unwrap();
            let received = Err(error::named(error));
            conversation.received::<()>(received).unwrap_err();
        });
        assert_eq!(told(&records), [("send", ELSEWHERE, &outcome)], "{error}");
    }
}
