//! One call that is responsible, and what of it decides.

use nondex_core::{Calls, Given, GivenChoice, NumberRecord, Scope, Site};

use super::position::Position;

/// One call of a thread at a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The site.
    pub site: Site,
    /// The logical thread path.
    pub thread: String,
    /// Which call of the thread at the site, from 0.
    pub ordinal: u64,
    /// How many such calls the run made.
    pub of: u64,
    /// Where the outcome turns between its base and what the seed drew, if that is known.
    pub turn: Option<Turn>,
    /// Whether the outcome changes even when the call is given its base: then no choice decides,
    /// but what a shim does besides, such as allocate.
    pub is_artefact: bool,
}

/// Where the outcome turns on the way from the base to what the seed drew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// After this number of steps, and not one step earlier; of a delay, not much earlier.
    pub steps: u64,
    /// What the last step changed.
    pub decisive: Decisive,
}

/// What decides within one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decisive {
    /// The order of two elements, or the position of one.
    Elements {
        /// The two that were exchanged, as positions in canonical order: the one that came first,
        /// and still does in canonical order, before the other.
        ranks: [u64; 2],
        /// The position that decides, if it is not the order of the two.
        position: Option<Position>,
    },
    /// The number: this one, or any that is further from its base.
    Number(NumberRecord),
}

impl Call {
    /// The call's choice as the search left it.
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
