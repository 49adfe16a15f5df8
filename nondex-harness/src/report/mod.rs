//! What is written down: the schema, where it is stored, and the exit code that follows from it.

pub mod difference;
pub mod exit;
pub mod human;
pub mod junit;
pub mod schema;
pub mod store;

pub use exit::exit_code;
pub use schema::{Culprit, FailureReport, Report, TestReport, Verdict};
pub use store::RunDirectory;
