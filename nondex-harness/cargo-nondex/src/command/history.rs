//! `cargo nondex report --history`: shows the history of each test as a line of marks, one per run.

use std::collections::BTreeMap;
use std::fmt::Write;

use camino::Utf8Path;
use serde::Serialize;

use super::console::Console;
use crate::cli::MessageFormat;
use crate::error::{Error, Result};
use crate::findings::history::{History, HistoryEntry, Life};
use crate::report::Verdict;
use crate::repository::short;

/// Maximum number of runs in a line. The last runs are shown.
const SHOWN: usize = 60;

/// History of a test, as JSON.
#[derive(Debug, Serialize)]
struct Line<'a> {
    test: &'a str,
    runs: Vec<Moment<'a>>,
}

/// Result of a test in one run.
#[derive(Debug, Serialize)]
struct Moment<'a> {
    /// Time of the run, in milliseconds since 1970.
    time: u64,
    commit: Option<&'a str>,
    modified: bool,
    toolchain: &'a str,
    tool: &'a str,
    verdict: Verdict,
    choice_points: u64,
    elapsed_ms: u64,
}

/// Returns the mark of a verdict.
const fn mark(verdict: Verdict) -> char {
    match verdict {
        Verdict::Stable | Verdict::Passed => '.',
        Verdict::ImplementationDependent => 'I',
        Verdict::OrderDependentVictim => 'V',
        Verdict::OrderDependentBrittle => 'B',
        Verdict::NonDeterministic => 'N',
        Verdict::Unknown => 'U',
        Verdict::Network => 'w',
        Verdict::Broken => 'x',
        Verdict::NotRun => '-',
    }
}

/// Shows the history of the tests that `test` selects: by the id or its end, or else by a part of
/// the id. Without `test`, shows the tests that did not pass in every run.
///
/// # Errors
/// When there is no history, no test is selected, or JSON cannot be written.
pub(super) fn show(folder: &Utf8Path, test: Option<&str>, console: &Console) -> Result<()> {
    let (entries, damaged) = History::new(folder).all()?;
    console.notes(&damaged);
    if entries.is_empty() {
        return Err(Error::usage(format!(
            "there is no history in `{folder}`: every run adds to it"
        )));
    }
    let mut lives: BTreeMap<&str, Vec<(&HistoryEntry, &Life)>> = BTreeMap::new();
    for entry in &entries {
        for (id, life) in &entry.tests {
            lives.entry(id).or_default().push((entry, life));
        }
    }
    let all = lives.len();
    match test {
        Some(test) => {
            retain_named(&mut lives, test);
            if lives.is_empty() {
                return Err(Error::usage(format!(
                    "no test `{test}` in the history of {all} tests in `{folder}`"
                )));
            }
        }
        None => lives.retain(|_, moments| moments.iter().any(|(_, life)| !life.verdict.passes())),
    }
    if console.format == MessageFormat::Json {
        let lines: Vec<Line<'_>> =
            lives.iter().map(|(test, moments)| line(test, moments)).collect();
        return console.json(&lines);
    }
    console.text(&render(&lives, test.is_some(), all));
    Ok(())
}

/// Keeps the entries whose id is `name` or ends with it after `$` or `::`. If there are none, keeps
/// those whose id contains `name`.
fn retain_named<T>(lives: &mut BTreeMap<&str, T>, name: &str) {
    let is_whole = |id: &str| {
        let rest = id.strip_suffix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('$') || rest.ends_with("::"))
    };
    let is_named = lives.keys().any(|id| is_whole(id));
    lives.retain(|id, _| if is_named { is_whole(id) } else { id.contains(name) });
}

/// Returns the history of a test for JSON.
fn line<'a>(test: &'a str, moments: &[(&'a HistoryEntry, &'a Life)]) -> Line<'a> {
    let runs = moments.iter().map(|(entry, life)| Moment {
        time: entry.time,
        commit: entry.commit.as_deref(),
        modified: entry.modified,
        toolchain: entry.key.toolchain.lines().next().unwrap_or_default(),
        tool: &entry.key.tool,
        verdict: life.verdict,
        choice_points: life.choices,
        elapsed_ms: life.elapsed_ms,
    });
    Line { test, runs: runs.collect() }
}

