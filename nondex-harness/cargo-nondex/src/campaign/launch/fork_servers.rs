//! Fork servers of the test executables that run most often.

use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::campaign::process::{ForkServer, StartId};
use crate::locked::Locked;

/// Number of runs that start an executable before it becomes a server.
const STARTED: u32 = 2;

/// Maximum number of executables whose runs are counted, and so of servers. A server shares most
/// of its pages with its executable.
const MAX_COUNTED: usize = 64;

/// Fork servers of executables.
#[derive(Debug, Default)]
pub(super) struct ForkServers {
    /// Executables, the one that ran last at the end.
    counted: Mutex<Vec<Counted>>,
}

/// An executable that is started in one way.
#[derive(Debug)]
struct Counted {
    id: StartId,
    /// Number of its runs.
    runs: u32,
    server: Option<Arc<ForkServer>>,
}

impl ForkServers {
    /// Counts a process that `command` would start. Returns the server for it, if enough of them
    /// were started before.
    pub(super) fn of(&self, command: &Command) -> Option<Arc<ForkServer>> {
        let id = StartId::of(command);
        let (runs, server) = self.count(id);
        if runs != STARTED + 1 {
            return server;
        }
        // Other workers need not wait until it has started.
        let server = ForkServer::start(command).map(Arc::new);
        let mut counted = self.counted.locked();
        if let Some(own) = counted.iter_mut().find(|own| own.id == id) {
            own.server.clone_from(&server);
        }
        server
    }

    /// Counts a process. Returns the number of processes until now, and their server, if there is
    /// one already.
    fn count(&self, id: StartId) -> (u32, Option<Arc<ForkServer>>) {
        let mut counted = self.counted.locked();
        let place = counted.iter().position(|own| own.id == id);
        let new = || Counted { id, runs: 0, server: None };
        let mut own = place.map_or_else(new, |place| counted.remove(place));
        own.runs = own.runs.saturating_add(1);
        if counted.len() == MAX_COUNTED {
            counted.remove(0);
        }
        let found = (own.runs, own.server.clone());
        counted.push(own);
        found
    }
}
