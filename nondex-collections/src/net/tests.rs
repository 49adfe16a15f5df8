//! What is recorded, refused and left alone. Nothing here reaches another machine: targets are refused by the run, or by
//! the system before it sends anything, or the real call is replaced.

use ::std::io::{self, ErrorKind, Read, Write};
use ::std::sync::Arc;
use ::std::time::Duration;

use nondex_core::context::{Context, enter};
use nondex_core::network::{Meaning, target};
use nondex_core::{Caller, Level, NetworkMode, NetworkOutcome, NetworkRecord, RunSpec};

use super::operation::Treatment;
use super::*;

/// An address that is set aside for documentation.
pub(super) const ELSEWHERE: &str = "192.0.2.1:80";

/// No stream can be connected to a group, and no datagram sent to everyone without leave: the system says so at once.
const GROUP: &str = "224.0.0.1:80";
const EVERYONE: &str = "255.255.255.255:9";

/// A place to call the inner functions from.
pub(super) const CALLER: Caller = Caller {
    file: "src/lib.rs",
    line: 3,
    column: 9,
};

pub(super) fn run(network: NetworkMode) -> Arc<Context> {
    Context::new(RunSpec {
        network,
        ..RunSpec::clean("t")
    })
}

/// What a test saw of the network when it did this.
pub(super) fn seen(context: &Arc<Context>, test: impl FnOnce()) -> Vec<NetworkRecord> {
    let entered = enter(context, "t");
    test();
    drop(entered);
    context.network_of("t")
}

/// Operation, target and outcome of each.
pub(super) fn told<'a>(
    records: &'a [NetworkRecord],
) -> Vec<(&'a str, &'a str, &'a NetworkOutcome)> {
    let told = |record: &'a NetworkRecord| {
        (
            record.operation.as_str(),
            record.target.as_str(),
            &record.outcome,
        )
    };
    records.iter().map(told).collect()
}

pub(super) fn failed(error: &str) -> NetworkOutcome {
    NetworkOutcome::Failed(error.to_owned())
}

/// Two sockets of this machine, each of which can send to the other.
pub(super) fn pair() -> (UdpSocket, UdpSocket) {
    let bind = || UdpSocket::bind("127.0.0.1:0").unwrap();
    (bind(), bind())
}

#[test]
fn this_machine_is_reached_unrecorded_whatever_the_run_does() {
    for mode in [
        NetworkMode::Off,
        NetworkMode::Observe,
        NetworkMode::Block,
        NetworkMode::Fault,
    ] {
        let records = seen(&run(mode), || {
            let listener = TcpListener::bind(("localhost", 0)).unwrap();
            let address = listener.local_addr().unwrap();
            let mut client = TcpStream::connect(&[address][..]).unwrap();
            let mut server = listener.incoming().next().unwrap().unwrap();
            client.write_all(b"ping").unwrap();
            let mut text = [0; 4];
            (&server).read_exact(&mut text).unwrap();
            assert_eq!(&text, b"ping");
            server.flush().unwrap();
            TcpStream::connect_timeout(&address, Duration::from_secs(60)).unwrap();

            let (a, b) = pair();
            a.send_to(b"ping", b.local_addr().unwrap()).unwrap();
            b.connect(a.local_addr().unwrap()).unwrap();
            b.send(b"pong").unwrap();
            assert_eq!(a.peek(&mut text).unwrap(), 4);
            assert_eq!(
                a.recv_from(&mut text).unwrap(),
                (4, b.local_addr().unwrap())
            );
            // Most likely nobody listens there any more.
            drop(listener);
            _ = TcpStream::connect(address);
        });
        assert_eq!(told(&records), [], "{mode:?}");
    }
}

#[test]
fn a_blocked_connection_fails_at_once_and_names_its_place() {
    let line = line!() + 3;
    let records = seen(&run(NetworkMode::Block), || {
        for attempt in [
            || TcpStream::connect(ELSEWHERE),
            || TcpStream::connect_timeout(&ELSEWHERE.parse().unwrap(), Duration::from_secs(60)),
        ] {
            let error = attempt().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
            assert!(error.raw_os_error().is_some(), "as the system has it");
        }
    });
    let refused = failed("ENETUNREACH");
    assert_eq!(told(&records), [("connect", ELSEWHERE, &refused); 2]);
    for (record, line) in records.iter().zip(line..) {
        assert_eq!(record.meaning(), Meaning::Absent);
        assert!(
            record.site.contains(&format!("src/net/tests.rs:{line}:")),
            "{}",
            record.site
        );
        assert!(record.stack[0].file.ends_with("src/net/tests.rs"));
        assert_eq!(record.stack[0].line, line);
    }
}

