//! Times of the runtime's records, compared with a call of libc's `clock_gettime`.

#![expect(unsafe_code, reason = "libc's own function is declared by its name")]

use std::error::Error;
use std::ffi::{c_char, c_int, c_void};
use std::fs;
use std::hint::black_box;
use std::panic::Location;
use std::path::Path;
use std::time::Instant;

use nondex_core::channel::Channel;
use nondex_core::context::network;
use nondex_core::{Caller, Context, Family, RunSpec, context, decide_at, model};

/// Number of acts that are timed together. A channel has room for their events.
const ACTS: u32 = 20_000;

/// Number of rounds, of which the minimum counts.
const ROUNDS: u32 = 30;

/// Length of an event in bytes: about that of the first time that a thread reaches a call site.
const EVENT: [u8; 200] = [b'a'; 200];

/// Returns the minimum time of an act, in nanoseconds. `prepare` makes what the acts of a round
/// share.
fn least<T>(prepare: impl Fn() -> T, act: impl Fn(&T)) -> f64 {
    let round = |_| {
        let shared = prepare();
        let start = Instant::now();
        for _ in 0..ACTS {
            act(&shared);
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(ACTS)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

type ClockGettime = unsafe extern "C" fn(c_int, *mut [u64; 2]) -> c_int;

/// Returns the function of libc, not the one that interposes it in this program.
fn clock_gettime() -> Option<ClockGettime> {
    unsafe extern "C" {
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    const RTLD_NEXT: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);
    // SAFETY: the name ends in NUL.
    let found = unsafe { dlsym(RTLD_NEXT, c"clock_gettime".as_ptr()) };
    // SAFETY: the type is that of the function in libc's headers, on a 64-bit system.
    (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, ClockGettime>(found) })
}

/// Prints the times, and the ratio of each to the first.
pub(super) fn print() -> Result<(), Box<dyn Error>> {
    let clock = clock_gettime().ok_or("libc has no clock")?;
    // A record is in memory, not in a file on a disk.
    let path = Path::new("/dev/shm").join(format!("nondex-bench-{}", std::process::id()));
    let new_path = || {
        let _ = fs::remove_file(&path);
        path.clone()
    };
    let of_clock = least(
        || (),
        |()| {
            let mut time = [0; 2];
            // SAFETY: the time is valid for writes.
            unsafe { clock(1, &raw mut time) };
            black_box(time);
        },
    );
    let appended = least(
        || Channel::open(&new_path()).expect("a channel can be made"),
        |channel| channel.append(black_box(&EVENT)),
    );
    let enter = || {
        let spec = RunSpec { record: Some(new_path()), ..RunSpec::clean("bench") };
        context::enter(&Context::new(spec), "bench")
    };
    let recorded = least(enter, |_| network::received(black_box(7)));
    let place = Location::caller();
    let counted = least(enter, |_| {
        let (iter, family) = (&model::HASH_MAP_ITER, Family::HashMap);
        black_box(decide_at(iter, family, place, Caller::from, 3, &|_| 0));
    });
    let _ = fs::remove_file(&path);
    println!("\n| act | ns | of `clock_gettime` |\n|---|---|---|");
    for (act, time) in [
        ("`clock_gettime` of libc", of_clock),
        ("append an event of 200 bytes", appended),
        ("write and append a short event", recorded),
        ("count a choice at a known call site", counted),
    ] {
        println!("| {act} | {time:.1} | {:.2} |", time / of_clock);
    }
    Ok(())
}
