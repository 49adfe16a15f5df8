//! Which lookups are seen and refused.

use ::std::io::ErrorKind;
use ::std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use nondex_core::NetworkMode;

use crate::net::tests::{failed, pair, run, seen, told};
use crate::net::{TcpStream, ToSocketAddrs, UdpSocket};

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