/// Returns the histories as text, with a legend. With `is_named`, also lists the commits at which
/// verdicts changed.
fn render(
    lives: &BTreeMap<&str, Vec<(&HistoryEntry, &Life)>>,
    is_named: bool,
    all: usize,
) -> String {
    let mut text = String::new();
    let runs = last_runs(lives);
    let mut earlier = 0;
    for (id, moments) in lives {
        let in_run = |run: &&HistoryEntry| {
            let own = moments.iter().find(|(entry, _)| std::ptr::eq(*entry, *run));
            own.map_or(' ', |(_, life)| mark(life.verdict))
        };
        let marks: String = runs.iter().map(in_run).collect();
        if marks.trim().is_empty() {
            earlier += 1;
            continue;
        }
        let _ = writeln!(text, "{marks}  {id}");
        if is_named {
            for (entry, life) in changes(moments) {
                let commit = entry.commit.as_deref().map_or("no commit", short);
                let modified = if entry.modified { ", modified" } else { "" };
                let _ = writeln!(text, "    since {commit}{modified}: {}", life.verdict);
            }
        }
    }
    let stable = all - lives.len();
    if !is_named && stable > 0 {
        let _ = writeln!(text, "{stable} of {all} tests were stable in every run");
    }
    if earlier > 0 {
        let _ = writeln!(text, "{earlier} others ran only before the last {SHOWN} of these runs");
    }
    text.push_str(
        ". stable  I ID  V OD-victim  B OD-brittle  N ND  U UD  w network  x broken, the oldest \
         run first\n",
    );
    text
}

/// Returns the last runs that contain any of these tests, oldest first. Each is a column.
fn last_runs<'a>(lives: &BTreeMap<&str, Vec<(&'a HistoryEntry, &Life)>>) -> Vec<&'a HistoryEntry> {
    let mut runs: Vec<&HistoryEntry> = lives.values().flatten().map(|(entry, _)| *entry).collect();
    runs.sort_by_key(|entry| (entry.time, std::ptr::from_ref(*entry).addr()));
    runs.dedup_by(|one, other| std::ptr::eq(*one, *other));
    runs.split_off(runs.len().saturating_sub(SHOWN))
}

/// Returns the first run of a test, and the runs whose verdict differs from that of the run before.
fn changes<'a>(moments: &[(&'a HistoryEntry, &'a Life)]) -> Vec<(&'a HistoryEntry, &'a Life)> {
    let mut before = None;
    let mut moments = moments.to_vec();
    moments.retain(|(_, life)| before.replace(life.verdict) != Some(life.verdict));
    moments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_named_by_the_end_of_its_id_or_by_a_part_that_no_other_has() {
        let named = |name: &str| {
            let ids = ["a$reads", "a::it$m::reads", "a$reads_twice"];
            let mut lives = BTreeMap::from(ids.map(|id| (id, ())));
            retain_named(&mut lives, name);
            lives.into_keys().collect::<Vec<_>>()
        };
        assert_eq!(named("a$reads"), ["a$reads"]);
        assert_eq!(named("reads"), ["a$reads", "a::it$m::reads"]);
        assert_eq!(named("twice"), ["a$reads_twice"]);
        assert_eq!(named("writes"), [""; 0]);
    }

    #[test]
    fn a_life_is_a_line_of_marks_and_the_commits_at_which_it_changed() {
        let moments = [
            (Verdict::Stable, "a"),
            (Verdict::Stable, "b"),
            (Verdict::Broken, "c"),
            (Verdict::Stable, "d"),
        ];
        let moments = moments.map(|(verdict, commit)| {
            let entry = HistoryEntry {
                commit: Some(commit.to_owned()),
                time: u64::from(commit.as_bytes()[0]),
                modified: commit == "d",
                ..HistoryEntry::default()
            };
            let life = Life { verdict, ..Life::default() };
            (entry, life)
        });
        let moments: Vec<(&HistoryEntry, &Life)> =
            moments.iter().map(|(entry, life)| (entry, life)).collect();
        let lives = BTreeMap::from([("p$t", moments)]);
        let text = render(&lives, true, 3);
        let expected =
            "..x.  p$t\n    since a: stable\n    since c: broken\n    since d, modified: stable\n";
        assert!(text.starts_with(expected), "{text}");
        let short = render(&lives, false, 3);
        assert!(short.starts_with("..x.  p$t\n2 of 3 tests were stable"), "{short}");
        // A new test, and a deleted one.
        let both = lives["p$t"].clone();
        let (new, gone) = (both[2..].to_vec(), both[..1].to_vec());
        let lives = BTreeMap::from([("p$t", both), ("p$new", new), ("p$gone", gone)]);
        let text = render(&lives, false, 3);
        assert!(text.starts_with(".     p$gone\n  x.  p$new\n..x.  p$t\n"), "{text}");
    }
}
