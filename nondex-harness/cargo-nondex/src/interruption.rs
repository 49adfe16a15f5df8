//! Ends waits of unknown length when the user interrupts the command: for another process's lock,
//! and for a program that may itself wait for one.
//!
//! A signal from a terminal reaches all processes, but one from `kill` or a CI service may reach
//! only this one.

use std::fs::File;
use std::io;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Time between two checks for an interruption.
const INTERVAL: Duration = Duration::from_millis(50);

static INTERRUPTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Returns the flag that a signal handler sets.
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(&INTERRUPTED)
}

/// Returns whether the user interrupted the command.
pub fn is_set() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Waits for the lock of a file, exclusive if `is_only` and otherwise shared. Returns the locked
/// file.
///
/// # Errors
/// Returns an error if the file system has no locks, or the user interrupts the command.
pub fn lock(file: File, is_only: bool) -> io::Result<File> {
    let (sender, receiver) = mpsc::channel();
    // After a signal, the system continues a wait for a lock. So it happens in a thread, which a
    // command that ends does not wait for.
    thread::spawn(move || {
        let locked = if is_only { file.lock() } else { file.lock_shared() };
        let _ = sender.send(locked.map(|()| file));
    });
    loop {
        match receiver.recv_timeout(INTERVAL) {
            Ok(locked) => return locked,
            Err(_) if is_set() => return Err(io::Error::other("interrupted")),
            Err(_) => {}
        }
    }
}

/// Guard of a started program: passes an interruption on to it, until this is dropped. It must be
/// dropped before the program is waited for, because its process id may then belong to another one.
#[derive(Debug)]
pub struct Passed {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Passed {
    /// Starts to pass interruptions on to a program.
    pub fn to(child: &Child) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let pid = i32::try_from(child.id()).ok().map(Pid::from_raw);
        let over = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                if is_set() {
                    let _ = pid.map(|pid| kill(pid, Signal::SIGTERM));
                    return;
                }
                thread::park_timeout(INTERVAL);
            }
        });
        Passed { is_over, thread: Some(thread) }
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
