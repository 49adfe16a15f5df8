//! From the sites that are responsible to the calls there.

use nondex_core::{GivenChoice, PointRecord, Scope, Selection, Site};

use super::call::{Call, scope};
use super::subset::{Part, smallest};
use super::{CONFIRMATIONS, CulpritSearch, Missing};
use crate::timing::is_timing;

impl CulpritSearch<'_> {
    /// The smallest set of calls at `sites` that changes the outcome, every time, with the elements
    /// of each that make the difference. None when the calls cannot be distinguished.
    pub(super) fn calls(&mut self, sites: &[Site]) -> Result<Vec<Call>, Missing> {
        let points = self.run(&self.with(Selection::only(sites.to_vec())))?.points.iter();
        let points: Vec<&PointRecord> =
            points.filter(|point| sites.contains(&point.site)).collect();
        let len = points.iter().map(|point| point.count).sum::<u64>();
        let Ok(len) = usize::try_from(len) else { return Ok(Vec::new()) };
        let whole =
            self.with(Selection::Only(scopes(&points, &Part { kept: &[], beginning: len })));
        if !self.changes(&whole)? {
            // Not all calls were counted: a thread that was killed does not say how many it made.
            return Ok(Vec::new());
        }
        let found = smallest(len, self.left, |part| {
            let spec = self.with(Selection::Only(scopes(&points, &part)));
            self.changes(&spec)
        })?;
        if !found.is_complete {
            return Ok(Vec::new());
        }
        let calls = found.elements.iter().map(|&element| at(&points, element));
        let mut calls: Vec<Call> = calls.collect();
        let only: Vec<Scope> = calls.iter().map(Call::scope).collect();
        let only = (self.with(Selection::Only(only)), true);
        if !self.confirm(&[only], CONFIRMATIONS)? {
            return Ok(Vec::new());
        }
        let mut index = 0;
        while index < calls.len() {
            // Once those before it are as short as they may be, a delay may no longer be needed.
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

/// Whether a call can be led from its base to what was drawn: not so a value that is just another
/// one. Of a choice of threads between two, such as a wake-up without a cause, that is one step.
fn has_steps(points: &[&PointRecord], call: &Call) -> bool {
    let mut points = points.iter();
    is_timing(&call.site)
        || points.any(|point| {
            (&point.site, &point.thread) == (&call.site, &call.thread) && point.max_len > 1
        })
}

/// The call with this number, when those of all points are counted through.
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

/// The calls of a part as scopes: as few as possible.
fn scopes(points: &[&PointRecord], part: &Part<'_>) -> Vec<Scope> {
    let mut scopes = Vec::new();
    let mut first = 0;
    for point in points {
        let count = usize::try_from(point.count).unwrap_or(usize::MAX - first);
        let scope =
            |from: usize, to: usize| scope(&point.site, &point.thread, from as u64, to as u64);
        let within = part.beginning.saturating_sub(first).min(count);
        if within > 0 {
            scopes.push(scope(0, within));
        }
        let kept = part.kept.iter().rev();
        let here = kept.filter(|&&element| (first..first + count).contains(&element));
        scopes.extend(here.map(|element| scope(element - first, element - first + 1)));
        first += count;
    }
    scopes
}
