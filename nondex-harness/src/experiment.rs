//! The tests of an experiment, by its spec: those that run one after the other, and those that run
//! in forks afterwards.

use nondex_core::RunSpec;

use super::descriptor::{TestDescAndFn, TestFn};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Experiment {
    /// What runs in this process, in order.
    pub(crate) tests: Vec<TestDescAndFn>,
    /// What runs in the middle of another one of them.
    pub(crate) between: Option<TestDescAndFn>,
    /// What runs in forks of it.
    pub(crate) forks: Vec<TestDescAndFn>,
}

impl Experiment {
    /// The experiment that `spec` asks for, out of all tests; `None` when it asks for one test
    /// alone, and nothing about it. A name that no test has is left out, and so is the second time
    /// of a test whose function can be called only once; where one that comes first is left out,
    /// there are no forks.
    pub(crate) fn of(spec: &RunSpec, tests: &mut Vec<TestDescAndFn>) -> Option<Self> {
        if spec.before().is_empty() && spec.forks().is_none() && !spec.records_changes() {
            return None;
        }
        let mut all = std::mem::take(tests);
        let mut take = |name: &str| {
            let place = all.iter().position(|test| test.desc.name.as_slice() == name)?;
            let mut test = again(&all[place]).unwrap_or_else(|| all.swap_remove(place));
            // It was requested by its name.
            test.desc.ignore = false;
            Some(test)
        };
        let mut tests: Vec<TestDescAndFn> = spec.tests().filter_map(&mut take).collect();
        let forks = spec.forks().into_iter().flat_map(|forks| &forks.tests);
        let forks = forks.filter(|_| tests.len() == spec.tests().count());
        let forks = forks.filter_map(|name| take(name)).collect();
        let interleaving = spec.interleaving().filter(|_| tests.len() == 2);
        let place = interleaving.map(|tests| usize::from(tests.is_inner));
        Some(Experiment { between: place.map(|place| tests.remove(place)), forks, tests })
    }
}

/// The same test for another call, if its function can be called more than once.
fn again(test: &TestDescAndFn) -> Option<TestDescAndFn> {
    let testfn = match test.testfn {
        TestFn::StaticTestFn(function) => TestFn::StaticTestFn(function),
        TestFn::StaticBenchFn(function) => TestFn::StaticBenchFn(function),
        TestFn::DynTestFn(_) | TestFn::DynBenchFn(_) => return None,
    };
    Some(TestDescAndFn { desc: test.desc.clone(), testfn })
}
