//! The processor's time-stamp counter (`rdtsc`), with which some crates read the time without the C
//! library.
//!
//! While a test is scheduled, reading the counter faults in its threads (`prctl`, `PR_SET_TSC`).
//! The fault's handler returns virtual time at the counter's own rate, so clocks that were set by
//! one another stay consistent.
//!
//! The counter becomes readable again in these cases. A thread that is not scheduled may read it
//! after its first fault. So a test's end needs no system call, which a filter could refuse. A
//! thread that installs a [filter] of system calls may read it from then on. Every program that is
//! started may read it, because the system keeps the prohibition across `exec`.
//!
//! Where a filter refuses the `prctl`, the handler returns real time. Readings by the system's own
//! code in the process (the vDSO) are always real. So are the counters of other processor
//! architectures.
//!
//! [filter]: super::filter

use ::std::ffi::c_long;

use faults::allow;
#[cfg(feature = "network")]
pub(crate) use faults::allowed;
pub(crate) use faults::{begin, prepare};

use super::filter;

/// Records that this system call is about to be made with this first argument. A thread that
/// installs a filter may not be able to enable the counter later, nor may the threads that it
/// starts.
pub(crate) fn will_call(number: c_long, operation: c_long) {
    if filter::installs(number, operation) {
        allow();
        filter::note();
    }
}

/// Lets a forked child read the counter, and the programs that it starts unobserved (`execl`). With
/// a filter, the `prctl` may end the process; it was made when the filter was installed.
pub(super) fn after_fork_in_child() {
    if !filter::is_there() {
        allow();
    }
}

/// Stubs: nothing is prohibited on this processor.
#[cfg(not(target_arch = "x86_64"))]
mod faults {
    pub(crate) const fn prepare() {}

    pub(crate) const fn begin() {}

    pub(super) const fn allow() {}

    #[cfg(feature = "network")]
    pub(crate) fn allowed<R>(call: impl FnOnce() -> R) -> R {
        call()
    }
}

#[cfg(target_arch = "x86_64")]
mod faults {
    use ::std::arch::x86_64::_rdtsc;
    use ::std::ffi::{c_int, c_ulong, c_void};
    use ::std::mem;
    use ::std::sync::OnceLock;
    use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use nondex_core::Source;
    use nondex_core::context::note_source;

    use super::super::{MONOTONIC_START, SELF, kernel, now, pass_reading};
    use crate::libc;

    /// Values of the counter and the clock at one time.
    type Moment = [AtomicU64; 2];

    /// Moments at the start of the process, and at that of the test.
    static START: Moment = [const { AtomicU64::new(0) }; 2];
    static BEGIN: Moment = [const { AtomicU64::new(0) }; 2];

    /// Whether any thread was forbidden to read the counter.
    static IS_PROHIBITED: AtomicBool = AtomicBool::new(false);

    /// Previous handler of the fault.
    static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

    /// Returns the length of the instruction at this place, if it reads the counter.
    ///
    /// # Safety
    /// The processor must have read the instruction.
    unsafe fn reading_at(place: *const u8) -> Option<u64> {
        // SAFETY: no such instruction is shorter than two bytes, and the third one belongs to those
        // that begin so.
        unsafe {
            match place.cast::<[u8; 2]>().read() {
                [0x0f, 0x31] => Some(2),
                [0x0f, 0x01] if place.add(2).read() == 0xf9 => Some(3),
                _ => None,
            }
        }
    }

    /// Records the counter's value before `main`, from which its rate is measured.
    pub(crate) fn prepare() {
        set_allowed(true);
        note(&START);
    }

    fn note([ticks, clock]: &Moment) {
        ticks.store(counter(), Ordering::Relaxed);
        clock.store(kernel::clock_of_system(libc::CLOCK_MONOTONIC), Ordering::Relaxed);
    }

    fn noted(moment: &Moment) -> [u64; 2] {
        moment.each_ref().map(|value| value.load(Ordering::Relaxed))
    }

    /// Makes readings fault in this thread, and in those that it starts.
    pub(crate) fn begin() {
        // Without the hooks that run before other programs start, these would die of the fault.
        if !cfg!(feature = "network") || PREVIOUS.get().is_some() {
            return;
        }
        let handler: unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
        let own = libc::sigaction {
            sa_sigaction: handler as usize,
            // The handler runs on the stack that std provides for its own handler, which `pass_on`
            // may call.
            sa_flags: libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER,
            // SAFETY: no signals, and no function.
            ..unsafe { mem::zeroed() }
        };
        // SAFETY: the handler stays, and the place for the previous one is valid.
        unsafe {
            let mut previous = mem::zeroed();
            if libc::sigaction(libc::SIGSEGV, &raw const own, &raw mut previous) == 0 {
                let _ = PREVIOUS.set(previous);
                IS_PROHIBITED.store(true, Ordering::Relaxed);
                note(&BEGIN);
                set_allowed(false);
            }
        }
    }

    /// Lets this thread, and those that it starts, read the counter.
    pub(super) fn allow() {
        if IS_PROHIBITED.load(Ordering::Relaxed) {
            set_allowed(true);
        }
    }

