//! Findings: failing runs that can be replayed.
//!
//! A [`Finding`] has everything that `cargo nondex replay` needs: the spec, how the test was built,
//! and a [`Fingerprint`] of what it was built from. The [`FindingStore`] keeps findings in the
//! target directory, one file for each [`id`](crate::report::id). Failures to keep permanently go
//! to a committed file, the [`Regressions`].

mod finding;
mod fingerprint;
pub mod history;
pub mod known;
mod named;
mod regressions;
pub mod skip_list;
mod store;

pub use finding::{Binary, Finding, SCHEMA};
pub use fingerprint::Fingerprint;
pub use named::{choose, only};
pub use regressions::{DEFAULT_FILE, Regression, Regressions, TriedSeed};
pub use store::{FindingStore, KEPT_FINDINGS};
