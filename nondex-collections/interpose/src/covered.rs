//! Which basic blocks ran, of crates that were compiled to tell: each has a flag, which it sets.
//!
//! The pass that adds the flags is LLVM's, `SanitizerCoverage` with `inline-bool-flag` and `pc-table`. What is instrumented calls the two functions
//! here before `main`, once for each module, with all flags and all addresses of the executable or shared object.

use ::std::slice;
use ::std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use nondex_core::CoveredRecord;
use nondex_core::context;

use crate::{libc, origin, original};

/// The flags of the executable, and the addresses of their blocks with what is known of each.
static FLAGS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
static BLOCKS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

fn keep(range: &[AtomicUsize; 2], start: usize, end: usize) {
    let (base, last) = origin::executable();
    // Those of a shared object are its own; the executable's are the same in every call.
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

/// What ran so far; `None` when nothing is instrumented.
pub(crate) fn covered() -> Option<CoveredRecord> {
    let [flags, blocks] = [&FLAGS, &BLOCKS].map(|range| {
        let [start, end] = range.each_ref().map(|at| at.load(Ordering::Relaxed));
        (start, end.saturating_sub(start))
    });
    if flags.1 == 0 {
        return None;
    }
    let count = flags.1.min(blocks.1 / size_of::<[usize; 2]>());
    // SAFETY: the addresses are those of the executable's own sections, which stay; flags are set meanwhile, addresses never.
    let (flags, blocks) = unsafe {
        (
            slice::from_raw_parts(
                ::std::ptr::with_exposed_provenance::<AtomicU8>(flags.0),
                count,
            ),
            slice::from_raw_parts(
                ::std::ptr::with_exposed_provenance::<[usize; 2]>(blocks.0),
                count,
            ),
        )
    };
    let (base, _) = origin::executable();
    let has_run = |flag: &AtomicU8| flag.load(Ordering::Relaxed) != 0;
    let ran = flags.iter().zip(blocks).filter(|(flag, _)| has_run(flag));
    let mut blocks: Vec<u64> = ran
        .filter_map(|(_, [block, _])| Some(block.checked_sub(base)? as u64))
        .collect();
    blocks.sort_unstable();
    let program = ::std::env::current_exe().unwrap_or_default();
    Some(CoveredRecord {
        program: program.to_string_lossy().into_owned(),
        blocks,
    })
}

/// Writes down what ran, if the run asks for it, before this process ends by something else than the end of its test.
pub(crate) fn note() {
    context::note_covered(covered);
}

/// Lets what ran be written down when this process ends.
pub(crate) fn prepare() {
    extern "C" fn at_exit() {
        note();
    }
    // SAFETY: the function may be called at any time.
    unsafe { libc::atexit(at_exit) };
}

#[unsafe(no_mangle)]
extern "C" fn abort() -> ! {
    note();
    if let Some(original) = original!(c"abort": extern "C" fn() -> !) {
        original();
    }
    // SAFETY: it does not return.
    unsafe { libc::_exit(134) }
}
