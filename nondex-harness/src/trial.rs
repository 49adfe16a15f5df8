//! Defines `Trial`, a test made at run time, for `harness = false` targets.

use std::fmt::Debug;
use std::panic::Location;

use super::bencher::Bencher;
use super::descriptor::{ShouldPanic, TestDesc, TestDescAndFn, TestFn, TestName, TestType};

/// Test or benchmark made at run time. With the feature `libtest-mimic`, it can be converted from a
/// trial of that crate.
#[derive(Debug)]
#[must_use = "a trial runs when it is passed to `nondex_harness::main`"]
pub struct Trial {
    test: TestDescAndFn,
}

/// Return type of a [`Trial`]'s function: nothing, or a `Result` whose error fails the test.
pub trait TestReturn {
    /// Converts the return value into a result.
    ///
    /// # Errors
    /// Returns the `Debug` text of the error, as in a `#[test]` that returns a `Result`.
    fn into_result(self) -> Result<(), String>;
}

impl TestReturn for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Debug> TestReturn for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| format!("{error:?}"))
    }
}

impl Trial {
    /// Creates a test called `name` that passes if `function` returns without an error. Its source
    /// line is that of the caller.
    #[track_caller]
    pub fn new<R: TestReturn>(
        name: impl Into<String>,
        function: impl FnOnce() -> R + Send + 'static,
    ) -> Self {
        let function = move || shown(function().into_result());
        Trial::from_function(
            name.into(),
            Some(Location::caller()),
            TestFn::DynTestFn(Box::new(function)),
        )
    }

    /// Creates a benchmark called `name`, which is run once, as a test. Its source line is that of
    /// the caller.
    #[track_caller]
    pub fn bench<R: TestReturn>(
        name: impl Into<String>,
        function: impl Fn(&mut Bencher) -> R + Send + 'static,
    ) -> Self {
        let function = move |bencher: &mut Bencher| shown(function(bencher).into_result());
        Trial::from_function(
            name.into(),
            Some(Location::caller()),
            TestFn::DynBenchFn(Box::new(function)),
        )
    }

    pub(crate) fn from_function(
        name: String,
        place: Option<&'static Location<'static>>,
        testfn: TestFn,
    ) -> Self {
        let line = place.map_or(0, |place| place.line() as usize);
        let column = place.map_or(0, |place| place.column() as usize);
        Trial {
            test: TestDescAndFn {
                desc: TestDesc {
                    name: TestName::DynTestName(name),
                    ignore: false,
                    ignore_message: None,
                    source_file: place.map_or("", Location::file),
                    start_line: line,
                    start_col: column,
                    end_line: line,
                    end_col: column,
                    should_panic: ShouldPanic::No,
                    compile_fail: false,
                    no_run: false,
                    test_type: TestType::IntegrationTest,
                },
                testfn,
            },
        }
    }

    /// Sets whether the test only runs with `--ignored` or `--include-ignored`, like `#[ignore]`.
    pub fn with_ignored_flag(mut self, ignored: bool) -> Self {
        self.test.desc.ignore = ignored;
        self
    }

    /// Ignores the test for this reason, like `#[ignore = "reason"]`.
    pub fn with_ignored_reason(mut self, reason: &'static str) -> Self {
        self.test.desc.ignore = true;
        self.test.desc.ignore_message = Some(reason);
        self
    }

    /// Makes the test pass only if it panics, like `#[should_panic]`.
    pub fn with_should_panic(mut self) -> Self {
        self.test.desc.should_panic = ShouldPanic::Yes;
        self
    }

    /// Makes the test pass only if it panics with a message that contains `text`, like
    /// `#[should_panic(expected = "text")]`.
    pub fn with_expected_panic(mut self, text: &'static str) -> Self {
        self.test.desc.should_panic = ShouldPanic::YesWithMessage(text);
        self
    }

    /// Returns the name of the test.
    #[must_use]
    pub fn name(&self) -> &str {
        self.test.desc.name.as_slice()
    }
}

impl From<Trial> for TestDescAndFn {
    fn from(trial: Trial) -> Self {
        trial.test
    }
}

/// Prints an error like std does for a `#[test]`.
fn shown(result: Result<(), String>) -> Result<(), String> {
    if let Err(error) = &result {
        eprintln!("Error: {error}");
    }
    result
}
