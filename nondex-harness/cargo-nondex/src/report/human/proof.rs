//! The certainty that a call is responsible.

use crate::report::schema::TestReport;

/// Describes how the culprits of a test were confirmed. Returns `None` without culprits.
pub fn proof(test: &TestReport) -> Option<&'static str> {
    let proof = if test.has_confirmed_culprits() {
        "confirmed both ways: with only these calls changed the outcome always changes, \
         without them never"
    } else {
        "suspected: the search did not confirm it both ways"
    };
    (!test.culprits.is_empty()).then_some(proof)
}
