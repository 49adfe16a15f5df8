//! One operation on another machine: observed, refused, or made to fail by the seed.

use ::std::io::{self, ErrorKind};
use ::std::net::SocketAddr;

use nondex_core::context::pause;
use nondex_core::network::{self, NetworkMode, Operation, fault, target};
use nondex_core::{Caller, Model, NetworkOutcome, model};

use super::error;

/// What a connection fails with when the seed decides that it does.
const CONNECT: &[&str] = &["ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ETIMEDOUT"];

/// What sending fails with then.
const SEND: &[&str] = &["ENETUNREACH", "EHOSTUNREACH", "EPERM"];

/// What is done about an operation.
pub(super) enum Treatment {
    /// It is none of our business.
    Pass,
    /// Let it happen and record it.
    Observe,
    /// It is recorded, and fails with this.
    Fail(io::Error),
}

/// What is done about a connection to `target`.
pub(super) fn connecting(target: &SocketAddr, caller: Caller) -> Treatment {
    treat("connect", &model::NETWORK_CONNECT, CONNECT, target, caller)
}

/// What is done about sending to `target`.
pub(super) fn sending(target: &SocketAddr, caller: Caller) -> Treatment {
    treat("send", &model::NETWORK_SEND, SEND, target, caller)
}

fn treat(
    operation: &str,
    model: &'static Model,
    errors: &[&'static str],
    target: &SocketAddr,
    caller: Caller,
) -> Treatment {
    let mode = network::mode();
    if mode == NetworkMode::Off || target::is_local(target) {
        return Treatment::Pass;
    }
    let (name, recorded) = match mode {
        NetworkMode::Block if !target::is_allowed(target) => {
            ("ENETUNREACH", "ENETUNREACH".to_owned())
        }
        NetworkMode::Fault if !target::is_allowed(target) => {
            match fault::drawn(model, errors, || caller) {
                Some(name) => (name, fault::injected(name)),
                None => return Treatment::Observe,
            }
        }
        _ => return Treatment::Observe,
    };
    end(
        begin(operation, target, caller),
        NetworkOutcome::Failed(recorded),
    );
    Treatment::Fail(error::named(name))
}

/// Makes the real call of an operation that is recorded here.
pub(super) fn unseen<T>(call: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let _pause = pause();
    call()
}

/// Records the begin of an operation on `target`.
pub(super) fn begin(operation: &str, target: &SocketAddr, caller: Caller) -> Option<Operation> {
    let host = target::host_of(target.ip());
    network::begin(operation, target.to_string(), host, caller)
}

/// Records how an operation ended.
pub(super) fn end(operation: Option<Operation>, outcome: NetworkOutcome) {
    if let Some(mut operation) = operation {
        operation.end(outcome);
    }
}

/// Records an operation on `target` that failed, unless the error says that there is no answer yet.
pub(super) fn failed(operation: &str, target: &SocketAddr, caller: Caller, error: &io::Error) {
    if !error::is_wait(error) && network::mode() != NetworkMode::Off {
        let outcome = NetworkOutcome::Failed(error::name(error));
        end(begin(operation, target, caller), outcome);
    }
}

/// A local target that cannot even be reached: the loopback is down.
pub(super) fn loopback(target: &SocketAddr, caller: Caller, error: &io::Error) {
    if matches!(
        error.kind(),
        ErrorKind::NetworkUnreachable | ErrorKind::NetworkDown
    ) {
        failed("connect", target, caller, error);
    }
}

/// How a connection ended; `None` when nothing has answered yet.
pub(super) fn outcome<T>(result: &io::Result<T>) -> Option<NetworkOutcome> {
    match result {
        Ok(_) => Some(NetworkOutcome::Answered),
        Err(error) if error::is_wait(error) => None,
        // The caller's patience has ended, as std has it without a number, and not the system's: this is no answer.
        Err(error) if error.kind() == ErrorKind::TimedOut && error.raw_os_error().is_none() => None,
        Err(error) => Some(NetworkOutcome::Failed(error::name(error))),
    }
}
