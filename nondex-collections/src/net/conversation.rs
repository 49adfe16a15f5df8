//! What a socket of datagrams sent to other machines, and whether anything came back.

use ::std::io;
use ::std::net::SocketAddr;
use ::std::sync::{Mutex, MutexGuard, PoisonError};

use nondex_core::network::{Operation, target};
use nondex_core::{Caller, NetworkOutcome};

use super::error;
use super::operation::{self, Treatment};

/// What is known of one socket, whichever of its clones learnt it.
#[derive(Debug, Default)]
pub(super) struct Conversation(Mutex<Option<Known>>);

/// It has to do with another machine.
#[derive(Debug, Default)]
struct Known {
    /// What it is connected to.
    peer: Option<SocketAddr>,
    /// Datagrams nobody has answered yet, one of each target.
    sent: Vec<Operation>,
    /// Whether anything was received since.
    answered: bool,
}

impl Conversation {
    fn lock(&self) -> MutexGuard<'_, Option<Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects to `target` by `call`. That sends nothing yet: it is an operation only when it fails.
    pub(super) fn connect(
        &self,
        target: &SocketAddr,
        caller: Caller,
        call: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        match operation::connecting(target, caller) {
            Treatment::Fail(error) => Err(error),
            Treatment::Pass => {
                call().inspect_err(|error| operation::loopback(target, caller, error))?;
                if let Some(known) = &mut *self.lock() {
                    known.peer = None;
                }
                Ok(())
            }
            Treatment::Observe => {
                operation::unseen(call)
                    .inspect_err(|error| operation::failed("connect", target, caller, error))?;
                self.lock().get_or_insert_default().peer = Some(*target);
                Ok(())
            }
        }
    }

    /// Sends to `target` by `call`.
    pub(super) fn send_to(
        &self,
        target: &SocketAddr,
        caller: Caller,
        call: impl FnOnce() -> io::Result<usize>,
    ) -> io::Result<usize> {
        match operation::sending(target, caller) {
            Treatment::Pass => call(),
            Treatment::Fail(error) => Err(error),
            Treatment::Observe => self.sent(target, caller, operation::unseen(call)),
        }
    }

    /// Sends by `call` to what the socket is connected to.
    pub(super) fn send(
        &self,
        caller: Caller,
        call: impl FnOnce() -> io::Result<usize>,
    ) -> io::Result<usize> {
        let peer = self.lock().as_ref().and_then(|known| known.peer);
        match peer {
            Some(peer) => self.sent(&peer, caller, operation::unseen(call)),
            None => call(),
        }
    }

    /// Notes what became of a datagram to `target`.
    fn sent(
        &self,
        target: &SocketAddr,
        caller: Caller,
        result: io::Result<usize>,
    ) -> io::Result<usize> {
        if let Err(error) = &result {
            operation::failed("send", target, caller, error);
            return result;
        }
        let mut known = self.lock();
        let known = known.get_or_insert_default();
        let is_new = |known: &Known| {
            let text = target.to_string();
            known.sent.iter().all(|sent| sent.record.target != text)
        };
        if !known.answered && !target::is_group(target) && is_new(known) {
            known.sent.extend(operation::begin("send", target, caller));
        }
        result
    }

    /// Notes the result of a call that receives.
    pub(super) fn received<T>(&self, result: io::Result<T>) -> io::Result<T> {
        match &result {
            Ok(_) => self.answered(),
            Err(error) => self.failed_to_receive(error),
        }
        result
    }

    fn answered(&self) {
        if let Some(known) = &mut *self.lock() {
            known.answered = true;
            for mut operation in known.sent.drain(..) {
                operation.end(NetworkOutcome::Answered);
            }
        }
    }

    fn failed_to_receive(&self, error: &io::Error) {
        match error.kind() {
            // How Windows says that the time for reading is over: there is no answer yet.
            io::ErrorKind::TimedOut | io::ErrorKind::NotConnected => {}
            // How Windows says that the answer was longer than there was room for.
            _ if error::name(error) == "EMSGSIZE" => self.answered(),
            _ => self.failed(error),
        }
    }

    /// Everything that was waited for failed, unless the error says that there is no answer yet.
    pub(super) fn failed(&self, error: &io::Error) {
        if error::is_wait(error) {
            return;
        }
        if let Some(known) = &mut *self.lock() {
            for mut operation in known.sent.drain(..) {
                operation.end(NetworkOutcome::Failed(error::name(error)));
            }
        }
    }
}

#[cfg(test)]
mod tests;
