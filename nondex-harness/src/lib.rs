//! The harness inside a test executable, in place of libtest.
//!
//! In whole-program mode the crate `test` that ordinary `#[test]`s are compiled against is
//! [`libtest`]. A target with `harness = false` calls [`main()`](main) itself:
//!
//! ```no_run
//! use nondex_harness::Trial;
//!
//! fn main() {
//!     nondex_harness::main([
//!         Trial::new("adds", || assert_eq!(1 + 1, 2)),
//!         Trial::new("parses", || "1".parse::<u8>().map(drop)),
//!     ]);
//! }
//! ```
//!
//! Either way the executable speaks libtest's protocol, so that `cargo test`, nextest and IDEs find
//! and run its tests. When the driver (or `NONDEX_SEED`) asks for a run, each test works within its
//! context: choices are made and recorded for it, and its outcome, with message and place, goes to
//! the record; for the driver nothing else is printed than what the tests print. Otherwise nothing
//! is added.
//!
//! In a run without the driver, a test may fail only because there is no network, also when it is
//! run again alone. It is ignored, with that as its reason, unless `NONDEX_NO_SANITISE=1` (feature
//! `sanitise`; Linux with glibc, where the network is observed).
//!
//! What differs from libtest:
//! - Output is not captured: only std can, and only for libtest. It is as with `--no-capture`.
//! - Runs are shown with a line for each test, whatever the format. Listings have libtest's formats
//!   `pretty`, `terse` and `json`.
//! - Benchmarks are run once, as tests, and not measured.
//! - Tests are neither shuffled nor timed.
//! - The text of an error that a `#[test]` returned is printed by std and is not in the record.

mod alone;
mod arguments;
mod bencher;
mod console;
mod descriptor;
mod execution;
mod experiment;
mod forks;
mod interrupting;
pub mod libtest;
#[cfg(feature = "libtest-mimic")]
mod mimic;
mod network;
mod panics;
mod runner;
mod selection;
mod sharing;
mod trial;
mod verdict;

use std::collections::BTreeSet;
use std::env;

use libtest::{ERROR_EXIT_CODE, TestDescAndFn};

pub use trial::{TestReturn, Trial};

/// Runs or lists `trials` according to the command line: the `main` of a target with `harness =
/// false`. Takes trials of libtest-mimic, too.
///
/// Returns when all tests passed, or ends the process with code 101, also when two trials have the
/// same name: `--exact` could not tell them apart.
pub fn main<T: Into<Trial>>(trials: impl IntoIterator<Item = T>) {
    let tests: Vec<TestDescAndFn> = trials.into_iter().map(|trial| trial.into().into()).collect();
    let mut names = BTreeSet::new();
    if let Some(twice) =
        tests.iter().map(|test| test.desc.name.as_slice()).find(|name| !names.insert(*name))
    {
        eprintln!("error: two tests are called `{twice}`");
        std::process::exit(ERROR_EXIT_CODE);
    }
    let args: Vec<String> = env::args().collect();
    libtest::test_main(&args, tests, None);
}
