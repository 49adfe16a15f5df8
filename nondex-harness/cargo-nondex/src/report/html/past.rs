//! Earlier runs of a test.

use std::collections::BTreeMap;

use chrono::DateTime;

use super::markup::Markup;
use crate::report::schema::Verdict;

/// Maximum number of runs that are shown. The latest ones are kept.
const SHOWN: usize = 60;

/// A test in an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierResult {
    /// Time of the run, in milliseconds since 1970.
    pub time: u64,
    /// Abbreviated commit that was checked out, if there was one.
    pub commit: Option<String>,
    /// Whether the working tree differed from the commit.
    pub modified: bool,
    /// Verdict of the run.
    pub verdict: Verdict,
}

/// The earlier runs of each test, by test id, the oldest first.
pub type Histories = BTreeMap<String, Vec<EarlierResult>>;

/// Draws the history of a test, unless it has fewer than two runs.
pub(super) fn draw(markup: &mut Markup, results: &[EarlierResult]) {
    if results.len() < 2 {
        return;
    }
    markup.leaf("h4", &[], "History");
    let shown = &results[results.len().saturating_sub(SHOWN)..];
    markup.element("p", &[("class", "cells past")], |markup| {
        for result in shown {
            let title = described(result);
            let class = if result.verdict.passes() { "p" } else { "f" };
            let attributes = [("class", class), ("title", title.as_str())];
            markup.leaf("span", &attributes, result.verdict.name());
        }
    });
    let mut before = None;
    let mut changes = shown.to_vec();
    changes.retain(|result| before.replace(result.verdict) != Some(result.verdict));
    markup.element("ul", &[("class", "runs")], |markup| {
        for result in &changes {
            markup.leaf("li", &[], &format!("since {}", described(result)));
        }
    });
}

/// Describes a run: `2026-11-25 18:02, commit 0123abc, modified: ID`.
fn described(result: &EarlierResult) -> String {
    let time = i64::try_from(result.time)
        .ok()
        .and_then(DateTime::from_timestamp_millis)
        .map_or_else(String::new, |time| format!("{}, ", time.format("%Y-%m-%d %H:%M")));
    let commit = match &result.commit {
        Some(commit) => format!("commit {commit}"),
        None => "no commit".to_owned(),
    };
    let modified = if result.modified { ", modified" } else { "" };
    format!("{time}{commit}{modified}: {}", result.verdict)
}
