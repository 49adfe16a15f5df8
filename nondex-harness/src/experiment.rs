//! Selects the tests of an experiment from its spec: tests that run one after the other, and tests
//! that run in forks afterwards.

use nondex_core::RunSpec;

use super::descriptor::{TestDescAndFn, TestFn};

/// Tests of an experiment.
#[derive(Debug)]
pub(crate) struct Experiment {
    /// Tests that run in this process, in order.
    pub(crate) tests: Vec<TestDescAndFn>,
    /// Test that runs in the middle of one of `tests`.
    pub(crate) between: Option<TestDescAndFn>,
    /// Tests that run in forks of this process.
    pub(crate) forks: Vec<TestDescAndFn>,
}

impl Experiment {
    /// Returns the experiment that `spec` requests, out of all tests. Returns `None` if it requests
    /// only one test, without recording changes. Unknown names are left out, and so is the second
    /// run of a test whose function can only be called once. If a test before the forks is left
    /// out, there are no forks.
    pub(crate) fn of(spec: &RunSpec, tests: &mut Vec<TestDescAndFn>) -> Option<Self> {
        if spec.before().is_empty() && spec.forks().is_none() && !spec.records_changes() {
            return None;
        }
        let mut all = std::mem::take(tests);
        let mut take = |name: &str| {
            let place = all.iter().position(|test| test.desc.name.as_slice() == name)?;
            let mut test = again(&all[place]).unwrap_or_else(|| all.swap_remove(place));
            // A requested test runs even if it is ignored.
            test.desc.ignore = false;
            Some(test)
        };
        let mut tests: Vec<TestDescAndFn> = spec.tests().filter_map(&mut take).collect();
        let is_whole = tests.len() == spec.tests().count();
        let forks = spec
            .forks()
            .into_iter()
            .flat_map(|forks| &forks.tests)
            .filter(|_| is_whole)
            .filter_map(|name| take(name))
            .collect();
        let interleaving = spec.interleaving().filter(|_| tests.len() == 2);
        let place = interleaving.map(|tests| usize::from(tests.is_inner));
        Some(Experiment { between: place.map(|place| tests.remove(place)), forks, tests })
    }
}

/// Returns the same test for another call, if its function can be called more than once.
fn again(test: &TestDescAndFn) -> Option<TestDescAndFn> {
    let testfn = match test.testfn {
        TestFn::StaticTestFn(function) => TestFn::StaticTestFn(function),
        TestFn::StaticBenchFn(function) => TestFn::StaticBenchFn(function),
        TestFn::DynTestFn(_) | TestFn::DynBenchFn(_) => return None,
    };
    Some(TestDescAndFn { desc: test.desc.clone(), testfn })
}
