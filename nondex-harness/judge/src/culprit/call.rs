//! Defines one responsible call and what decides within it.

use nondex_core::{Calls, Given, GivenChoice, NumberRecord, Scope, Site};

use super::position::Position;

/// Call of a thread at a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Site of the call.
    pub site: Site,
    /// Logical path of the thread.
    pub thread: String,
    /// Index of the call among those of the thread at this site, from 0.
    pub ordinal: u64,
    /// Number of such calls in the run.
    pub of: u64,
    /// Point between the base and the drawn choice at which the outcome turns, if known.
    pub turn: Option<TurningPoint>,
    /// Whether the outcome changes even if the call is given its base. Then no choice decides, but
    /// a side effect of a shim, such as an allocation.
    pub is_artefact: bool,
}

/// Point at which the outcome turns on the way from the base to the drawn choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurningPoint {
    /// Smallest number of steps that changes the outcome; for a delay, an approximation.
    pub steps: u64,
    /// What the last step changed.
    pub decisive: Decisive,
}

/// What decides within one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decisive {
    /// Order of two elements, or the position of one.
    Elements {
        /// Ranks in canonical order of the two exchanged elements. The first one comes first in
        /// canonical order and still does before the step.
        ranks: [u64; 2],
        /// Position that decides, if the order of the two elements does not.
        position: Option<Position>,
    },
    /// Number that decides: this one, or any that is further from the base.
    Number(NumberRecord),
}

impl Call {
    /// Returns the choice of this call as the search left it.
    pub fn given(&self) -> Option<Given> {
        let turn = self.turn.as_ref()?;
        Some(self.with(GivenChoice::Steps(turn.steps)))
    }

    pub(super) fn with(&self, choice: GivenChoice) -> Given {
        Given {
            site: self.site.clone(),
            thread: self.thread.clone(),
            ordinal: self.ordinal,
            choice,
        }
    }

    pub(super) fn scope(&self) -> Scope {
        scope(&self.site, &self.thread, self.ordinal, self.ordinal + 1)
    }
}

pub(super) fn scope(site: &Site, thread: &str, from: u64, to: u64) -> Scope {
    Scope { site: site.clone(), calls: Some(Calls { thread: thread.to_owned(), from, to }) }
}
