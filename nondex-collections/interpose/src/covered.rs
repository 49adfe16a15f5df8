//! Coverage: the basic blocks that ran, in instrumented crates. Each block has a flag, which it
//! sets.
//!
//! LLVM's pass `SanitizerCoverage` adds the flags, with `inline-bool-flag` and `pc-table`.
//! Instrumented code calls the two functions here before `main`. They are called once for each
//! module, with all flags and all addresses of the executable or shared object.
//!
//! A process records the blocks when it exits or aborts. To cover a process that is killed, its
//! flags are in a file while it runs, if the linker has put them on separate pages. Otherwise a
//! file marks that this process has not recorded its blocks yet.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "called before `main`, and in a child that was just forked"
)]

use ::std::fs::{self, File};
use ::std::io::{ErrorKind, Write};
use ::std::mem::ManuallyDrop;
use ::std::os::fd::AsRawFd;
use ::std::path::{Path, PathBuf};
use ::std::slice;
use ::std::sync::OnceLock;
use ::std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use nondex_core::CoveredRecord;
use nondex_core::context;
use nondex_core::fork_lock::ForkLock;
use nondex_core::hidden;
use nondex_core::json::Object;
use nondex_core::process_number;

use crate::{PAGE, libc, origin};

/// Ranges of the executable's flags, and of the addresses and properties of their blocks.
static FLAGS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
static BLOCKS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn keep(range: &[AtomicUsize; 2], start: usize, end: usize) {
    let (base, last) = origin::executable();
    // Each shared object has its own flags; the executable's are the same in every call.
    if (base..last).contains(&start) {
        range[0].store(start, Ordering::Relaxed);
        range[1].store(end, Ordering::Relaxed);
    }
}

#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_bool_flag_init(start: *const u8, end: *const u8) {
    keep(&FLAGS, start.addr(), end.addr());
}

#[unsafe(no_mangle)]
extern "C" fn __sanitizer_cov_pcs_init(start: *const usize, end: *const usize) {
    keep(&BLOCKS, start.addr(), end.addr());
}

/// Returns the flags and their blocks, as the compiler describes them; `None` if nothing is
/// instrumented.
fn instrumented() -> Option<(&'static [AtomicU8], &'static [[usize; 2]])> {
    let [flags, blocks] = [&FLAGS, &BLOCKS].map(|range| {
        let [start, end] = range.each_ref().map(|at| at.load(Ordering::Relaxed));
        (start, end.saturating_sub(start))
    });
    if flags.1 == 0 {
        return None;
    }
    // SAFETY: the addresses are those of the executable's own sections, which stay; flags are set
    // meanwhile, addresses never.
    Some(unsafe {
        (
            slice::from_raw_parts(
                ::std::ptr::with_exposed_provenance::<AtomicU8>(flags.0),
                flags.1,
            ),
            slice::from_raw_parts(
                ::std::ptr::with_exposed_provenance::<[usize; 2]>(blocks.0),
                blocks.1 / size_of::<[usize; 2]>(),
            ),
        )
    })
}

/// Path of this program.
static PROGRAM: OnceLock<String> = OnceLock::new();

fn program() -> &'static str {
    PROGRAM.get_or_init(|| {
        let program = ::std::env::current_exe().unwrap_or_default();
        program.to_string_lossy().into_owned()
    })
}

/// Writes the blocks that ran until now as the fields of a [`CoveredRecord`]. Returns false if
/// nothing is instrumented.
pub(crate) fn covered(object: &mut Object<'_>) -> bool {
    let Some((flags, blocks)) = instrumented() else { return false };
    let (base, _) = origin::executable();
    let has_run = |flag: &AtomicU8| flag.load(Ordering::Relaxed) != 0;
    let ran = flags.iter().zip(blocks).filter(|(flag, _)| has_run(flag));
    let mut blocks =
        hidden::collect(ran.filter_map(|(_, [block, _])| Some(block.checked_sub(base)? as u64)));
    blocks.sort_unstable();
    object.string("program", PROGRAM.get().map_or("", |program| program)).numbers("blocks", blocks);
    true
}

/// File that contains the flags while this process runs, and the process. A fork shares the flags.
static SHARED: OnceLock<(u32, PathBuf)> = OnceLock::new();

/// If the flags cannot be in a file: the mark of this process, which a fork does not share, and the
/// record to which it belongs.
static PRIVATE: ForkLock<Option<(PathBuf, PathBuf)>> = ForkLock::new(|| None);

/// Marks that this process has not recorded its blocks yet, in case it does not end normally.
fn announce(record: &Path) -> Option<()> {
    instrumented()?;
    let (mut file, path) = created(record, process_number::of_system())?;
    let tail = CoveredRecord::tail(0, &[], program());
    let _ = file.write_all(&tail);
    *PRIVATE.lock()? = Some((path, record.to_owned()));
    Some(())
}

