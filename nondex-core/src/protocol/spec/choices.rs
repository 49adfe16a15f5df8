//! The choices of a run: what decides them, and the same run with others.

use super::RunSpec;
use crate::catalogue::{Family, Level};
use crate::protocol::choices::{Choices, DrawnChoices, Given};
use crate::protocol::execution::Execution;
use crate::protocol::schedule::Schedule;
use crate::protocol::selection::{Selected, Selection};
use crate::protocol::site::Site;

impl RunSpec {
    /// The same with another seed; a clean run has none.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        self.drawing(|drawn| drawn.seed = seed)
    }

    /// The same with this meaning of its seed; a clean run has none.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        self.drawing(|drawn| drawn.schedule = schedule)
    }

    /// The same with only these choices left to its seed; a clean run has none.
    #[must_use]
    pub fn with_selection(self, selection: Selection) -> Self {
        self.drawing(|drawn| drawn.selection = selection)
    }

    /// The same with the choices at these calls given; a clean run has none.
    #[must_use]
    pub fn with_given(self, given: Vec<Given>) -> Self {
        self.drawing(|drawn| drawn.given = given)
    }

    fn drawing(mut self, change: impl FnOnce(&mut DrawnChoices)) -> Self {
        if let Choices::Drawn(drawn) = &mut self.choices {
            change(drawn);
        }
        self
    }

    /// Whether all choices take the canonical order.
    pub fn is_clean(&self) -> bool {
        self.choices == Choices::Canonical
    }

    /// Whether this is a natural run of one test: nothing is chosen, nothing but the test is
    /// observed, and threads and time are real.
    pub fn is_natural(&self) -> bool {
        self.is_clean() && self.execution == Execution::default()
    }

    /// What its choices are drawn from; `None` for a clean run.
    pub const fn drawn(&self) -> Option<&DrawnChoices> {
        match &self.choices {
            Choices::Canonical => None,
            Choices::Drawn(drawn) => Some(drawn),
        }
    }

    /// The level of its choices. A clean run has the most realistic one.
    pub fn level(&self) -> Level {
        self.drawn().map_or(Level::Std, |drawn| drawn.level)
    }

    /// The seed of its choices. A clean run has 0.
    pub fn seed(&self) -> u64 {
        self.drawn().map_or(0, |drawn| drawn.seed)
    }

    /// What its seed means. A clean run has the default.
    pub fn schedule(&self) -> Schedule {
        self.drawn().map_or_else(Schedule::default, |drawn| drawn.schedule)
    }

    /// Which choices are left to its seed; `None` for a clean run.
    pub fn selection(&self) -> Option<&Selection> {
        self.drawn().map(|drawn| &drawn.selection)
    }

    /// Whether all choices are left to its seed.
    pub fn draws_all(&self) -> bool {
        self.selection() == Some(&Selection::All)
    }

    /// Whether some choices are left to its seed, and the others are not.
    pub fn draws_some(&self) -> bool {
        self.selection().is_some_and(|selection| *selection != Selection::All)
    }

    /// The calls whose choice is given.
    pub fn given(&self) -> &[Given] {
        self.drawn().map_or(&[], |drawn| &drawn.given)
    }

    /// Which calls of a thread at a site are left to its seed.
    pub fn selected(&self, site: &Site, thread: &str) -> Selected {
        self.selected_of(|other| other == site, site.family, thread)
    }

    /// As [`RunSpec::selected`] at the site of `family` that `is_site` accepts.
    pub(crate) fn selected_of(
        &self,
        is_site: impl Fn(&Site) -> bool,
        family: Family,
        thread: &str,
    ) -> Selected {
        self.drawn()
            .filter(|drawn| family.varies(drawn.level) && drawn.schedule.chooses(family))
            .map_or(Selected::None, |drawn| drawn.selection.of_call(is_site, thread))
    }
}
