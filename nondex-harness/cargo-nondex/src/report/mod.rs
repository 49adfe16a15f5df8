//! Reports: the schema, how a judgement becomes part of a report, where reports are stored, and the
//! exit code.

pub mod bisection;
pub mod cause;
pub mod claim;
pub mod combined;
pub mod difference;
pub mod exit;
pub mod github;
pub mod gitlab;
pub mod html;
pub mod human;
pub mod id;
pub mod judged;
pub mod junit;
pub mod listing;
pub mod markdown;
pub mod merge;
pub mod problem;
pub mod sarif;
pub mod schema;
pub mod store;
pub mod stream;
mod thread;
pub mod trace;
pub mod versioned;
pub mod workspace;

pub use exit::exit_code;
pub use human::{Sources, View};
pub use listing::{first, plural};
pub use schema::{
    BuildCause, ChangeReport, Culprit, FailureReport, KnownFlake, LeftState, Line, Order, Overdue,
    OverdueReason, Race, Report, RunInfo, Sanitised, Scheduled, SharedState, Step, TestReport,
    Timing, TriedOrder, Verdict, World, WrittenLine,
};
pub use store::RunDirectory;
pub use workspace::Workspace;