/// Creates a mark for a process that was just forked.
pub(crate) fn after_fork_in_child() {
    let record = PRIVATE.lock().and_then(|mut private| private.take());
    if let Some((_, record)) = record {
        let _pause = context::pause();
        let _ = announce(&record);
    }
}

/// Maps the flags to a file next to the record, if they are on separate pages.
fn share(record: &Path) -> Option<()> {
    let (flags, blocks) = instrumented()?;
    let start = flags.as_ptr().expose_provenance();
    if start % PAGE != 0 || flags.len() % PAGE != 0 {
        return None;
    }
    let (base, _) = origin::executable();
    let process = process_number::of_system();
    let addresses: Vec<u64> =
        blocks.iter().map(|[block, _]| block.saturating_sub(base) as u64).collect();
    let flags: Vec<u8> = flags.iter().map(|flag| flag.load(Ordering::Relaxed)).collect();
    let tail = CoveredRecord::tail(flags.len(), &addresses, program());
    let (mut file, path) = created(record, process)?;
    if file.write_all(&[&flags[..], &tail].concat()).is_err() {
        let _ = fs::remove_file(path);
        return None;
    }
    // SAFETY: the pages contain nothing but flags, which the file has with the same values, and no
    // other thread sets one before `main`.
    if !unsafe { replace(start, flags.len(), libc::MAP_SHARED, file.as_raw_fd()) } {
        let _ = fs::remove_file(path);
        return None;
    }
    SHARED.set((process, path)).ok()
}

/// Replaces these pages by other memory, and returns whether the system did so.
///
/// # Safety
/// Code that reads or writes there must work with the content of the other memory.
unsafe fn replace(
    start: usize,
    len: usize,
    kind: ::std::ffi::c_int,
    file: ::std::ffi::c_int,
) -> bool {
    let start = ::std::ptr::with_exposed_provenance_mut(start);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: as the caller promises.
    let mapped = unsafe { libc::mmap(start, len, protection, kind | libc::MAP_FIXED, file, 0) };
    mapped != libc::MAP_FAILED
}

/// Gives this process, which was forked for one test, its own flags.
pub(crate) fn keep_apart() {
    let is_shared = SHARED.get().is_some_and(|(own, _)| *own != process_number::of_system());
    let Some((flags, _)) = instrumented().filter(|_| is_shared) else { return };
    let start = flags.as_ptr().expose_provenance();
    let ran: Vec<u8> = flags.iter().map(|flag| flag.load(Ordering::Relaxed)).collect();
    // SAFETY: a process that was just forked has one thread, and its flags are restored below.
    if unsafe { replace(start, ran.len(), libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1) } {
        for (flag, ran) in flags.iter().zip(ran) {
            flag.store(ran, Ordering::Relaxed);
        }
    }
}

/// Creates a file next to the record. Its number differs if a process becomes another program,
/// which has its own flags.
fn created(record: &Path, process: u32) -> Option<(File, PathBuf)> {
    for number in 0_u32.. {
        let path = record.with_extension(format!("{}-{process}-{number}", CoveredRecord::FLAGS));
        let mut options = File::options();
        match options.read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return Some((file, path)),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(_) => break,
        }
    }
    None
}

/// Records the blocks that ran, if the run requests it, before this process ends other than by the
/// end of its test.
pub(crate) fn note() {
    let mut is_noted = context::note_covered(covered);
    // After a test, the blocks belong to all tests that this process has run.
    let global = context::global().filter(|context| !is_noted && context.spec().cover);
    if let Some(context) = global {
        let _pause = context::pause();
        let spec = context.spec();
        for test in spec.tests() {
            is_noted |= context.note_covered(test, covered);
        }
    }
    let own = SHARED.get().filter(|(own, _)| *own == process_number::of_system());
    let private = || PRIVATE.lock().and_then(|mut private| private.take());
    // Not dropped, because that would call the program's allocator.
    let private = ManuallyDrop::new(if own.is_none() { private() } else { None });
    let path = own.map(|(_, path)| path).or_else(|| private.as_ref().map(|(path, _)| path));
    if let Some(path) = path.filter(|_| is_noted) {
        let _pause = context::pause();
        let _ = fs::remove_file(path);
    }
}

/// Sets up the recording of blocks at the end of this process, whose run has this `record`.
pub(crate) fn prepare(record: Option<&Path>) {
    extern "C" fn at_exit() {
        note();
    }
    // Computed now, because it allocates memory.
    program();
    if let Some(record) = record {
        let _pause = context::pause();
        let _ = share(record).or_else(|| announce(record));
    }
    // SAFETY: the function may be called at any time.
    unsafe { libc::atexit(at_exit) };
}

/// Records the blocks that ran before the call ends this process.
pub(crate) fn ending<R>(next: impl FnOnce() -> R) -> R {
    note();
    next()
}
