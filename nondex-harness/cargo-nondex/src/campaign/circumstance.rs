//! Establishes a [`Circumstance`] for the duration of an action.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use super::process::at_random_addresses;
use crate::judge::Circumstance;
use crate::project::TestBinary;

/// Number of busy threads for each processor under load.
const BUSY: usize = 2;

/// Time zone in which the date mostly differs from that in Europe and America. Its offset is not a
/// whole number of hours, and its rule needs no zone file.
const TIME_ZONE: [(&str, &str); 1] = [("TZ", "CHADT-13:45")];

/// Locale with a decimal comma and an unusual capital letter of `i`. If it is not installed, only a
/// test that reads these variables is affected.
const LOCALE: [(&str, &str); 3] =
    [("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8"), ("LANGUAGE", "tr")];

/// Runs `action` under `circumstance`, with the binary adapted to it. The circumstance applies to
/// processes that the action starts from this thread. `folder` is a path of this tool for
/// directories that must be empty.
///
/// # Errors
/// Returns an error if the circumstance cannot be established.
pub fn under<T>(
    circumstance: Circumstance,
    binary: &TestBinary,
    folder: &Path,
    action: impl FnOnce(&TestBinary) -> T,
) -> io::Result<T> {
    match circumstance {
        Circumstance::FurtherSeeds | Circumstance::Alone | Circumstance::Natural => {
            Ok(action(binary))
        }
        Circumstance::Addresses => Ok(at_random_addresses(|| action(binary))),
        Circumstance::OneCore => on_one_core(|| action(binary)),
        Circumstance::Load => Ok(under_load(|| action(binary))),
        Circumstance::CleanEnvironment => in_clean_environment(binary, folder, action),
        Circumstance::TimeZone => Ok(action(&with(binary, &TIME_ZONE))),
        Circumstance::Locale => Ok(action(&with(binary, &LOCALE))),
    }
}

/// Runs `action` while this thread is restricted to one of its processors. Processes that it starts
/// inherit the restriction.
fn on_one_core<T>(action: impl FnOnce() -> T) -> io::Result<T> {
    let this = Pid::from_raw(0);
    let all = sched_getaffinity(this)?;
    let is_allowed = |cpu: &usize| all.is_set(*cpu).unwrap_or(false);
    let mut one = CpuSet::new();
    if let Some(first) = (0..CpuSet::count()).find(is_allowed) {
        one.set(first)?;
    }
    sched_setaffinity(this, &one)?;
    let result = action();
    sched_setaffinity(this, &all)?;
    Ok(result)
}

/// Runs `action` while busy threads use all processors.
fn under_load<T>(action: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..processors * BUSY {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        // Ends the threads even if the action panics. Otherwise the scope would wait for them
        // forever.
        let _end = End(&is_over);
        action()
    })
}

/// Guard that ends the busy threads when it is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the binary with these environment variables added.
fn with(binary: &TestBinary, variables: &[(&str, &str)]) -> TestBinary {
    let mut changed = binary.clone();
    changed.env.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
    changed
}

/// Runs `action` with an empty home and an empty folder for temporary files. Cargo and rustup keep
/// their homes.
fn in_clean_environment<T>(
    binary: &TestBinary,
    folder: &Path,
    action: impl FnOnce(&TestBinary) -> T,
) -> io::Result<T> {
    let mut clean = binary.clone();
    let old_home = binary.env.get(&OsString::from("HOME")).cloned();
    for (variable, default) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        if let Some(home) = &old_home {
            let path = Path::new(home).join(default);
            clean.env.entry(variable.into()).or_insert_with(|| path.into_os_string());
        }
    }
    clean.env.retain(|name, _| !name.to_string_lossy().starts_with("XDG_"));
    for (variable, name) in [("HOME", "home"), ("TMPDIR", "tmp")] {
        let path = folder.join(name);
        fs::create_dir_all(&path)?;
        clean.env.insert(variable.into(), path.into_os_string());
    }
    let result = action(&clean);
    let _ = fs::remove_dir_all(folder);
    Ok(result)
}
