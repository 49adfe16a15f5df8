//! `std::net`, where operations on other machines are seen, and refused when the run blocks the network.
//!
//! For platforms where libc's symbols are not interposed: every call of std's types and of these is seen there, what a
//! library does beside them is not. Where the symbols are (Linux with glibc), `net` stays std's own.
//!
//! Each operation is recorded, refused or made to fail as the interposed function of libc would. The real call is made while
//! the shims are paused: this crate's own tests run where the symbols are interposed, too, and it must not be seen twice.

pub use ::std::net::*;

mod conversation;
mod delegate;
mod error;
mod listener;
mod lookup;
mod operation;
mod stream;
mod udp;

pub use listener::{Incoming, TcpListener};
pub use lookup::ToSocketAddrs;
pub use stream::TcpStream;
pub use udp::UdpSocket;

#[cfg(test)]
mod tests;