#[test]
fn each_address_that_is_tried_is_an_operation_of_its_own() {
    let addresses = [ELSEWHERE, "[2001:db8::1]:80"].map(|address| address.parse().unwrap());
    let records = seen(&run(NetworkMode::Block), || {
        TcpStream::connect(&addresses[..]).unwrap_err();
    });
    let refused = failed("ENETUNREACH");
    assert_eq!(
        told(&records),
        [
            ("connect", ELSEWHERE, &refused),
            ("connect", "[2001:db8::1]:80", &refused)
        ]
    );

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addresses = [ELSEWHERE.parse().unwrap(), listener.local_addr().unwrap()];
    let records = seen(&run(NetworkMode::Block), || {
        let stream = TcpStream::connect(&addresses[..]).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), addresses[1]);
    });
    assert_eq!(told(&records), [("connect", ELSEWHERE, &refused)]);
}

#[test]
fn allowed_hosts_are_reached_although_the_network_is_blocked() {
    let context = Context::new(RunSpec {
        network: NetworkMode::Block,
        network_allow: vec!["192.0.2.9".to_owned(), "*.open.example".to_owned()],
        ..RunSpec::clean("t")
    });
    let records = seen(&context, || {
        let found = |address: &str| Ok(vec![address.parse().unwrap()].into_iter());
        lookup::look_up(Some("a.open.example"), CALLER, || found("192.0.2.10:80")).unwrap();
        lookup::look_up(Some("a.shut.example"), CALLER, || found("192.0.2.11:80")).unwrap_err();
        for (address, is_open) in [
            ("192.0.2.9:80", true),
            // It was resolved from an allowed name.
            ("192.0.2.10:80", true),
            ("192.0.2.11:80", false),
        ] {
            let treatment = operation::connecting(&address.parse().unwrap(), CALLER);
            let observed = matches!(treatment, Treatment::Observe);
            assert_eq!(observed, is_open, "{address}");
        }
    });
    assert_eq!(
        told(&records),
        [
            ("connect", "192.0.2.11:80", &failed("ENETUNREACH")),
            ("getaddrinfo", "a.open.example", &NetworkOutcome::Answered),
            ("getaddrinfo", "a.shut.example", &failed("EAI_AGAIN")),
        ]
    );
}

#[test]
fn an_error_of_the_system_is_recorded_by_its_name() {
    let records = seen(&run(NetworkMode::Observe), || {
        TcpStream::connect(GROUP).unwrap_err();
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.send_to(b"x", EVERYONE).unwrap_err();
    });
    let [(connect, GROUP, connected), (send, EVERYONE, sent)] = told(&records)[..] else {
        panic!("{records:?}");
    };
    assert_eq!((connect, send), ("connect", "send"));
    assert!(
        [connected, sent]
            .iter()
            .all(|outcome| matches!(outcome, NetworkOutcome::Failed(_)))
    );
    for record in &records {
        assert_eq!(record.meaning(), Meaning::Absent, "{record:?}");
    }
}

#[test]
fn a_connection_is_answered_or_failed_or_still_awaited() {
    let reach = |context: &Arc<Context>, result: fn() -> io::Error| {
        let records = seen(context, || {
            let target = ELSEWHERE.parse().unwrap();
            TcpStream::reach(&target, CALLER, || Err(result())).unwrap_err();
        });
        records[0].outcome.clone()
    };
    for (result, outcome) in [
        (
            (|| error::named("ECONNREFUSED")) as fn() -> io::Error,
            failed("ECONNREFUSED"),
        ),
        (|| error::named("ETIMEDOUT"), failed("ETIMEDOUT")),
        (
            || io::Error::new(ErrorKind::TimedOut, "connection timed out"),
            NetworkOutcome::Pending,
        ),
    ] {
        assert_eq!(reach(&run(NetworkMode::Observe), result), outcome);
    }
    let records = seen(&run(NetworkMode::Observe), || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        let call = || ::std::net::TcpStream::connect(local);
        let mut stream = TcpStream::reach(&ELSEWHERE.parse().unwrap(), CALLER, call).unwrap();
        // What cannot be sent to another machine is an operation of its own.
        stream.shutdown(Shutdown::Write).unwrap();
        let mut clone = stream.try_clone().unwrap();
        assert_eq!(clone.write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
        stream
            .write_vectored(&[io::IoSlice::new(b"x")])
            .unwrap_err();
    });
    assert_eq!(
        told(&records),
        [
            ("connect", ELSEWHERE, &NetworkOutcome::Answered),
            ("send", ELSEWHERE, &failed("EPIPE")),
            ("send", ELSEWHERE, &failed("EPIPE")),
        ]
    );
}

