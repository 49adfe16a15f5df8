//! Operations that failed because a prerequisite is missing: a free port, a program, room on a
//! disk.
//!
//! Which failures are recorded, the spec asks for ([`RunSpec::observe`](crate::RunSpec::observe));
//! no others cost anything.

use crate::json;

use super::site::Frame;

/// The operations whose failures can be requested: `bind` and `connect` to addresses of this
/// machine, starting a program, making a folder, opening and writing a file.
pub const OPERATIONS: [&str; 6] = ["bind", "connect", "exec", "mkdir", "open", "write"];

/// Gives the errors that can be requested, by the names of `errno`, to a macro.
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
        /// The errors that can be requested, by the names of `errno`.
        pub const ERRORS: [&str; 31] = [$(stringify!($name)),*];
    };
}

observed_errors!(errors);

/// A requested failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Observed {
    /// One of [`OPERATIONS`].
    pub operation: String,
    /// One of [`ERRORS`].
    pub error: String,
}

json::object!(Observed { operation, error });

/// Failures of one operation that are alike in all that is known of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OperationRecord {
    /// One of [`OPERATIONS`].
    pub operation: String,
    /// What it was about: an address with its port, a path, or a program, as the caller gave it.
    pub target: String,
    /// One of [`ERRORS`].
    pub error: String,
    /// The logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// The caller's stack as one word, the same for the same binary on every run; empty when it
    /// could not be looked at.
    pub site: String,
    /// The caller's stack, innermost frame first, when the test failed and could still say so.
    pub stack: Vec<Frame>,
}

json::object!(OperationRecord { operation, target, error, thread, site, stack = optional });

/// Adds up what is alike, in a fixed order. One with a stack counts more than one without.
pub fn fold(records: impl IntoIterator<Item = OperationRecord>) -> Vec<OperationRecord> {
    let mut records: Vec<OperationRecord> = records.into_iter().collect();
    // Of those that are alike, the one with a stack comes last.
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
