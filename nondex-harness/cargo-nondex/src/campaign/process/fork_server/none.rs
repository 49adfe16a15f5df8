//! The variant for systems without the runtime's fork server.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Command;

use nix::unistd::Pid;

/// Identity of what a process is started with. All are the same here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::campaign) struct StartId;

impl StartId {
    /// Returns the identity.
    pub(in crate::campaign) const fn of(_command: &Command) -> Self {
        StartId
    }
}

/// A fork server, of which there is none here.
#[derive(Debug)]
pub(in crate::campaign) enum ForkServer {}

impl ForkServer {
    /// Returns `None`.
    pub(in crate::campaign) const fn start(_command: &Command) -> Option<Self> {
        None
    }

    /// Cannot be called.
    pub(super) const fn fork(&self, _command: &Command, _output: &OwnedFd) -> io::Result<Pid> {
        match *self {}
    }
}
