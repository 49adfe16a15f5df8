//! `TcpStream`.

use ::std::io::{self, IoSlice, IoSliceMut, Read, Write};
use ::std::net::{Shutdown, SocketAddr};
use ::std::time::Duration;

use nondex_core::Caller;

use super::ToSocketAddrs;
use super::delegate::{conversions, methods};
use super::lookup;
use super::operation::{self, Treatment};
use crate::caller::caller;

/// As [`::std::net::TcpStream`].
pub struct TcpStream {
    inner: ::std::net::TcpStream,
    /// The other machine, when the connection to it was seen.
    peer: Option<SocketAddr>,
}

impl TcpStream {
    /// A stream of which no more is known.
    pub(super) const fn of(inner: ::std::net::TcpStream) -> TcpStream {
        TcpStream { inner, peer: None }
    }

    /// As [`::std::net::TcpStream::connect`].
    ///
    /// # Errors
    /// As std's, and when the run blocks the network or makes the connection fail.
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<TcpStream> {
        let caller = caller();
        lookup::each(addr, |target| {
            TcpStream::reach(target, caller, || ::std::net::TcpStream::connect(target))
        })
    }

    /// As [`::std::net::TcpStream::connect_timeout`].
    ///
    /// # Errors
    /// As std's, and when the run blocks the network or makes the connection fail.
    #[track_caller]
    pub fn connect_timeout(addr: &SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
        TcpStream::reach(addr, caller(), || {
            ::std::net::TcpStream::connect_timeout(addr, timeout)
        })
    }

    /// Connects to `target` by `call`.
    pub(super) fn reach(
        target: &SocketAddr,
        caller: Caller,
        call: impl FnOnce() -> io::Result<::std::net::TcpStream>,
    ) -> io::Result<TcpStream> {
        match operation::connecting(target, caller) {
            Treatment::Fail(error) => Err(error),
            Treatment::Pass => call()
                .map(TcpStream::of)
                .inspect_err(|error| operation::loopback(target, caller, error)),
            Treatment::Observe => {
                let begun = operation::begin("connect", target, caller);
                let result = operation::unseen(call);
                if let Some(outcome) = operation::outcome(&result) {
                    operation::end(begun, outcome);
                }
                Ok(TcpStream {
                    inner: result?,
                    peer: Some(*target),
                })
            }
        }
    }

    /// As [`::std::net::TcpStream::try_clone`].
    ///
    /// # Errors
    /// As std's.
    pub fn try_clone(&self) -> io::Result<TcpStream> {
        Ok(TcpStream {
            inner: self.inner.try_clone()?,
            peer: self.peer,
        })
    }

    /// Records that what was to be sent could not be.
    #[track_caller]
    fn sent(&self, result: io::Result<usize>) -> io::Result<usize> {
        if let (Err(error), Some(peer)) = (&result, &self.peer) {
            operation::failed("send", peer, caller(), error);
        }
        result
    }
}

methods!(TcpStream:
    fn local_addr(&self) -> io::Result<SocketAddr>;
    fn nodelay(&self) -> io::Result<bool>;
    fn peek(&self, buf: &mut [u8]) -> io::Result<usize>;
    fn peer_addr(&self) -> io::Result<SocketAddr>;
    fn read_timeout(&self) -> io::Result<Option<Duration>>;
    fn set_nodelay(&self, nodelay: bool) -> io::Result<()>;
    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()>;
    fn set_read_timeout(&self, dur: Option<Duration>) -> io::Result<()>;
    fn set_ttl(&self, ttl: u32) -> io::Result<()>;
    fn set_write_timeout(&self, dur: Option<Duration>) -> io::Result<()>;
    fn shutdown(&self, how: Shutdown) -> io::Result<()>;
    fn take_error(&self) -> io::Result<Option<io::Error>>;
    fn ttl(&self) -> io::Result<u32>;
    fn write_timeout(&self) -> io::Result<Option<Duration>>;
);

conversions!(TcpStream);

/// What std has as methods of a trait that no one else can implement.
#[cfg(any(target_os = "linux", target_os = "android"))]
impl TcpStream {
    /// As `std::os::linux::net::TcpStreamExt::quickack`.
    ///
    /// # Errors
    /// As std's.
    pub fn quickack(&self) -> io::Result<bool> {
        use ::std::os::linux::net::TcpStreamExt;
        self.inner.quickack()
    }

    /// As `std::os::linux::net::TcpStreamExt::set_quickack`.
    ///
    /// # Errors
    /// As std's.
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        use ::std::os::linux::net::TcpStreamExt;
        self.inner.set_quickack(quickack)
    }
}

impl Read for TcpStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&self.inner).read(buf)
    }

    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        (&self.inner).read_vectored(bufs)
    }
}

impl Read for &TcpStream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&self.inner).read(buf)
    }

    fn read_vectored(&mut self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        (&self.inner).read_vectored(bufs)
    }
}

impl Write for TcpStream {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        (&*self).write(buf)
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        (&*self).write_vectored(bufs)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.inner).flush()
    }
}

impl Write for &TcpStream {
    #[track_caller]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.sent((&self.inner).write(buf))
    }

    #[track_caller]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.sent((&self.inner).write_vectored(bufs))
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.inner).flush()
    }
}
