//! Narrows the responsible sites down to calls.

use nondex_core::{GivenChoice, PointRecord, Scope, Selection, Site};

use super::call::{Call, scope};
use super::subset::{Subset, smallest};
use super::{CONFIRMATIONS, CulpritSearch, Missing};
use crate::timing::is_timing;

impl CulpritSearch<'_> {
    /// Returns the smallest set of calls at `sites` that changes the outcome every time, with the
    /// turn of each. Returns an empty list if the calls cannot be distinguished.
    pub(super) fn calls(&mut self, sites: &[Site]) -> Result<Vec<Call>, Missing> {
        let run = self.run(&self.with(Selection::only(sites.to_vec())))?;
        let points: Vec<&PointRecord> =
            run.points.iter().filter(|point| sites.contains(&point.site)).collect();
        let len = points.iter().map(|point| point.count).sum::<u64>();
        let Ok(len) = usize::try_from(len) else { return Ok(Vec::new()) };
        let whole =
            self.with(Selection::Only(scopes(&points, &Subset { kept: &[], beginning: len })));
        if !self.changes(&whole)? {
            // Not all calls were counted: a killed thread does not report its number of calls.
            return Ok(Vec::new());
        }
        let found = smallest(len, self.left, |subset| {
            let spec = self.with(Selection::Only(scopes(&points, &subset)));
            self.changes(&spec)
        })?;
        if !found.is_complete {
            return Ok(Vec::new());
        }
        let mut calls: Vec<Call> =
            found.elements.iter().map(|&element| at(&points, element)).collect();
        let scopes: Vec<Scope> = calls.iter().map(Call::scope).collect();
        let only = (self.with(Selection::Only(scopes)), true);
        if !self.confirm(&[only], CONFIRMATIONS)? {
            return Ok(Vec::new());
        }
        let mut index = 0;
        while index < calls.len() {
            // Shortening the delays before it may have made this delay redundant.
            if is_timing(&calls[index].site) && calls.len() > 1 && self.left > 0 {
                let without = self.with_choice(&calls, index, GivenChoice::Steps(0));
                if self.changes(&without)? {
                    calls.remove(index);
                    continue;
                }
            }
            if has_steps(&points, &calls[index]) {
                calls[index].turn = self.turn(&calls, index)?;
                calls[index].is_artefact = calls[index].turn.is_none()
                    && !is_timing(&calls[index].site)
                    && self.is_artefact(&calls, index)?;
            }
            index += 1;
        }
        if self.left > 0 {
            self.shorten(&mut calls)?;
        }
        Ok(calls)
    }
}

/// Returns whether there are steps from a call's base to what was drawn. A value that is merely
/// different has none. A choice between two, such as a spurious wake-up, has one.
fn has_steps(points: &[&PointRecord], call: &Call) -> bool {
    let mut points = points.iter();
    is_timing(&call.site)
        || points.any(|point| {
            (&point.site, &point.thread) == (&call.site, &call.thread) && point.max_len > 1
        })
}

/// Returns the call with this index in the concatenated calls of all points.
fn at(points: &[&PointRecord], element: usize) -> Call {
    let mut ordinal = element as u64;
    for point in points {
        if ordinal < point.count {
            return Call {
                site: point.site.clone(),
                thread: point.thread.clone(),
                ordinal,
                of: point.count,
                turn: None,
                is_artefact: false,
            };
        }
        ordinal -= point.count;
    }
    unreachable!("the points have as many calls as were searched")
}

/// Returns the calls of a subset as the fewest possible scopes.
fn scopes(points: &[&PointRecord], subset: &Subset<'_>) -> Vec<Scope> {
    let mut scopes = Vec::new();
    let mut first = 0;
    for point in points {
        let count = usize::try_from(point.count).unwrap_or(usize::MAX - first);
        let scope =
            |from: usize, to: usize| scope(&point.site, &point.thread, from as u64, to as u64);
        let within = subset.beginning.saturating_sub(first).min(count);
        if within > 0 {
            scopes.push(scope(0, within));
        }
        let kept = subset.kept.iter().rev();
        let here = kept.filter(|&&element| (first..first + count).contains(&element));
        scopes.extend(here.map(|element| scope(element - first, element - first + 1)));
        first += count;
    }
    scopes
}
