//! The claim of a failure at level STD, which is that today's std has the order that made the test
//! fail.

use nondex_core::{Family, Level};

use super::schema::{Report, TestReport};

/// Claims level ONE in place of STD where the order of a map or set may decide. The order of this
/// toolchain's std is unknown. The failures keep the levels of their runs.
pub fn disclaim_std(report: &mut Report) {
    report.tests.iter_mut().for_each(of_test);
    report.count_again();
}

fn of_test(test: &mut TestReport) {
    let mut deciding: Vec<Family> = test.culprits.iter().map(|one| one.family).collect();
    if deciding.is_empty() {
        deciding.extend(test.points.iter().map(|point| point.family));
    }
    let is_of_std = |family| matches!(family, Family::HashMap | Family::HashSet);
    if !deciding.into_iter().any(is_of_std) {
        return;
    }
    if test.weakest_level == Some(Level::Std) {
        test.weakest_level = Some(Level::One);
    }
    test.verified.retain(|level| *level != Level::Std);
    test.flaky_today = test.is_flaky_today();
}

#[cfg(test)]
mod tests {
    use nondex_core::Site;

    use super::super::schema::tests::test;
    use super::super::schema::{Culprit, Verdict};
    use super::*;

    /// Returns a test that fails at STD because of a choice of this family.
    fn failing(family: Family) -> TestReport {
        let site = Site {
            api: "std::collections::HashMap::iter".into(),
            family,
            file: "src/lib.rs".into(),
            line: 1,
            column: 1,
        };
        let mut test = test(Verdict::ImplementationDependent);
        test.weakest_level = Some(Level::Std);
        test.culprits = vec![Culprit::new(&site)];
        test.verified = vec![Level::Std, Level::One];
        test.describe_rate();
        test
    }

    #[test]
    fn the_order_of_an_unknown_std_is_not_claimed_to_be_that_of_today() {
        for family in [Family::HashMap, Family::HashSet] {
            let mut test = failing(family);
            assert!(test.is_flaky_today());
            of_test(&mut test);
            assert_eq!(test.weakest_level, Some(Level::One));
            assert_eq!(test.verified, [Level::One]);
            assert!(!test.is_flaky_today());
            assert_eq!(test.flaky_today, test.is_flaky_today());
        }
    }

    #[test]
    fn what_no_map_and_no_set_decides_is_claimed_as_before() {
        for family in [Family::Directory, Family::Entropy, Family::Time] {
            let before = failing(family);
            let mut test = before.clone();
            of_test(&mut test);
            assert_eq!(test, before, "{family:?}");
        }
    }
}
