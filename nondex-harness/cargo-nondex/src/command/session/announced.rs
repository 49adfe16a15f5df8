//! First messages of a run: what the command is about to do.

use nondex_core::{Level, Schedule};

use crate::campaign::SelectedTests;
use crate::command::selection;
use crate::judge::{Options, World};
use crate::report::listing::seeds;
use crate::report::plural;

/// Describes a campaign, with its seeds and levels.
pub(super) fn plan(selected: &[SelectedTests<'_>], options: &Options) -> String {
    let all: usize = selected.iter().map(|selected| selected.tests.len()).sum();
    let ignored = ignored(selected);
    let tests = plural(all, "test");
    let binaries = binaries(selected);
    let clean = plural(options.clean_runs.get(), "clean run");
    let what = if options.seeds.is_empty() {
        format!("{clean} each, no seeds")
    } else {
        let levels: Vec<&str> = options.levels.iter().map(|level: &Level| level.name()).collect();
        let noun = if options.seeds.len() == 1 { "seed" } else { "seeds" };
        let schedule = match options.schedule {
            Schedule::Covering => String::new(),
            other => format!(", {other}"),
        };
        format!(
            "{clean} each, then {noun} {} at {}{schedule}",
            seeds(&options.seeds),
            levels.join(", ")
        )
    };
    let budget = match options.budget_factor {
        Some(factor) if !options.seeds.is_empty() => {
            let every = if options.every_seed { "every seed, the rest " } else { "" };
            format!("; {every}within {factor} times one run of all, 30 s at least")
        }
        _ => String::new(),
    };
    format!("{tests}{ignored} of {binaries}: {what}{budget}")
}

/// Describes a run of each test with fixed choices: `48 tests across 3 binaries, with the choices
/// of seed 7`.
pub(super) fn world(selected: &[SelectedTests<'_>], world: &World) -> String {
    let twice = if world.verify { ", twice each" } else { "" };
    let seed =
        world.seed.map_or_else(String::new, |seed| format!(", with the choices of seed {seed}"));
    let tests = plural(selection::running(selected), "test");
    let (binaries, ignored) = (binaries(selected), ignored(selected));
    format!("{tests} across {binaries}{ignored}{twice}{seed}")
}

/// Returns the number of ignored tests in parentheses, or nothing if there are none.
fn ignored(selected: &[SelectedTests<'_>]) -> String {
    let all: usize = selected.iter().map(|selected| selected.tests.len()).sum();
    match all - selection::running(selected) {
        0 => String::new(),
        ignored => format!(" ({ignored} ignored)"),
    }
}

/// Returns the number of binaries.
fn binaries(selected: &[SelectedTests<'_>]) -> String {
    match selected.len() {
        1 => "1 binary".to_owned(),
        many => format!("{many} binaries"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_seeds_announces_no_limit_on_trying_them() {
        let options = |seeds: &[u64], every_seed| Options {
            seeds: seeds.to_vec(),
            budget_factor: Some(10.0),
            every_seed,
            ..Options::new(".")
        };
        for (options, end) in [
            (options(&[], true), "2 clean runs each, no seeds"),
            (options(&[0], false), "; within 10 times one run of all, 30 s at least"),
            (
                options(&[0], true),
                "; every seed, the rest within 10 times one run of all, 30 s at least",
            ),
        ] {
            let plan = plan(&[], &options);
            assert!(plan.ends_with(end), "{plan}");
        }
    }
}
