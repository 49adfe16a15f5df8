//! `TcpListener` and `Incoming`: nothing here concerns another machine before it connects, but its streams are ours.

use ::std::io;
use ::std::iter::FusedIterator;
use ::std::net::SocketAddr;

use super::delegate::{conversions, methods};
use super::{TcpStream, ToSocketAddrs, lookup};

/// As [`::std::net::TcpListener`].
pub struct TcpListener {
    inner: ::std::net::TcpListener,
}

impl TcpListener {
    const fn of(inner: ::std::net::TcpListener) -> TcpListener {
        TcpListener { inner }
    }

    /// As [`::std::net::TcpListener::bind`].
    ///
    /// # Errors
    /// As std's, and when a name is to be looked up and the run does not let it.
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<TcpListener> {
        lookup::each(addr, |addr| ::std::net::TcpListener::bind(addr)).map(TcpListener::of)
    }

    /// As [`::std::net::TcpListener::accept`].
    ///
    /// # Errors
    /// As std's.
    pub fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = self.inner.accept()?;
        Ok((TcpStream::of(stream), peer))
    }

    /// As [`::std::net::TcpListener::incoming`].
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming { listener: self }
    }

    /// As [`::std::net::TcpListener::try_clone`].
    ///
    /// # Errors
    /// As std's.
    pub fn try_clone(&self) -> io::Result<TcpListener> {
        self.inner.try_clone().map(TcpListener::of)
    }

    /// As [`::std::net::TcpListener::set_only_v6`].
    ///
    /// # Errors
    /// As std's.
    #[deprecated(since = "1.16.0", note = "as std's")]
    pub fn set_only_v6(&self, only_v6: bool) -> io::Result<()> {
        #[expect(deprecated, reason = "so is its mirror")]
        self.inner.set_only_v6(only_v6)
    }

    /// As [`::std::net::TcpListener::only_v6`].
    ///
    /// # Errors
    /// As std's.
    #[deprecated(since = "1.16.0", note = "as std's")]
    pub fn only_v6(&self) -> io::Result<bool> {
        #[expect(deprecated, reason = "so is its mirror")]
        self.inner.only_v6()
    }
}

methods!(TcpListener:
    fn local_addr(&self) -> io::Result<SocketAddr>;
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()>;
    fn set_ttl(&self, ttl: u32) -> io::Result<()>;
    fn take_error(&self) -> io::Result<Option<io::Error>>;
    fn ttl(&self) -> io::Result<u32>;
);

conversions!(TcpListener);

/// As [`::std::net::Incoming`].
#[must_use = "iterators are lazy and do nothing unless consumed"]
#[derive(Debug)]
pub struct Incoming<'a> {
    listener: &'a TcpListener,
}

impl<'a> Iterator for Incoming<'a> {
    type Item = io::Result<TcpStream>;

    fn next(&mut self) -> Option<io::Result<TcpStream>> {
        Some(self.listener.accept().map(|(stream, _)| stream))
    }
}

impl FusedIterator for Incoming<'_> {}
