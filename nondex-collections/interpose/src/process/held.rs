//! Resources of a process besides memory: open descriptors, living children, and living threads.

use ::std::ffi::c_int;
use ::std::fs;
use ::std::path::Path;

use nondex_core::sorted::SortedMap;
use nondex_core::{StateId, StateKind};

use super::children;
use crate::libc;

/// Flag of a thread that is exiting, though the system still lists it (`PF_EXITING`).
const EXITING: u64 = 0x4;

/// Number of columns in a `stat` file between the thread's name and the flags.
const BEFORE_FLAGS: usize = 6;

/// All resources, each with its state and its number in the system.
#[derive(Clone, Debug)]
pub(super) struct Held(Vec<(StateId, c_int)>);

impl Held {
    /// Lists the present resources, without the descriptors that `are_ports`, which count as ports.
    pub(super) fn now(are_ports: &dyn Fn(c_int) -> bool) -> Self {
        let mut held = Vec::new();
        let mut add = |kind, name, number| held.push((StateId { kind, name }, number));
        // Descriptors come first, because reading the rest opens some.
        for (number, entry) in numbered("/proc/self/fd") {
            // The descriptor of this very directory is closed by now.
            if let Ok(link) = fs::read_link(entry) {
                if !are_ports(number) {
                    let name = without_number(&link.to_string_lossy()).to_owned();
                    add(StateKind::Descriptor, name, number);
                }
            }
        }
        for (number, task) in threads() {
            if !is_exiting(&task) {
                add(StateKind::Thread, comm(&task), number);
            }
            let children = fs::read_to_string(task.join("children")).unwrap_or_default();
            for child in children.split_ascii_whitespace() {
                let name = program(&Path::new("/proc").join(child));
                if let Ok(number) = child.parse() {
                    add(StateKind::Child, name, number);
                }
            }
        }
        Held(held)
    }

    /// Counts the resources of each state.
    pub(super) fn counts(&self) -> SortedMap<StateId, usize> {
        let mut counts = SortedMap::new();
        for (state, _) in &self.0 {
            let count = counts.get(state).copied().unwrap_or(0);
            counts.insert(state.clone(), count + 1);
        }
        counts
    }

    /// Closes or ends the resources of this kind and name that did not exist `before`. Threads
    /// cannot be ended.
    pub(super) fn end_new(&self, before: &Held, state: &StateId) {
        let is_new = |one: &&(StateId, c_int)| one.0 == *state && !before.0.contains(one);
        for (_, number) in self.0.iter().filter(is_new) {
            match state.kind {
                // SAFETY: the caller requests this; the opener finds its descriptor closed.
                StateKind::Descriptor => _ = unsafe { libc::close(*number) },
                StateKind::Child => {
                    // SAFETY: a child that was not waited for keeps its number.
                    unsafe { libc::kill(*number, libc::SIGKILL) };
                    let _ = children::reap(*number, 0);
                }
                _ => {}
            }
        }
    }
}

/// Returns the entries of a system directory whose names are numbers.
pub(super) fn numbered(folder: &str) -> Vec<(c_int, ::std::path::PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        Some((number, entry.path()))
    });
    numbered.collect()
}

/// Returns the threads of this process. The system's list is truncated if a thread ends while it is
/// read, so it is read until two readings agree.
fn threads() -> Vec<(c_int, ::std::path::PathBuf)> {
    /// Maximum number of times that the list is read again.
    const READINGS: usize = 64;
    let read = || numbered("/proc/self/task");
    let mut threads = read();
    for _ in 0..READINGS {
        let before = ::std::mem::replace(&mut threads, read());
        if before == threads {
            break;
        }
    }
    threads
}

/// Returns the name of a thread or a process.
fn comm(task: &Path) -> String {
    let name = fs::read_to_string(task.join("comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

/// Returns the name of a child. A child that has just started its program briefly keeps the name of
/// the thread that started it, so the executable's name is preferred.
fn program(child: &Path) -> String {
    let executable = fs::read_link(child.join("exe")).ok();
    let is_other = executable != fs::read_link("/proc/self/exe").ok();
    let name = executable.as_ref().filter(|_| is_other).and_then(|file| file.file_name());
    name.map_or_else(|| comm(child), |name| name.to_string_lossy().into_owned())
}

/// Returns whether a thread that was joined is exiting.
fn is_exiting(task: &Path) -> bool {
    let status = fs::read_to_string(task.join("stat")).unwrap_or_default();
    let columns = status.rsplit_once(')').map_or("", |(_, rest)| rest);
    let flags = columns.split_ascii_whitespace().nth(BEFORE_FLAGS);
    flags.and_then(|flags| flags.parse::<u64>().ok()).is_none_or(|flags| flags & EXITING != 0)
}

/// Returns the name of a descriptor's object without the number, which differs in each run:
/// `pipe:[4242]` is a `pipe`, `anon_inode:[eventpoll]` an `eventpoll`.
fn without_number(link: &str) -> &str {
    match link.split_once(':') {
        Some(("anon_inode", name)) => name.trim_start_matches('[').trim_end_matches(']'),
        Some((kind @ ("pipe" | "socket"), _)) => kind,
        _ => link,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: StateKind, name: &str) -> StateId {
        StateId { kind, name: name.to_owned() }
    }

    #[test]
    fn a_descriptor_is_named_the_same_in_every_run() {
        for (link, name) in [
            ("/dev/zero", "/dev/zero"),
            ("pipe:[42]", "pipe"),
            ("socket:[7]", "socket"),
            ("anon_inode:[eventpoll]", "eventpoll"),
            ("anon_inode:inotify", "inotify"),
            ("/a:b", "/a:b"),
        ] {
            assert_eq!(without_number(link), name);
        }
    }

    #[test]
    fn what_is_opened_started_and_begun_is_counted_and_can_be_ended() {
        let now = || Held::now(&|_| false);
        let before = now();
        let file = fs::File::open("/dev/zero").unwrap();
        let child = ::std::process::Command::new("sleep").arg("60").spawn();
        let (end, wait) = ::std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = ::std::sync::mpsc::channel::<()>();
        let builder = ::std::thread::Builder::new().name("held-waits".to_owned());
        // The thread sets its own name, so the test waits until it has begun.
        let thread = builder.spawn(move || (begun.send(()), wait.recv())).unwrap();
        has_begun.recv().unwrap();
        let count = |held: &Held, kind, name| held.counts().get(&of(kind, name)).copied();
        let held = now();
        assert_eq!(count(&held, StateKind::Descriptor, "/dev/zero"), Some(1));
        assert_eq!(count(&held, StateKind::Thread, "held-waits"), Some(1));
        held.end_new(&before, &of(StateKind::Child, "sleep"));
        assert_eq!(count(&now(), StateKind::Child, "sleep"), None);
        ::std::mem::forget(file);
        held.end_new(&before, &of(StateKind::Descriptor, "/dev/zero"));
        assert_eq!(count(&now(), StateKind::Descriptor, "/dev/zero"), None);
        drop((end, child));
        let _ = thread.join();
        assert_eq!(count(&now(), StateKind::Thread, "held-waits"), None);
    }
}
