//! Replaces the crate `test`: the programs that rustc and rustdoc generate from tests call this
//! module.
//!
//! `rustc --test` writes each `#[test]` as a constant [`TestDescAndFn`] and ends in
//! [`test_main_static`]. rustdoc does the same with doctests and [`test_main_with_exit_callback`].
//! Passing another crate with `--extern test=..` suffices to be called instead of libtest, on a
//! stable toolchain. So all names are libtest's, even of items that only nightly code can use.

use std::env;
use std::process::{self, ExitCode, Termination};

use nondex_core::context;

use super::arguments::{Arguments, Request};
use super::{console, runner};

pub use super::bencher::{Bencher, black_box};
pub use super::descriptor::TestFn::*;
pub use super::descriptor::TestName::*;
pub use super::descriptor::{ShouldPanic, TestDesc, TestDescAndFn, TestFn, TestName, TestType};
pub use super::verdict::ERROR_EXIT_CODE;

/// Options that the caller of [`test_main`] sets instead of the command line. They are accepted for
/// compatibility with libtest and have no effect: nothing is captured, and tests always run in this
/// process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Same as `--show-output`.
    pub display_output: bool,
    /// Whether a panic ends the process.
    pub panic_abort: bool,
}

impl Options {
    /// Returns libtest's defaults.
    #[must_use]
    pub fn new() -> Self {
        Options::default()
    }

    /// Sets [`display_output`](Self::display_output).
    #[must_use]
    pub const fn display_output(mut self, display_output: bool) -> Self {
        self.display_output = display_output;
        self
    }

    /// Sets [`panic_abort`](Self::panic_abort).
    #[must_use]
    pub const fn panic_abort(mut self, panic_abort: bool) -> Self {
        self.panic_abort = panic_abort;
        self
    }
}

/// Converts the return value of a test function into a result.
///
/// # Errors
/// Returns libtest's message if the exit code is not 0. The error that a test returned is printed
/// by std and is unknown here.
pub fn assert_test_result<T: Termination>(result: T) -> Result<(), String> {
    let code = result.report();
    if code == ExitCode::SUCCESS {
        return Ok(());
    }
    Err(format!(
        "the test returned a termination value with a non-zero status code ({}) which indicates a \
         failure",
        number_of(code)
    ))
}

/// Returns the number of an exit code. std only shows it in its debug text:
/// `ExitCode(unix_exit_status(1))`.
fn number_of(code: ExitCode) -> String {
    let text = format!("{code:?}");
    text.chars().filter(char::is_ascii_digit).collect()
}

/// Serves as the entry point of a program made by `rustc --test`.
pub fn test_main_static(tests: &[&TestDescAndFn]) {
    let args: Vec<String> = env::args().collect();
    test_main(&args, tests.iter().copied().map(owned).collect(), None);
}

/// Serves as the entry point with `panic = "abort"` for tests (nightly only). libtest runs each
/// test in a separate process. Here a failed test ends the run, because the driver starts one
/// process for each test anyway.
pub fn test_main_static_abort(tests: &[&TestDescAndFn]) {
    test_main_static(tests);
}

/// Runs or lists `tests` according to `args`, program name first. Ends the process with
/// [`ERROR_EXIT_CODE`] if a test fails.
pub fn test_main(args: &[String], tests: Vec<TestDescAndFn>, options: Option<Options>) {
    test_main_with_exit_callback(args, tests, options, || {});
}

/// Works like [`test_main`], and calls `exit_callback` after the last test.
pub fn test_main_with_exit_callback<F: FnOnce()>(
    args: &[String],
    tests: Vec<TestDescAndFn>,
    _options: Option<Options>,
    exit_callback: F,
) {
    context::begin_harness();
    let Some(arguments) = parse(args) else { return };
    let passed = if arguments.list {
        console::list(&arguments, tests).map(|()| true)
    } else {
        let passed = runner::run(&arguments, tests);
        exit_callback();
        passed
    };
    match passed {
        Ok(true) => {}
        Ok(false) => process::exit(ERROR_EXIT_CODE),
        Err(error) => fail(&format!("io error when listing tests: {error:?}")),
    }
}

/// Prints the times, in seconds, of doctests that rustdoc compiled together.
pub fn print_merged_doctests_times(args: &[String], total_time: f64, compilation_time: f64) {
    if let Some(arguments) = parse(args) {
        if let Err(error) = console::doctest_times(&arguments, total_time, compilation_time) {
            fail(&format!("io error when listing tests: {error:?}"));
        }
    }
}

fn parse(args: &[String]) -> Option<Arguments> {
    match Request::parse(args, |variable| env::var(variable).ok()) {
        Ok(Request::Run(arguments)) => Some(*arguments),
        Ok(Request::Help(text)) => {
            print!("{text}");
            None
        }
        Err(message) => fail(&message),
    }
}

fn fail(message: &str) -> ! {
    eprintln!("error: {message}");
    process::exit(ERROR_EXIT_CODE);
}

/// Copies a test that rustc generated.
fn owned(test: &TestDescAndFn) -> TestDescAndFn {
    let testfn = match test.testfn {
        StaticTestFn(f) => StaticTestFn(f),
        StaticBenchFn(f) => StaticBenchFn(f),
        _ => panic!("non-static tests passed to test::test_main_static"),
    };
    TestDescAndFn { desc: test.desc.clone(), testfn }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_judged_by_its_exit_code() {
        assert_eq!(assert_test_result(()), Ok(()));
        assert_eq!(assert_test_result(ExitCode::from(0)), Ok(()));
        assert_eq!(
            assert_test_result(ExitCode::from(42)).unwrap_err(),
            "the test returned a termination value with a non-zero status code (42) which \
             indicates a failure"
        );
    }
}
