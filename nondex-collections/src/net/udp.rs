//! `UdpSocket`.

use ::std::io;
use ::std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use ::std::sync::Arc;
use ::std::time::Duration;

use super::conversation::Conversation;
use super::delegate::{conversions, methods};
use super::{ToSocketAddrs, lookup};
use crate::caller::caller;

/// As [`::std::net::UdpSocket`].
pub struct UdpSocket {
    inner: ::std::net::UdpSocket,
    /// Shared with its clones, one of which may send what another receives an answer to.
    pub(super) conversation: Arc<Conversation>,
}

impl UdpSocket {
    fn of(inner: ::std::net::UdpSocket) -> UdpSocket {
        UdpSocket {
            inner,
            conversation: Arc::default(),
        }
    }

    /// As [`::std::net::UdpSocket::bind`].
    ///
    /// # Errors
    /// As std's, and when a name is to be looked up and the run does not let it.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<UdpSocket> {
        lookup::each(addr, |addr| ::std::net::UdpSocket::bind(addr)).map(UdpSocket::of)
    }

    /// As [`::std::net::UdpSocket::connect`].
    ///
    /// # Errors
    /// As std's, and when the run blocks the network or makes it fail.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        let caller = caller();
        lookup::each(addr, |target| {
            let call = || self.inner.connect(target);
            self.conversation.connect(target, caller, call)
        })
    }

    /// As [`::std::net::UdpSocket::send_to`].
    ///
    /// # Errors
    /// As std's, and when the run blocks the network or makes it fail.
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addr: A) -> io::Result<usize> {
        let Some(target) = addr.to_socket_addrs()?.next() else {
            let none: &[SocketAddr] = &[];
            return self.inner.send_to(buf, none);
        };
        let call = || self.inner.send_to(buf, target);
        self.conversation.send_to(&target, caller(), call)
    }

    /// As [`::std::net::UdpSocket::send`].
    ///
    /// # Errors
    /// As std's.
    #[track_caller]
    pub fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.conversation.send(caller(), || self.inner.send(buf))
    }

    /// As [`::std::net::UdpSocket::recv`].
    ///
    /// # Errors
    /// As std's.
    pub fn recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.conversation.received(self.inner.recv(buf))
    }

    /// As [`::std::net::UdpSocket::recv_from`].
    ///
    /// # Errors
    /// As std's.
    pub fn recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.conversation.received(self.inner.recv_from(buf))
    }

    /// As [`::std::net::UdpSocket::peek`].
    ///
    /// # Errors
    /// As std's.
    pub fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.conversation.received(self.inner.peek(buf))
    }

    /// As [`::std::net::UdpSocket::peek_from`].
    ///
    /// # Errors
    /// As std's.
    pub fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.conversation.received(self.inner.peek_from(buf))
    }

    /// As [`::std::net::UdpSocket::take_error`].
    ///
    /// # Errors
    /// As std's.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        let error = self.inner.take_error()?;
        if let Some(error) = &error {
            self.conversation.failed(error);
        }
        Ok(error)
    }

    /// As [`::std::net::UdpSocket::try_clone`].
    ///
    /// # Errors
    /// As std's.
    pub fn try_clone(&self) -> io::Result<UdpSocket> {
        Ok(UdpSocket {
            inner: self.inner.try_clone()?,
            conversation: Arc::clone(&self.conversation),
        })
    }
}

methods!(UdpSocket:
    fn broadcast(&self) -> io::Result<bool>;
    fn join_multicast_v4(&self, multiaddr: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()>;
    fn join_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()>;
    fn leave_multicast_v4(&self, multiaddr: &Ipv4Addr, interface: &Ipv4Addr) -> io::Result<()>;
    fn leave_multicast_v6(&self, multiaddr: &Ipv6Addr, interface: u32) -> io::Result<()>;
    fn local_addr(&self) -> io::Result<SocketAddr>;
    fn multicast_loop_v4(&self) -> io::Result<bool>;
    fn multicast_loop_v6(&self) -> io::Result<bool>;
    fn multicast_ttl_v4(&self) -> io::Result<u32>;
    fn peer_addr(&self) -> io::Result<SocketAddr>;
    fn read_timeout(&self) -> io::Result<Option<Duration>>;
    fn set_broadcast(&self, broadcast: bool) -> io::Result<()>;
    fn set_multicast_loop_v4(&self, multicast_loop_v4: bool) -> io::Result<()>;
    fn set_multicast_loop_v6(&self, multicast_loop_v6: bool) -> io::Result<()>;
    fn set_multicast_ttl_v4(&self, multicast_ttl_v4: u32) -> io::Result<()>;
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()>;
    fn set_read_timeout(&self, dur: Option<Duration>) -> io::Result<()>;
    fn set_ttl(&self, ttl: u32) -> io::Result<()>;
    fn set_write_timeout(&self, dur: Option<Duration>) -> io::Result<()>;
    fn ttl(&self) -> io::Result<u32>;
    fn write_timeout(&self) -> io::Result<Option<Duration>>;
);

conversions!(UdpSocket);
