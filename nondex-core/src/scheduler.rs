//! The scheduler of a test's threads, as a state machine: which thread runs, which are ready, what
//! the others wait for, and how virtual time passes.
//!
//! The embedder owns the real threads. It reports to the [`Machine`] what a thread does, for
//! instance that it waits at an address, yields or ends. It carries out the answers: it resumes a
//! thread, delays it, or ends the process. The machine asks the [`World`] about the rest of the
//! system. An operation at which nothing has to be decided costs a few loads and stores of the
//! [`Lease`], without a lock.
//!
//! Nothing here makes a system call, reads a clock, or allocates memory after a thread was added.
//! So a simulated kernel can drive the machine, too.
//!
//! Without a choice, the schedule is fair and close to the machine's. The running thread continues
//! until it waits, yields, or has used up its time slice. Ready threads follow in the order in
//! which they became ready. Virtual time advances with each operation, and jumps to the next
//! deadline when all threads wait.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)
)]

mod decisions;
mod delays;
mod ends;
mod fence;
mod lateness;
mod lease;
mod list;
mod looks;
mod machine;
mod next;
mod operation;
pub mod policy;
mod reads;
mod states;
mod thread;
mod time;
mod timers;
mod turn;
mod waits;
mod world;

pub use lateness::{READING, is_late_alone, is_old, time_of_reading};
pub use lease::Lease;
pub use looks::{Looks, SPIN};
pub use machine::{Counts, Machine};
pub use next::Next;
pub use operation::{Class, Operation};
pub use reads::Reads;
pub use thread::{State, ThreadId, Threads, Woken};
pub use turn::{Request, Turn};
pub use waits::Wake;
pub use world::{Harness, World};

/// Duration of an operation in virtual time. All durations here are in nanoseconds.
pub const STEP: u64 = 100;

/// Time slice of a thread while others are ready.
pub const SLICE: u64 = 1_000_000;
