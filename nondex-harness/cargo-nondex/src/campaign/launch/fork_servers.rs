//! Fork servers of the test executables that run most often.

use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::campaign::process::{ForkServer, StartId};
use crate::locked::Locked;

/// Number of runs that start an executable before it becomes a server.
const STARTED: u32 = 2;

/// Maximum number of executables whose runs are counted, and so of servers. A server takes few
/// pages of its own.
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
    /// Returns the server for a process that `command` would start, if enough of them were started
    /// before. Otherwise, counts the process.
    pub(super) fn of(&self, command: &Command) -> Option<Arc<ForkServer>> {
        let id = StartId::of(command);
        if let Some(server) = self.count(id)? {
            return Some(server);
        }
        // Other workers need not wait until it has started.
        let server = ForkServer::start(command).map(Arc::new);
        let mut counted = self.counted.locked();
        if let Some(own) = counted.iter_mut().find(|own| own.id == id) {
            own.server.clone_from(&server);
        }
        server
    }

    /// Counts a process. Returns the server for it, `Some(None)` if there should be one from now
    /// on, or `None` if there is none.
    fn count(&self, id: StartId) -> Option<Option<Arc<ForkServer>>> {
        let mut counted = self.counted.locked();
        let place = counted.iter().position(|own| own.id == id);
        let new = || Counted { id, runs: 0, server: None };
        let mut own = place.map_or_else(new, |place| counted.remove(place));
        own.runs = own.runs.saturating_add(1);
        let (is_due, server) = (own.runs == STARTED + 1, own.server.clone());
        if counted.len() == MAX_COUNTED {
            counted.remove(0);
        }
        counted.push(own);
        server.map(Some).or_else(|| is_due.then_some(None))
    }
}
