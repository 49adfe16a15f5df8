//! Processes that children of a test have left behind: a daemon, or what a shell has put into the background.
//!
//! The driver adopts orphans, so they are its children, as this process is. Where another program stands in between, or the system
//! does not list children, none are found, and time is taken to be the test's own.

use ::std::ffi::c_long;
use ::std::io::Write;

use super::kernel::{File, syscall};
use crate::libc;

/// Whether such a process lives. Reads a few small files; takes no memory.
pub(super) fn are_there() -> bool {
    let parent = call(libc::SYS_getppid, 0);
    let mut tasks = [0; 1024];
    let mut room = [0; 4096];
    let mut path = Path::new();
    let Some(folder) = File::open(path.write(format_args!("/proc/{parent}/task"))) else {
        return false;
    };
    loop {
        let entries = folder.entries(&mut tasks);
        if entries.is_empty() {
            return false;
        }
        for task in names(entries).filter_map(number) {
            // Each thread of the parent has its own list.
            let list = format_args!("/proc/{parent}/task/{task}/children");
            let Some(file) = File::open(path.write(list)) else {
                continue;
            };
            let list = file.read(&mut room);
            if list
                .split(|byte| *byte == b' ')
                .filter_map(number)
                .any(is_ours)
            {
                return true;
            }
        }
    }
}

/// Whether a child of our parent is a living orphan of this process: one of its group, or of another session. The parent starts
/// tests in its own session, each in a group.
fn is_ours(process: c_long) -> bool {
    let own = call(libc::SYS_getpid, 0);
    let is_of_group = || call(libc::SYS_getpgid, process) == call(libc::SYS_getpgid, 0);
    let is_elsewhere = || call(libc::SYS_getsid, process) != call(libc::SYS_getsid, 0);
    process != own && (is_of_group() || is_elsewhere()) && is_alive(process)
}

fn is_alive(process: c_long) -> bool {
    let mut room = [0; 512];
    let mut path = Path::new();
    let Some(file) = File::open(path.write(format_args!("/proc/{process}/stat"))) else {
        return false;
    };
    let text = file.read(&mut room);
    // After the name, which stands in parentheses and may hold anything.
    let state = text.iter().rposition(|byte| *byte == b')');
    let state = state.and_then(|end| text.get(end + 2));
    !matches!(state, None | Some(b'Z' | b'X'))
}

/// The names of entries, as the system writes a folder: behind two numbers, a length, and a kind.
fn names(mut entries: &[u8]) -> impl Iterator<Item = &[u8]> {
    const NAME: usize = 19;
    ::std::iter::from_fn(move || {
        let length = entries.get(16..18)?;
        let length = usize::from(u16::from_ne_bytes(length.try_into().ok()?));
        let (entry, rest) = entries.split_at_checked(length)?;
        entries = rest;
        entry.get(NAME..)?.split(|byte| *byte == 0).next()
    })
}

fn number(text: &[u8]) -> Option<c_long> {
    ::std::str::from_utf8(text).ok()?.parse().ok()
}

/// Makes a system call that takes at most one number.
fn call(call: c_long, argument: c_long) -> c_long {
    // SAFETY: these calls involve no memory.
    unsafe { syscall(call, [argument, 0, 0, 0, 0, 0]) }
}

/// A path that ends in NUL, on the stack.
struct Path([u8; 64]);

impl Path {
    const fn new() -> Self {
        Path([0; 64])
    }

    fn write(&mut self, path: ::std::fmt::Arguments<'_>) -> &[u8] {
        self.0 = [0; 64];
        let mut room = &mut self.0[..63];
        // The longest one is half as long.
        let _ = room.write_fmt(path);
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_the_system_writes_them() {
        let mut room = [0; 4096];
        let folder = File::open(b"/proc/self/task\0").unwrap();
        let threads: Vec<_> = names(folder.entries(&mut room))
            .filter_map(number)
            .collect();
        let own = call(libc::SYS_gettid, 0);
        assert!(threads.contains(&own), "{threads:?}");
    }

    #[test]
    fn a_process_that_has_ended_is_not_alive() {
        let mut child = ::std::process::Command::new("true").spawn().unwrap();
        let number = c_long::from(child.id());
        child.wait().unwrap();
        assert!(!is_alive(number));
        assert!(is_alive(call(libc::SYS_getpid, 0)));
    }
}
