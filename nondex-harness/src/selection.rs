//! Selects the tests to run, from filters and options about ignored tests and benchmarks.

use super::arguments::{Arguments, RunIgnored};
use super::descriptor::TestDescAndFn;

/// Returns the tests that `arguments` select, in their order. A selected ignored test is no longer
/// marked as ignored.
pub(crate) fn select(arguments: &Arguments, mut tests: Vec<TestDescAndFn>) -> Vec<TestDescAndFn> {
    let matches = |test: &TestDescAndFn, filter: &String| {
        let name = test.desc.name.as_slice();
        if arguments.exact { name == filter } else { name.contains(filter.as_str()) }
    };
    tests.retain(|test| {
        let chosen = arguments.filters.is_empty()
            || arguments.filters.iter().any(|filter| matches(test, filter));
        chosen
            && !arguments.skip.iter().any(|filter| matches(test, filter))
            && (arguments.run_ignored != RunIgnored::Only || test.desc.ignore)
    });
    if arguments.run_ignored != RunIgnored::No {
        for test in &mut tests {
            test.desc.ignore = false;
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::Trial;

    fn selected(arguments: &Arguments) -> Vec<String> {
        let tests = vec![
            Trial::new("a", || {}).into(),
            Trial::new("a::b", || {}).with_ignored_flag(true).into(),
            Trial::new("c", || {}).with_should_panic().into(),
        ];
        select(arguments, tests)
            .iter()
            .map(|test| format!("{}{}", test.desc.name, if test.desc.ignore { "!" } else { "" }))
            .collect()
    }

    #[test]
    fn a_test_that_any_filter_matches_and_no_skip_is_selected() {
        let mut arguments = Arguments::default();
        assert_eq!(selected(&arguments), ["a", "a::b!", "c"]);
        arguments.filters = vec!["b".to_owned(), "c".to_owned()];
        assert_eq!(selected(&arguments), ["a::b!", "c"]);
        arguments.skip = vec!["c".to_owned()];
        assert_eq!(selected(&arguments), ["a::b!"]);
    }

    #[test]
    fn exact_holds_for_filters_and_skips() {
        let mut arguments = Arguments { exact: true, ..Arguments::default() };
        arguments.filters = vec!["a".to_owned(), "c".to_owned()];
        arguments.skip = vec!["a:".to_owned()];
        assert_eq!(selected(&arguments), ["a", "c"]);
    }

    #[test]
    fn ignored_tests_are_run_when_asked_for() {
        let only = Arguments { run_ignored: RunIgnored::Only, ..Arguments::default() };
        assert_eq!(selected(&only), ["a::b"]);
        let also = Arguments { run_ignored: RunIgnored::Yes, ..Arguments::default() };
        assert_eq!(selected(&also), ["a", "a::b", "c"]);
    }
}
