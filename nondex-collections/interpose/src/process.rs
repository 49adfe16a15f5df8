//! Operations of a test process on itself: see [`System`].

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "asked by the harness, before and after tests, and where it lets one test wait for \
        another"
)]

mod children;
mod files;
mod fork;
mod held;
mod image;
pub(crate) mod number;
mod pages;
mod states;
mod surroundings;
pub(crate) mod tracer;
pub(crate) mod watch;

use ::std::ffi::{CStr, c_char};
use ::std::ptr;
use ::std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use ::std::time::Duration;

use nondex_core::context::system::{Access, ForkEnd, Others, System, Tell};
use nondex_core::json::Object;
use nondex_core::protocol::spec::SPEC_VARIABLE;
use nondex_core::{RunSpec, StateChange, StateId, StateKind};

use crate::{accessed, covered, interrupt, libc, schedule};

/// This process.
#[derive(Debug)]
pub(crate) struct Process;

impl System for Process {
    fn others(&self) -> Others {
        fork::others()
    }

    fn fork(&self, spec: &str, limit: Duration, work: &mut dyn FnMut() -> i32) -> Option<ForkEnd> {
        fork::fork(limit, &mut || {
            replace_spec(spec);
            covered::keep_apart();
            work()
        })
    }

    fn mark(&self, spec: &RunSpec) {
        states::mark(spec);
    }

    fn changes(&self) -> Vec<StateChange> {
        states::changes()
    }

    fn restore(&self, states: &[StateId]) {
        states::restore(states);
    }

    fn watch(&self, states: &[StateId], tell: Option<Tell>) -> bool {
        accessed::begin(states, tell);
        let is_seen = watch::begin(states, tell);
        // Last, so that accesses by the setup of the others are not recorded.
        if states.contains(&StateId::every(StateKind::Static)) {
            pages::begin();
        }
        is_seen
    }

    fn join_watch(&self) {
        watch::join();
    }

    fn interrupt(&self, access: u64, interruption: fn() -> bool) {
        interrupt::begin(access, interruption);
    }

    fn keep(&self, states: &[StateId]) {
        states::keep(states);
    }

    fn hide(&self, states: &[StateId]) {
        states::hide(states);
    }

    fn put_back(&self) {
        states::put_back();
    }

    fn begin_schedule(&self, spec: &RunSpec, test: &str) {
        schedule::begin(spec, test);
    }

    fn end_schedule(&self) {
        schedule::end();
    }

    fn accesses(&self) -> Vec<Access> {
        let mut accesses = pages::end();
        accesses.extend(watch::end());
        accesses.extend(accessed::end());
        accesses
    }

    fn covered(&self, object: &mut Object<'_>) -> bool {
        covered::covered(object)
    }
}

/// Address and length of the run spec in the block of variables with which the process was started.
static SPEC: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());
static SPEC_LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Records where the run spec is, before it is removed from the environment. Returns whether there
/// is one. Allocates no memory.
pub(crate) fn find_spec() -> bool {
    const NAME: [u8; SPEC_VARIABLE.len() + 1] = {
        let mut name = [0; SPEC_VARIABLE.len() + 1];
        let mut at = 0;
        while at < SPEC_VARIABLE.len() {
            name[at] = SPEC_VARIABLE.as_bytes()[at];
            at += 1;
        }
        name
    };
    // SAFETY: the name ends in NUL, and the process has one thread.
    let value = unsafe { libc::getenv(NAME.as_ptr().cast()) };
    if !value.is_null() {
        SPEC.store(value, Ordering::Relaxed);
        // SAFETY: the value of a variable ends in NUL.
        SPEC_LENGTH.store(unsafe { libc::strlen(value) }, Ordering::Relaxed);
    }
    !value.is_null()
}

/// Makes the programs that this process starts find another run spec. It is written over the one in
/// the initial environment, or to the file that is named there. A spec that is longer than the
/// first is not written into the environment.
fn replace_spec(spec: &str) {
    let place = SPEC.load(Ordering::Relaxed);
    let length = SPEC_LENGTH.load(Ordering::Relaxed);
    if place.is_null() {
        return;
    }
    // SAFETY: the value of a variable ends in NUL, and is still where it was found.
    let value = unsafe { CStr::from_ptr(place) };
    if let Some(path) = value.to_str().ok().and_then(|value| value.strip_prefix('@')) {
        let _ = ::std::fs::write(path, spec);
        return;
    }
    if spec.len() > length {
        return;
    }
    // SAFETY: the initial block of variables lives as long as the process. No other code refers to
    // this part of it, and no more is written than fits.
    unsafe {
        ptr::write_bytes(place, 0, length);
        ptr::copy_nonoverlapping(spec.as_ptr().cast(), place, spec.len());
    }
}
