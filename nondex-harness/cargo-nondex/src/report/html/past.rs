//! Earlier runs of a test.

use std::collections::BTreeMap;

use chrono::DateTime;

use super::markup::Markup;
use crate::report::schema::Verdict;

/// Maximum number of runs that are shown. The latest ones are kept.
const SHOWN: usize = 60;

/// A test in an earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
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
pub type Past = BTreeMap<String, Vec<Moment>>;

/// Draws the history of a test, unless it has fewer than two runs.
pub(super) fn draw(markup: &mut Markup, moments: &[Moment]) {
    if moments.len() < 2 {
        return;
    }
    markup.leaf("h4", &[], "History");
    let shown = &moments[moments.len().saturating_sub(SHOWN)..];
    markup.element("p", &[("class", "cells past")], |markup| {
        for moment in shown {
            let title = described(moment);
            let class = if moment.verdict.passes() { "p" } else { "f" };
            let attributes = [("class", class), ("title", title.as_str())];
            markup.leaf("span", &attributes, moment.verdict.name());
        }
    });
    let mut before = None;
    let mut changes = shown.to_vec();
    changes.retain(|moment| before.replace(moment.verdict) != Some(moment.verdict));
    markup.element("ul", &[("class", "runs")], |markup| {
        for moment in &changes {
            markup.leaf("li", &[], &format!("since {}", described(moment)));
        }
    });
}

/// Describes a run: `2026-11-25 18:02, commit 0123abc, modified: ID`.
fn described(moment: &Moment) -> String {
    let time = i64::try_from(moment.time)
        .ok()
        .and_then(DateTime::from_timestamp_millis)
        .map_or_else(String::new, |time| format!("{}, ", time.format("%Y-%m-%d %H:%M")));
    let commit = match &moment.commit {
        Some(commit) => format!("commit {commit}"),
        None => "no commit".to_owned(),
    };
    let modified = if moment.modified { ", modified" } else { "" };
    format!("{time}{commit}{modified}: {}", moment.verdict)
}