#[test]
fn the_seed_decides_which_operations_fail_and_how() {
    let outcomes = |seed| {
        let context = Context::new(RunSpec {
            network: NetworkMode::Fault,
            ..RunSpec::new("t", Level::Full, seed)
        });
        let records = seen(&context, || {
            let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
            for _ in 0..4 {
                TcpStream::connect(GROUP).unwrap_err();
                socket.send_to(b"x", EVERYONE).unwrap_err();
                _ = lookup::look_up(Some("a.example"), CALLER, || Ok(vec![].into_iter()));
            }
        });
        for record in &records {
            let is_injected =
                matches!(&record.outcome, NetworkOutcome::Failed(e) if e.contains("seed"));
            assert!(
                !is_injected || record.meaning() == Meaning::Other,
                "{record:?}"
            );
        }
        let of = |record: NetworkRecord| (record.operation, record.outcome, record.count);
        records.into_iter().map(of).collect::<Vec<_>>()
    };
    let all: Vec<_> = (0..32).map(outcomes).collect();
    for (seed, found) in (0..).zip(&all) {
        assert_eq!(found.iter().map(|(.., count)| count).sum::<u64>(), 12);
        assert_eq!(*found, outcomes(seed), "{seed}");
    }
    let injected = |operation: &str, error: &str| {
        let outcome = failed(&format!("{error} (from the seed)"));
        let mut found = all.iter().flatten();
        found.any(|(of, with, _)| of == operation && *with == outcome)
    };
    for (operation, errors) in [
        (
            "connect",
            &["ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ETIMEDOUT"][..],
        ),
        ("send", &["ENETUNREACH", "EHOSTUNREACH", "EPERM"]),
        ("getaddrinfo", &["EAI_AGAIN", "EAI_FAIL"]),
    ] {
        for error in errors {
            assert!(injected(operation, error), "{operation} {error}");
        }
    }
}

#[test]
fn nothing_is_recorded_when_the_network_is_not_looked_at() {
    let records = seen(&run(NetworkMode::Off), || {
        TcpStream::connect(GROUP).unwrap_err();
        let found = || Ok(vec![].into_iter());
        lookup::look_up(Some("a.example"), CALLER, found).unwrap();
    });
    assert_eq!(told(&records), []);
}

#[test]
fn an_address_is_recorded_with_the_name_it_was_resolved_from() {
    let records = seen(&run(NetworkMode::Block), || {
        target::remember("192.0.2.66".parse().unwrap(), "named.example");
        TcpStream::connect("192.0.2.66:443").unwrap_err();
    });
    assert_eq!(records[0].host.as_deref(), Some("named.example"));
}

/// Compiles only if std's type and ours have these in common, and prints the same.
#[cfg(unix)]
macro_rules! alike {
    ($name:ident: $type:ident, $make:expr, $check:expr) => {
        #[test]
        fn $name() {
            fn has<T>()
            where
                T: ::std::fmt::Debug + Send + Sync + Unpin + 'static,
                T: ::std::panic::UnwindSafe + ::std::panic::RefUnwindSafe,
                T: ::std::os::fd::AsFd + ::std::os::fd::AsRawFd,
                T: ::std::os::fd::FromRawFd + ::std::os::fd::IntoRawFd,
                T: From<::std::os::fd::OwnedFd> + Into<::std::os::fd::OwnedFd>,
            {
            }
            has::<$type>();
            has::<::std::net::$type>();
            let ours: $type = $make;
            let printed = format!("{ours:?}");
            let theirs = ::std::net::$type::from(::std::os::fd::OwnedFd::from(ours));
            assert_eq!(printed, format!("{theirs:?}"));
            let ours = $type::from(::std::os::fd::OwnedFd::from(theirs));
            let check: fn($type) = $check;
            check(ours);
        }
    };
}

#[cfg(unix)]
alike!(a_listener_is_converted_and_printed_as_stds: TcpListener, TcpListener::bind("127.0.0.1:0").unwrap(), |listener| {
    assert!(listener.local_addr().unwrap().ip().is_loopback());
    assert!(listener.take_error().unwrap().is_none());
});

#[cfg(unix)]
alike!(a_stream_is_converted_and_printed_as_stds: TcpStream, {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    TcpStream::connect(listener.local_addr().unwrap()).unwrap()
}, |stream| {
    stream.set_nodelay(true).unwrap();
    assert!(stream.nodelay().unwrap());
});

#[cfg(unix)]
alike!(a_socket_is_converted_and_printed_as_stds: UdpSocket, UdpSocket::bind("127.0.0.1:0").unwrap(), |socket| {
    socket.set_broadcast(true).unwrap();
    assert!(socket.broadcast().unwrap());
});
