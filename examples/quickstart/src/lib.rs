//! Reads the access logs of a web server and reports on them.

mod entry;
mod fx;
mod logs;
mod report;

pub use entry::{Entry, ParseError};
pub use logs::read_logs;
pub use report::Report;
