//! Test harness inside a test executable, which replaces libtest.
//!
//! In whole-program mode, [`libtest`] takes the place of the crate `test` against which `#[test]`s
//! are compiled. A target with `harness = false` calls [`main()`](main) itself:
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
//! Either way the executable implements libtest's protocol, so `cargo test`, nextest and IDEs find
//! and run its tests. If the driver (or `NONDEX_SEED`) requests a run, each test runs within a
//! context. Choices are made and recorded for the test. Its outcome, with message and place, is
//! part of the record. With the driver, only the output of the tests is printed. Without such a
//! request, the harness adds nothing.
//!
//! In a run without the driver, a test may fail only because there is no network, even when it runs
//! again alone. Such a test is reported as ignored, with this reason. `NONDEX_NO_SANITISE=1` turns
//! this off (feature `sanitise`; Linux with glibc, where the network is observed).
//!
//! Differences from libtest:
//! - Output is not captured, as with `--no-capture`: only std can capture it, and only for libtest.
//! - Runs print one line for each test, whatever the format. Listings have libtest's formats
//!   `pretty`, `terse` and `json`.
//! - Benchmarks are run once, as tests, and not measured.
//! - Tests are neither shuffled nor timed.
//! - The text of an error that a `#[test]` returned is printed by std and is not in the record.

mod alone;
mod arguments;
mod attendance;
mod bencher;
mod console;
mod descriptor;
mod execution;
mod experiment;
mod forks;
mod heap;
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
/// false`. Also accepts trials of libtest-mimic.
///
/// Returns if all tests passed. Otherwise ends the process with code 101. It does so too if two
/// trials have the same name, because `--exact` could not distinguish them.
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
