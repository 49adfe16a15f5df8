//! The versioned protocol between the driver and a test process. The process receives a
//! [`RunSpec`](spec::RunSpec) and produces a [`RunRecord`](record::RunRecord). Both are plain data.

pub mod choice;
pub mod choices;
pub mod covered;
pub mod event;
pub mod execution;
pub mod files;
pub mod fork;
pub mod network;
pub mod operation;
pub mod outcome;
pub mod point;
pub mod record;
pub mod schedule;
pub mod scheduling;
pub mod selection;
pub mod site;
pub mod source;
pub mod spec;
pub mod state;
pub mod trace;
