//! Events of the system about watched files and folders.

use nix::errno::Errno;
use nix::sys::inotify::{InitFlags, Inotify, InotifyEvent};

/// Where files and folders can be watched; `None` where the system cannot.
pub(super) fn begin() -> Option<Inotify> {
    Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok()
}

/// What happened since the last call.
pub(super) fn events(inotify: &Inotify) -> Vec<InotifyEvent> {
    let mut found = Vec::new();
    loop {
        match inotify.read_events() {
            Ok(events) => found.extend(events),
            Err(Errno::EINTR) => {}
            Err(_) => return found,
        }
    }
}
