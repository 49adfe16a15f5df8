//! The processor's time-stamp counter (`rdtsc`), by which some crates tell the time without asking
//! the C library.
//!
//! While a test is scheduled, reading it is made to fault in its threads (`prctl`, `PR_SET_TSC`),
//! and the handler of the fault answers with virtual time, at the counter's own rate: clocks that
//! are set by one another stay so. A thread that is not scheduled may read it again from its first
//! fault on, and so may every program that is started: the system keeps the prohibition across
//! `exec`. What the system's own code in the process (the vDSO) reads is always real. The counters
//! of other kinds of processors are left alone, and are real.

#[cfg(feature = "network")]
pub(crate) use faults::allowed;
pub(crate) use faults::{allow, begin, prepare};

/// Nothing is prohibited on this processor.
#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64")))]
mod faults {
    pub(crate) const fn prepare() {}

    pub(crate) const fn begin() {}

    pub(crate) const fn allow() {}

    #[cfg(feature = "network")]
    pub(crate) fn allowed<R>(call: impl FnOnce() -> R) -> R {
        call()
    }
}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
mod faults {
    use ::std::arch::x86_64::_rdtsc;
    use ::std::ffi::{c_int, c_ulong, c_void};
    use ::std::mem;
    use ::std::sync::OnceLock;
    use ::std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use nondex_core::Source;
    use nondex_core::context::note_source;

    use super::super::{SELF, kernel, now, pass_reading, start_of};
    use crate::libc;

    /// The counter and the clock at the start of the process.
    static START: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

    /// Whether any thread was prohibited to read it.
    static IS_PROHIBITED: AtomicBool = AtomicBool::new(false);

    /// What handled the fault before.
    static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

    /// The length of the instruction at this place, if it is one that reads the counter.
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

    /// Notes where the counter is, before `main`: its rate is told from there.
    pub(crate) fn prepare() {
        set_allowed(true);
        START[0].store(counter(), Ordering::Relaxed);
        START[1].store(kernel::clock(libc::CLOCK_MONOTONIC), Ordering::Relaxed);
    }

    /// Lets readings of this thread, and of those that it starts, fault.
    pub(crate) fn begin() {
        // Without what is called before other programs start, they would end by the fault.
        if !cfg!(feature = "network") || PREVIOUS.get().is_some() {
            return;
        }
        let handler: unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
        let own = libc::sigaction {
            sa_sigaction: handler as usize,
            // On the stack that std provides for its own handler, which may be called from here.
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
                set_allowed(false);
            }
        }
    }

    /// Lets this thread read it.
    pub(crate) fn allow() {
        if IS_PROHIBITED.load(Ordering::Relaxed) {
            set_allowed(true);
        }
    }

    /// Does something that starts a program, which may read it.
    #[cfg(feature = "network")]
    pub(crate) fn allowed<R>(call: impl FnOnce() -> R) -> R {
        allow();
        let result = call();
        if IS_PROHIBITED.load(Ordering::Relaxed) && SELF.get().is_some() {
            set_allowed(false);
        }
        result
    }

    fn set_allowed(is_allowed: bool) {
        let how = match is_allowed {
            true => libc::PR_TSC_ENABLE,
            false => libc::PR_TSC_SIGSEGV,
        };
        // SAFETY: the call takes a number. Where it is refused, nothing faults.
        unsafe { libc::prctl(libc::PR_SET_TSC, how as c_ulong) };
    }

    fn counter() -> u64 {
        // SAFETY: the instruction takes nothing, and every processor of this kind has it.
        unsafe { _rdtsc() }
    }

    /// The real counter, in a thread that may not read it.
    fn real_counter() -> u64 {
        set_allowed(true);
        let now = counter();
        set_allowed(false);
        now
    }

    /// What the counter is at a time of the monotonic clock.
    fn counter_at(time: u64) -> u64 {
        /// The ticks of so many nanoseconds.
        static RATE: OnceLock<(u64, u64)> = OnceLock::new();
        let [counter, clock] = [0, 1].map(|i| START[i].load(Ordering::Relaxed));
        let (ticks, nanoseconds) = *RATE.get_or_init(|| {
            let ticks = real_counter().saturating_sub(counter);
            (
                ticks,
                kernel::clock(libc::CLOCK_MONOTONIC)
                    .saturating_sub(clock)
                    .max(1),
            )
        });
        let since = u128::from(time.saturating_sub(clock));
        let passed = since * u128::from(ticks) / u128::from(nanoseconds);
        counter.wrapping_add(passed as u64)
    }

    /// The virtual time of the monotonic clock, which goes on as by a reading of it, unless the
    /// system reads the counter for its own use. `None` where nothing is scheduled.
    fn counted_time(is_for_system: bool) -> Option<u64> {
        let me = SELF.get()?;
        if !is_for_system && !me.is_busy.load(Ordering::Relaxed) {
            note_source(Source::Clock);
            pass_reading(me);
        }
        Some(start_of(libc::CLOCK_MONOTONIC) + now())
    }

    /// Whether the system's own code in this process is at this place.
    fn is_of_system(place: usize) -> bool {
        /// More than it has.
        const LENGTH: usize = 1 << 16;
        // SAFETY: it takes any number.
        let start = unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } as usize;
        start != 0 && (start..start + LENGTH).contains(&place)
    }

    /// Answers a reading that faulted.
    unsafe extern "C" fn handle(
        signal: c_int,
        information: *mut libc::siginfo_t,
        context: *mut c_void,
    ) {
        /// Where the general registers begin in a context, in words, and which they are, as
        /// `ucontext.h` has them.
        const REGISTERS: usize = 5;
        const RDX: usize = 12;
        const RAX: usize = 13;
        const RCX: usize = 14;
        const RIP: usize = 16;
        /// The fault is the processor's, of no address.
        const SI_KERNEL: c_int = 128;
        // SAFETY: the system gives both, and the instruction that faulted was read by the
        // processor.
        unsafe {
            let registers = context.cast::<u64>().add(REGISTERS);
            let place = *registers.add(RIP) as usize as *const u8;
            let is_processors = (*information).si_code == SI_KERNEL;
            let Some(length) = is_processors.then(|| reading_at(place)).flatten() else {
                return pass_on(signal, information, context);
            };
            let is_own = is_of_system(place as usize);
            let Some(time) = counted_time(is_own) else {
                // It reads it once more.
                return set_allowed(true);
            };
            let value = match is_own {
                true => real_counter(),
                false => counter_at(time),
            };
            *registers.add(RAX) = value & 0xffff_ffff;
            *registers.add(RDX) = value >> 32;
            if length == 3 {
                // The processor's number: any.
                *registers.add(RCX) = 0;
            }
            *registers.add(RIP) += length;
        }
    }

    /// Does what was done with another fault before.
    ///
    /// # Safety
    /// The arguments must be those of a handler.
    unsafe fn pass_on(signal: c_int, information: *mut libc::siginfo_t, context: *mut c_void) {
        let Some(previous) = PREVIOUS.get() else {
            return;
        };
        // SAFETY: the previous handler has the signature that its flags say. Without one, the fault
        // is made again.
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
