//! Operations that failed because a prerequisite is missing: a free port, a program, disk space.
//!
//! The spec selects the failures to record ([`RunSpec::observe`](crate::RunSpec::observe)); others
//! cost nothing.

use crate::json;

use super::site::Frame;

/// Operations whose failures can be observed: `bind` and `connect` to addresses of this machine,
/// starting a program, creating a folder, opening and writing a file.
pub const OPERATIONS: [&str; 6] = ["bind", "connect", "exec", "mkdir", "open", "write"];

/// Passes the names (of `errno`) of the errors that can be observed to a macro.
#[macro_export]
macro_rules! observed_errors {
    ($macro:ident) => {
        $macro! {
            E2BIG EACCES EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EBUSY ECONNREFUSED ECONNRESET
            EDQUOT EEXIST EFBIG EINVAL EIO EISDIR ELOOP EMFILE ENAMETOOLONG ENETUNREACH ENFILE
            ENODEV ENOENT ENOEXEC ENOMEM ENOSPC ENOTDIR ENXIO EPERM EROFS ETIMEDOUT ETXTBSY
        }
    };
}

macro_rules! errors {
    ($($name:ident)*) => {
        /// Names (of `errno`) of the errors that can be observed.
        pub const ERRORS: [&str; 31] = [$(stringify!($name)),*];
    };
}

observed_errors!(errors);

/// A failure to observe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Observed {
    /// One of [`OPERATIONS`].
    pub operation: String,
    /// One of [`ERRORS`].
    pub error: String,
}

json::object!(Observed { operation, error });

/// Equal failures of one operation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperationRecord {
    /// One of [`OPERATIONS`].
    pub operation: String,
    /// Object of the operation: an address with its port, a path, or a program, as the caller
    /// passed it.
    pub target: String,
    /// One of [`ERRORS`].
    pub error: String,
    /// Logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// Stack of the caller as one word, the same in every run of one binary. Empty if it could not
    /// be captured.
    pub site: String,
    /// Stack of the caller, innermost frame first, if the test failed and could still report it.
    pub stack: Vec<Frame>,
}

json::object!(OperationRecord { operation, target, error, thread, site, stack = optional });

/// Merges equal records, in a fixed order. A record with a stack takes precedence over one without.
pub fn fold(records: impl IntoIterator<Item = OperationRecord>) -> Vec<OperationRecord> {
    let mut records: Vec<OperationRecord> = records.into_iter().collect();
    // Among equal records, the one with a stack sorts last.
    records.sort();
    records.reverse();
    records.dedup_by(|next, kept| is_alike(next, kept));
    records.reverse();
    records
}

fn is_alike(a: &OperationRecord, b: &OperationRecord) -> bool {
    let identity = |record: &OperationRecord| {
        [
            record.operation.clone(),
            record.target.clone(),
            record.error.clone(),
            record.thread.clone(),
            record.site.clone(),
        ]
    };
    identity(a) == identity(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(target: &str, thread: &str, line: Option<u32>) -> OperationRecord {
        let frame = |line| Frame { function: "f".to_owned(), file: "src/lib.rs".to_owned(), line };
        OperationRecord {
            operation: "open".to_owned(),
            target: target.to_owned(),
            error: "EROFS".to_owned(),
            thread: thread.to_owned(),
            site: "stack:1".to_owned(),
            stack: line.map(frame).into_iter().collect(),
        }
    }

    #[test]
    fn what_is_alike_is_one_and_keeps_its_stack() {
        let records = [
            record("/b", "0", None),
            record("/a", "0", Some(3)),
            record("/a", "0.1", None),
            record("/a", "0", None),
        ];
        assert_eq!(
            fold(records),
            [record("/a", "0", Some(3)), record("/a", "0.1", None), record("/b", "0", None)]
        );
    }

    #[test]
    fn names_are_sorted_and_known_once() {
        assert!(ERRORS.is_sorted_by(|a, b| a < b));
        assert!(OPERATIONS.is_sorted_by(|a, b| a < b));
    }
}
