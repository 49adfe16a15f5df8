//! How sure it is that a call is responsible.

use crate::report::schema::TestReport;

/// How the culprits of a test were confirmed; `None` without culprits.
#[must_use]
pub fn proof(test: &TestReport) -> Option<&'static str> {
    if test.culprits.is_empty() {
        return None;
    }
    Some(
        match test.culprits.iter().all(|culprit| culprit.confirmed) {
            true => {
                "confirmed both ways: with only these calls changed the outcome always changes, \
             without them never"
            }
            false => "suspected: the search did not confirm it both ways",
        },
    )
}
