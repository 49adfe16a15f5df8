//! Operations on other machines: observed, and refused if the run blocks the network.
//!
//! Every function calls the original first, or not at all if the network is blocked, and records
//! the outcome. As long as no socket concerns another machine, sending, receiving and closing cost
//! one additional load.

mod address;
pub(crate) mod child;
pub(crate) mod connect;
mod error;
mod fault;
mod fork;
mod own_address;
pub(crate) mod receive;
pub(crate) mod resolve;
mod rights;
pub(crate) mod send;
mod socket;
pub(crate) mod wait;

use ::std::ffi::{c_int, c_long, c_uint};
use ::std::net::SocketAddr;

use nondex_core::choice::fault::injected;
use nondex_core::context::network::{self, End, NetworkOperation, target};
use nondex_core::hidden::Text;
use nondex_core::{Caller, Model, NetworkMode};

pub(crate) use receive::received;
pub(crate) use send::sent;

use super::{Errno, errno, origin, set_errno};
use crate::libc;
use crate::table::sockets;

/// Takes the locks that a forked child must find free, with consistent data under them.
pub(crate) fn before_fork() {
    socket::before_fork();
    child::before_fork();
}

/// Releases the locks that [`before_fork`] took, in the parent and in the child.
pub(crate) fn after_fork() {
    child::after_fork();
    socket::after_fork();
}

/// Treatment of an operation on a target.
enum Treatment {
    /// The operation is none of this tool's business.
    Pass,
    /// The operation happens and is recorded.
    Observe(SocketAddr),
    /// The operation fails.
    Refuse(SocketAddr),
    /// The operation fails with this error, which the seed chose.
    Fault(SocketAddr, c_int),
}

/// Decides about an operation of `model` on `target`, if it has one. The seed may make it fail with
/// one of `errors`.
fn treat(model: &'static Model, errors: &[c_int], target: Option<SocketAddr>) -> Treatment {
    let Some(target) = target.filter(|target| !address::is_local(target)) else {
        return Treatment::Pass;
    };
    match network::mode() {
        NetworkMode::Off => Treatment::Pass,
        NetworkMode::Block if !target::is_allowed(&target) => Treatment::Refuse(target),
        NetworkMode::Fault if !target::is_allowed(&target) => match fault::drawn(model, errors) {
            Some(errno) => Treatment::Fault(target, errno),
            None => Treatment::Observe(target),
        },
        NetworkMode::Observe | NetworkMode::Block | NetworkMode::Fault => {
            Treatment::Observe(target)
        }
    }
}

/// Records the beginning of an operation on `target`.
fn begin(operation: &'static str, target: &SocketAddr) -> Option<NetworkOperation> {
    let host = address::host_of(target.ip());
    network::begin(operation, shown(target), host, caller())
}

/// Formats an address with its port.
fn shown(target: &SocketAddr) -> Text {
    Text::of(format_args!("{target}"))
}

/// Records an operation on `target` that failed with `errno`.
fn failed(operation: &'static str, target: &SocketAddr, errno: c_int) {
    if let Some(mut operation) = begin(operation, target) {
        operation.end(End::Failed(error::name(errno)));
    }
}

/// Records an operation on `target` that is refused, and sets `errno`.
fn refuse(operation: &'static str, target: &SocketAddr) {
    failed(operation, target, libc::ENETUNREACH);
    set_errno(libc::ENETUNREACH);
}

/// Records an operation on `target` that the seed makes fail, and sets `errno`. The error is marked
/// as injected, because no fault of the machine explains it.
fn inject(operation: &'static str, target: &SocketAddr, errno: c_int) {
    if let Some(mut operation) = begin(operation, target) {
        operation.end(End::Failed(injected(&error::name(errno))));
    }
    set_errno(errno);
}

fn caller() -> Caller {
    origin::caller()
}

/// Performs a system call that concerns the network as libc's function of that name does. Returns
/// `None` for any other call.
///
/// # Safety
/// The arguments must be those of the system call.
pub(crate) unsafe fn syscall(number: c_long, arguments: [c_long; 6]) -> Option<c_long> {
    use ::std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

    let [fd, a, b, c, d, e] = arguments;
    let address = |register: c_long| register as usize;
    // SAFETY: the caller's arguments, with the types that the kernel reads them as.
    unsafe {
        match number {
            libc::SYS_connect => Some(
                sockets::connect(
                    fd as c_int,
                    with_exposed_provenance(address(a)),
                    b as libc::socklen_t,
                )
                .into(),
            ),
            libc::SYS_sendto => Some(sockets::sendto(
                fd as c_int,
                with_exposed_provenance(address(a)),
                address(b),
                c as c_int,
                with_exposed_provenance(address(d)),
                e as libc::socklen_t,
            ) as c_long),
            libc::SYS_recvfrom => Some(sockets::recvfrom(
                fd as c_int,
                with_exposed_provenance_mut(address(a)),
                address(b),
                c as c_int,
                with_exposed_provenance_mut(address(d)),
                with_exposed_provenance_mut(address(e)),
            ) as c_long),
            libc::SYS_sendmsg => {
                Some(sockets::sendmsg(fd as c_int, with_exposed_provenance(address(a)), b as c_int)
                    as c_long)
            }
            libc::SYS_recvmsg => Some(sockets::recvmsg(
                fd as c_int,
                with_exposed_provenance_mut(address(a)),
                b as c_int,
            ) as c_long),
            libc::SYS_sendmmsg => Some(
                sockets::sendmmsg(
                    fd as c_int,
                    with_exposed_provenance_mut(address(a)),
                    b as c_uint,
                    c as c_int,
                )
                .into(),
            ),
            libc::SYS_recvmmsg => Some(
                sockets::recvmmsg(
                    fd as c_int,
                    with_exposed_provenance_mut(address(a)),
                    b as c_uint,
                    c as c_int,
                    with_exposed_provenance_mut(address(d)),
                )
                .into(),
            ),
            libc::SYS_getsockopt => Some(
                sockets::getsockopt(
                    fd as c_int,
                    a as c_int,
                    b as c_int,
                    with_exposed_provenance_mut(address(c)),
                    with_exposed_provenance_mut(address(d)),
                )
                .into(),
            ),
            _ => None,
        }
    }
}
