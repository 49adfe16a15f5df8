//! Events of the system about watched files and folders (inotify).

use nix::errno::Errno;
use nix::sys::inotify::{InitFlags, Inotify, InotifyEvent};

/// Creates an instance that watches files and folders. Returns `None` if the system cannot watch.
pub(super) fn begin() -> Option<Inotify> {
    Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok()
}

/// Returns the events since the last call.
pub(super) fn events(inotify: &Inotify) -> Vec<InotifyEvent> {
    let mut found = Vec::new();
    loop {
        match inotify.read_events() {
            Ok(events) => found.extend(events),
            Err(Errno::EINTR) => {}
            // The queue is empty (`EAGAIN`), or cannot be read any more.
            Err(_) => return found,
        }
    }
}
