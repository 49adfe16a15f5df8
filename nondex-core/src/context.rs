//! The test that a thread works for, and the state from which its choices are made.
//!
//! A process has at most one [`Context`], read from the environment at its first choice. A thread
//! belongs to one test of one context. A thread that it starts through the `thread` shim inherits
//! both, and extends the logical thread path. While a thread is [paused](pause), it runs code of
//! this tool: it makes no choices and records nothing.

#![cfg_attr(
    not(test),
    warn(clippy::disallowed_macros, clippy::disallowed_methods, clippy::disallowed_types)
)]

mod attempt;
mod backtrace;
pub mod end;
mod entered;
mod failures;
mod harness;
pub mod inheritance;
mod journal;
mod keys;
pub mod network;
mod numbered;
pub mod operation;
pub(crate) mod orders;
pub(crate) mod points;
mod process;
mod run;
mod sites;
mod slot;
pub mod stack;
mod stacks;
mod start;
pub mod system;
mod text;
mod thread;
mod written;

pub use entered::{
    Attending, Entered, Inherited, attend, before_exec, end_process, enter, inherit,
};
pub use harness::{begin_harness, has_harness};
pub use process::{fork_global, global, note_written, renounce, tells_writes};
pub use run::Context;
pub(crate) use sites::Reached;
pub use slot::{
    Pause, after_fork_in_child, before_fork, end_thread, flush, is_forked_beside_threads,
    is_own_work, level, name_child, new_object, note_covered, note_creation, note_source, pause,
    traces_elements,
};
pub(crate) use slot::{
    is_traced, key_without_seed, once, path_hash, reach, reach_at, reading, record, table_key,
    unrecorded, with_thread,
};
pub use start::{adopt, take_global};
pub(crate) use thread::ThreadState;
pub use thread::place;