    /// Runs something that starts a program, which may read the counter.
    #[cfg(feature = "network")]
    pub(crate) fn allowed<R>(call: impl FnOnce() -> R) -> R {
        allow();
        let result = call();
        if IS_PROHIBITED.load(Ordering::Relaxed) && SELF.get().is_some() {
            set_allowed(false);
        }
        result
    }

    /// Sets whether this thread may read the counter, and returns whether the system has complied.
    fn set_allowed(is_allowed: bool) -> bool {
        let how = if is_allowed { libc::PR_TSC_ENABLE } else { libc::PR_TSC_SIGSEGV };
        // SAFETY: the call takes a number.
        unsafe { libc::prctl(libc::PR_SET_TSC, how as c_ulong) == 0 }
    }

    fn counter() -> u64 {
        // SAFETY: the instruction takes nothing, and every processor of this kind has it.
        unsafe { _rdtsc() }
    }

    /// Reads the real counter in a thread that may not read it. Returns `None` where the system
    /// does not let it.
    fn real_counter() -> Option<u64> {
        if !set_allowed(true) {
            return None;
        }
        let now = counter();
        set_allowed(false);
        Some(now)
    }

    /// Estimates the counter's present value from the clock, which does not read it.
    fn estimated_counter() -> u64 {
        counter_at(kernel::clock_of_system(libc::CLOCK_MONOTONIC))
    }

    /// Returns the counter's value at a time of the monotonic clock.
    fn counter_at(time: u64) -> u64 {
        /// Ticks in a number of nanoseconds.
        static RATE: OnceLock<(u64, u64)> = OnceLock::new();
        let [counter, clock] = noted(&START);
        let (ticks, nanoseconds) = *RATE.get_or_init(|| {
            let now =
                real_counter().map(|now| [now, kernel::clock_of_system(libc::CLOCK_MONOTONIC)]);
            let [counter_later, later] = now.unwrap_or_else(|| noted(&BEGIN));
            let ticks = counter_later.saturating_sub(counter);
            (ticks, later.saturating_sub(clock).max(1))
        });
        let since = u128::from(time.saturating_sub(clock));
        let passed = since * u128::from(ticks) / u128::from(nanoseconds);
        counter.wrapping_add(passed as u64)
    }

    /// Returns the monotonic clock's virtual time, or `None` where nothing is scheduled. A reading
    /// by the program advances it as a reading of the clock does. One for the system's own use does
    /// not.
    fn counted_time(is_for_system: bool) -> Option<u64> {
        let me = SELF.get()?;
        if !is_for_system && !me.is_busy.load(Ordering::Relaxed) {
            note_source(Source::Clock);
            pass_reading(me);
        }
        Some(MONOTONIC_START.load(Ordering::Relaxed) + now())
    }

    /// Returns whether this place belongs to the system's own code in this process (the vDSO).
    fn is_of_system(place: usize) -> bool {
        /// Upper bound of that code's length, in bytes.
        const LENGTH: usize = 1 << 16;
        // SAFETY: the function accepts any number.
        let start = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
        start != 0 && (start..start + LENGTH).contains(&place)
    }

    /// Handles a reading that faulted.
    unsafe extern "C" fn handle(
        signal: c_int,
        information: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        /// Index of the general registers in a context, in words, and those registers' indices, as
        /// in `ucontext.h`.
        const REGISTERS: usize = 5;
        const RDX: usize = 12;
        const RAX: usize = 13;
        const RCX: usize = 14;
        const RIP: usize = 16;
        /// Code of a fault that the processor raised without an address.
        const SI_KERNEL: c_int = 128;
        // SAFETY: the system passes valid pointers, and the instruction that faulted was read by
        // the processor.
        unsafe {
            let registers = context.cast::<u64>().add(REGISTERS);
            let place = *registers.add(RIP) as usize as *const u8;
            let is_processors = (*information).si_code == SI_KERNEL;
            let Some(length) = is_processors.then(|| reading_at(place)).flatten() else {
                return pass_on(signal, information, context);
            };
            let is_own = is_of_system(place as usize);
            let value = match counted_time(is_own) {
                // The instruction runs once more, and now may read.
                None if set_allowed(true) => return,
                None => estimated_counter(),
                Some(_) if is_own => real_counter().unwrap_or_else(estimated_counter),
                Some(time) => counter_at(time),
            };
            *registers.add(RAX) = value & 0xffff_ffff;
            *registers.add(RDX) = value >> 32;
            if length == 3 {
                // The number of the processor, which is unspecified.
                *registers.add(RCX) = 0;
            }
            *registers.add(RIP) += length;
        }
    }

    /// Runs the previous handler, for a fault that is not a reading of the counter.
    ///
    /// # Safety
    /// The arguments must be those of a handler.
    unsafe fn pass_on(signal: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
        let Some(previous) = PREVIOUS.get() else { return };
        // SAFETY: the flags state the signature of the previous handler. Without one, the fault
        // recurs under the previous action.
        unsafe {
            match previous.sa_sigaction {
                libc::SIG_DFL | libc::SIG_IGN => {
                    libc::sigaction(signal, previous, ::std::ptr::null_mut());
                }
                handler if previous.sa_flags & libc::SA_SIGINFO != 0 => {
                    let handler: unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                        mem::transmute(handler);
                    handler(signal, information, context);
                }
                handler => {
                    let handler: unsafe extern "C" fn(c_int) = mem::transmute(handler);
                    handler(signal);
                }
            }
        }
    }
}
