//! The first messages of a run: what it is about to do.

use nondex_core::{Level, Schedule};

use crate::campaign::Selected;
use crate::command::selection;
use crate::judge::Options;
use crate::report::listing;

/// What is about to happen, with the seeds and levels.
pub(super) fn plan(selected: &[Selected<'_>], options: &Options) -> String {
    let all: usize = selected.iter().map(|selected| selected.tests.len()).sum();
    let ignored = match all - selection::running(selected) {
        0 => String::new(),
        ignored => format!(" ({ignored} ignored)"),
    };
    let tests = selection::count(all, "test");
    let binaries = match selected.len() {
        1 => "1 binary".to_owned(),
        many => format!("{many} binaries"),
    };
    let clean = selection::count(options.clean_runs.get() as usize, "clean run");
    let what = if options.seeds.is_empty() {
        format!("{clean} each, no seeds")
    } else {
        let levels: Vec<&str> = options
            .levels
            .iter()
            .map(|level: &Level| level.name())
            .collect();
        let noun = if options.seeds.len() == 1 {
            "seed"
        } else {
            "seeds"
        };
        let schedule = match options.schedule {
            Schedule::Covering => String::new(),
            other => format!(", {other}"),
        };
        format!(
            "{clean} each, then {noun} {} at {}{schedule}",
            listing::seeds(&options.seeds),
            levels.join(", ")
        )
    };
    let budget = options.budget_factor.map_or_else(String::new, |factor| {
        format!("; for {factor} times as long as one run of all, or 30 s")
    });
    format!("{tests}{ignored} of {binaries}: {what}{budget}")
}
