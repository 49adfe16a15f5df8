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
const ELSEWHERE: &str = "192.0.2.1:80";

/// No stream can be connected to a group, and no datagram sent to everyone without leave: the system says so at once.
const GROUP: &str = "224.0.0.1:80";
const EVERYONE: &str = "255.255.255.255:9";

/// A place to call the inner functions from.
const CALLER: Caller = Caller {
    file: "src/lib.rs",
    line: 3,
    column: 9,
};

fn run(network: NetworkMode) -> Arc<Context> {
    Context::new(RunSpec {
        network,
        ..RunSpec::clean("t")
    })
}

/// What a test saw of the network when it did this.
fn seen(context: &Arc<Context>, test: impl FnOnce()) -> Vec<NetworkRecord> {
    let entered = enter(context, "t");
    test();
    drop(entered);
    context.network_of("t")
}

/// Operation, target and outcome of each.
fn told<'a>(records: &'a [NetworkRecord]) -> Vec<(&'a str, &'a str, &'a NetworkOutcome)> {
    let told = |record: &'a NetworkRecord| {
        (
            record.operation.as_str(),
            record.target.as_str(),
            &record.outcome,
        )
    };
    records.iter().map(told).collect()
}

fn failed(error: &str) -> NetworkOutcome {
    NetworkOutcome::Failed(error.to_owned())
}

/// Two sockets of this machine, each of which can send to the other.
fn pair() -> (UdpSocket, UdpSocket) {
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
            // A port that nobody listens at.
            drop(listener);
            TcpStream::connect(address).unwrap_err();
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
    assert_eq!(refused.meaning(), Meaning::Absent);
    for (record, line) in records.iter().zip(line..) {
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
fn a_blocked_lookup_fails_at_once_whatever_form_the_name_has() {
    fn refused<A: ToSocketAddrs>(address: A) {
        assert!(address.to_socket_addrs().is_err());
    }
    let first = line!() + 2;
    let records = seen(&run(NetworkMode::Block), || {
        assert!("a.example:80".to_socket_addrs().is_err());
        assert!(String::from("b.example:80").to_socket_addrs().is_err());
        assert!(("c.example", 80).to_socket_addrs().is_err());
        assert!((String::from("d.example"), 80).to_socket_addrs().is_err());
        assert!(TcpStream::connect::<&&str>(&"e.example.:80").is_err());
        refused::<&(&str, u16)>(&("f.example", 80));
        UdpSocket::bind("g.example:80").unwrap_err();
    });
    let again = failed("EAI_AGAIN");
    let names = ["a", "b", "c", "d", "e", "f", "g"]
        .map(|name| format!("{name}.example{}", if name == "e" { "." } else { "" }));
    assert_eq!(
        told(&records),
        names
            .each_ref()
            .map(|name| ("getaddrinfo", name.as_str(), &again))
    );
    for (record, line) in records.iter().zip(first..first + 5) {
        assert_eq!(record.stack[0].line, line, "{}", record.target);
    }
}

#[test]
fn what_is_no_name_of_another_machine_is_not_looked_up_anywhere() {
    let records = seen(&run(NetworkMode::Block), || {
        assert_eq!("127.0.0.1:80".to_socket_addrs().unwrap().count(), 1);
        assert_eq!("[2001:db8::1]:80".to_socket_addrs().unwrap().count(), 1);
        assert_eq!(("192.0.2.1", 80).to_socket_addrs().unwrap().count(), 1);
        assert!("localhost:80".to_socket_addrs().is_ok());
        for (text, message) in [
            ("a.example", "invalid socket address"),
            ("a.example:http", "invalid port value"),
        ] {
            let error = text.to_socket_addrs().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!(error.to_string(), message);
        }
        // std's own errors when there is no address at all.
        let none: &[SocketAddr] = &[];
        for error in [
            TcpStream::connect(none).unwrap_err(),
            pair().0.send_to(b"x", none).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        }
    });
    assert_eq!(told(&records), []);
}

#[test]
fn everything_that_stands_for_addresses_in_std_does_so_here_with_the_same_iterator() {
    fn same<A>(address: A)
    where
        A: ToSocketAddrs + ::std::net::ToSocketAddrs<Iter = <A as ToSocketAddrs>::Iter>,
    {
        let theirs = ::std::net::ToSocketAddrs::to_socket_addrs(&address).unwrap();
        let ours = ToSocketAddrs::to_socket_addrs(&address).unwrap();
        assert!(ours.eq(theirs));
    }
    let v4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80);
    let v6 = SocketAddrV6::new(Ipv6Addr::LOCALHOST, 80, 0, 3);
    same(SocketAddr::V4(v4));
    same(v4);
    same(v6);
    same((IpAddr::V6(*v6.ip()), 80));
    same((*v4.ip(), 80));
    same((*v6.ip(), 80));
    same(("127.0.0.1", 80));
    same((String::from("::1"), 80));
    same("127.0.0.1:80");
    same(String::from("[::1]:80"));
    same(&[SocketAddr::V4(v4), SocketAddr::V6(v6)][..]);
    same(&&v4);
}

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
    for outcome in [connected, sent] {
        assert_eq!(outcome.meaning(), Meaning::Absent, "{outcome:?}");
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
        let conversation = conversation::Conversation::default();
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
        assert_eq!(outcome.meaning(), Meaning::Other);
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
