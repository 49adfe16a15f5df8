//! End-to-end tests of the binary: each runs `cargo-nondex` on a copy of a small project from
//! `tests/fixtures` or `examples` and compares the report, the exit code and the messages with what
//! is expected.

#![cfg(target_os = "linux")]

mod adversarial;
mod archive;
mod attribution;
mod backtraces;
mod bad_input;
mod beside;
mod bisect;
mod builds;
mod chance;
mod changed;
mod ci;
mod classify;
mod clocks;
mod command_line;
mod config;
#[cfg(target_arch = "x86_64")]
mod confined;
mod coverage;
mod daemons;
mod deadlocks;
mod deflake;
mod distance;
mod doctests;
mod events;
mod examples;
mod findings;
mod groups;
mod guard;
mod harnesses;
mod hostile;
mod interleavings;
mod interruption;
mod keys;
mod known;
mod limits;
mod linkage;
mod locked;
mod meaning;
mod order;
mod ordinary;
mod own_choices;
mod page;
mod places;
mod processes;
mod schedules;
mod shards;
mod support;
mod surroundings;
mod workflow;
mod world;
