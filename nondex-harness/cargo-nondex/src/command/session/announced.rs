//! The first messages of a run: what it is about to do.

use nondex_core::{Level, Schedule};

use crate::campaign::Selected;
use crate::command::selection;
use crate::judge::Options;

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
            seeds(&options.seeds),
            levels.join(", ")
        )
    };
    let budget = options.budget_factor.map_or_else(String::new, |factor| {
        format!("; for {factor} times as long as one run of all, or 30 s")
    });
    format!("{tests}{ignored} of {binaries}: {what}{budget}")
}

/// Seeds as `--seeds` takes them.
fn seeds(seeds: &[u64]) -> String {
    const LISTED: usize = 12;
    match seeds {
        [one] => return one.to_string(),
        [first, .., last] if seeds.is_sorted() && last - first == seeds.len() as u64 - 1 => {
            return format!("{first}..{}", u128::from(*last) + 1);
        }
        _ => {}
    }
    let listed: Vec<String> = seeds.iter().take(LISTED).map(u64::to_string).collect();
    let more = match seeds.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(",… ({more} more)"),
    };
    format!("{}{more}", listed.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_shown_as_they_can_be_given_again() {
        assert_eq!(seeds(&[7]), "7");
        assert_eq!(seeds(&[0, 1, 2]), "0..3");
        assert_eq!(seeds(&[5, 1, 2]), "5,1,2");
        assert_eq!(
            seeds(&[u64::MAX - 1, u64::MAX]),
            "18446744073709551614..18446744073709551616"
        );
        let many: Vec<u64> = (0..20).map(|n| n * 2).collect();
        assert!(seeds(&many).ends_with(",22,… (8 more)"));
    }
}
