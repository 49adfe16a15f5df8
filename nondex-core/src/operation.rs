//! Operations that failed for want of something that is not the code's to give: a free port, a program, room on a disk.
//!
//! Which failures are recorded, the spec asks for ([`RunSpec::observe`](crate::RunSpec::observe)); no others cost anything.

use crate::context;
use crate::fork_lock::ForkLock;
use crate::json;
use crate::record::{Event, Frame};
use crate::site::Caller;
use crate::stack::Stack;

/// The operations whose failures can be asked for: `bind` and `connect` to addresses of this machine, starting a program,
/// making a folder, opening and writing a file.
pub const OPERATIONS: [&str; 6] = ["bind", "connect", "exec", "mkdir", "open", "write"];

/// The errors that can be asked for, by the names of `errno`.
pub const ERRORS: [&str; 31] = [
    "E2BIG",
    "EACCES",
    "EADDRINUSE",
    "EADDRNOTAVAIL",
    "EAFNOSUPPORT",
    "EAGAIN",
    "EBUSY",
    "ECONNREFUSED",
    "ECONNRESET",
    "EDQUOT",
    "EEXIST",
    "EFBIG",
    "EINVAL",
    "EIO",
    "EISDIR",
    "ELOOP",
    "EMFILE",
    "ENAMETOOLONG",
    "ENETUNREACH",
    "ENFILE",
    "ENODEV",
    "ENOENT",
    "ENOEXEC",
    "ENOMEM",
    "ENOSPC",
    "ENOTDIR",
    "ENXIO",
    "EPERM",
    "EROFS",
    "ETIMEDOUT",
    "ETXTBSY",
];

/// A failure that is asked for.
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
    /// The caller's stack as one word, the same for the same binary on every run; empty when it could not be looked at.
    pub site: String,
    /// The caller's stack, innermost frame first, when the test failed and could still say so.
    pub stack: Vec<Frame>,
}

json::object!(OperationRecord { operation, target, error, thread, site, stack = optional });

/// Whether failures of `operation` with `error` are asked for on this thread. Costs a thread-local lookup.
#[must_use]
pub fn is_observed(operation: &str, error: &str) -> bool {
    context::network_spec(|spec| {
        let mut asked = spec.observe.iter();
        asked.any(|asked| asked.operation == operation && asked.error == error)
    })
    .unwrap_or(false)
}

/// Records a failure of an operation by this thread, the first that is alike. Without a `caller` it takes no lock but by
/// trying: so it is safe in a child that was forked while other threads ran.
pub fn failed(operation: &str, error: &str, target: String, caller: Option<Caller>) {
    context::record_operation(|test, thread| {
        let operation = OperationRecord {
            operation: operation.to_owned(),
            target,
            error: error.to_owned(),
            thread,
            site: caller.map_or_else(String::new, |caller| caller.file.to_owned()),
            stack: Vec::new(),
        };
        Event::Operation { test, operation }
    });
}

/// Adds up what is alike, in a fixed order. One with a stack counts more than one without.
#[must_use]
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

/// The failures of a run so far, with their stacks, kept unread until the test fails: reading them takes long.
#[derive(Debug)]
pub(crate) struct Failures(ForkLock<Vec<(OperationRecord, Option<Stack>)>>);

impl Default for Failures {
    fn default() -> Self {
        Failures(ForkLock::new(Vec::new))
    }
}

/// How many failures are kept; a test that meets more has been told enough.
const MAX_FAILURES: usize = 64;

/// How many of them have their stacks kept.
const MAX_STACKS: usize = 16;

impl Failures {
    /// Keeps a failure; whether it is new.
    pub(crate) fn note(&self, record: &OperationRecord) -> bool {
        let Some(mut kept) = self.0.lock() else {
            return true;
        };
        if kept.len() >= MAX_FAILURES || kept.iter().any(|(known, _)| is_alike(known, record)) {
            return false;
        }
        let has_stack = !record.site.is_empty() && kept.len() < MAX_STACKS;
        let stack = has_stack.then(Stack::capture);
        kept.push((record.clone(), stack));
        true
    }

    /// Forgets all. When the test `failed`, those that have stacks, with them.
    pub(crate) fn read(&self, failed: bool) -> Vec<OperationRecord> {
        let kept = self.0.lock().map(|mut kept| std::mem::take(&mut *kept));
        kept.unwrap_or_default()
            .into_iter()
            .filter_map(|(record, stack)| Some((record, stack?)))
            .filter(|_| failed)
            .map(|(mut record, stack)| {
                record.stack = stack.frames();
                record
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(target: &str, thread: &str, line: Option<u32>) -> OperationRecord {
        let frame = |line| Frame {
            function: "f".to_owned(),
            file: "src/lib.rs".to_owned(),
            line,
        };
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
            [
                record("/a", "0", Some(3)),
                record("/a", "0.1", None),
                record("/b", "0", None)
            ]
        );
    }

    #[test]
    fn so_many_failures_are_kept_and_no_more() {
        let failures = Failures::default();
        assert!(failures.note(&record("/a", "0", None)));
        assert!(!failures.note(&record("/a", "0", None)), "known");
        let new = (0..1000).filter(|n| failures.note(&record(&n.to_string(), "0", None)));
        assert_eq!(new.count(), MAX_FAILURES - 1);
        let read = failures.read(true);
        assert_eq!(read.len(), MAX_STACKS);
        assert!(failures.read(true).is_empty());
    }

    #[test]
    fn names_are_sorted_and_known_once() {
        assert!(ERRORS.is_sorted_by(|a, b| a < b));
        assert!(OPERATIONS.is_sorted_by(|a, b| a < b));
    }
}
