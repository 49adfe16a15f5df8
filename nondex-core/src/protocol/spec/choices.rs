//! The choices of a run: accessors, and methods that return the spec with other choices.

use super::RunSpec;
use crate::catalogue::{Family, Level};
use crate::protocol::choices::{Choices, DrawnChoices, Given};
use crate::protocol::execution::Execution;
use crate::protocol::schedule::Schedule;
use crate::protocol::selection::{Selected, Selection};
use crate::protocol::site::Site;

impl RunSpec {
    /// Returns the spec with another seed. Does not change a clean run.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        self.map_drawn(|drawn| drawn.seed = seed)
    }

    /// Returns the spec with another schedule, which gives the seed its meaning. Does not change a
    /// clean run.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        self.map_drawn(|drawn| drawn.schedule = schedule)
    }

    /// Returns the spec with only these choices decided by the seed. Does not change a clean run.
    #[must_use]
    pub fn with_selection(self, selection: Selection) -> Self {
        self.map_drawn(|drawn| drawn.selection = selection)
    }

    /// Returns the spec with the choices at these calls given. Does not change a clean run.
    #[must_use]
    pub fn with_given(self, given: Vec<Given>) -> Self {
        self.map_drawn(|drawn| drawn.given = given)
    }

    fn map_drawn(mut self, change: impl FnOnce(&mut DrawnChoices)) -> Self {
        if let Choices::Drawn(drawn) = &mut self.choices {
            change(drawn);
        }
        self
    }

    /// Returns whether all choices take the canonical order.
    pub fn is_clean(&self) -> bool {
        self.choices == Choices::Canonical
    }

    /// Returns whether this is a natural run of one test: it makes no choices, observes nothing but
    /// the test, and uses real threads and real time.
    pub fn is_natural(&self) -> bool {
        self.is_clean() && self.execution == Execution::default()
    }

    /// Returns the choices that are drawn from a seed; `None` for a clean run.
    pub const fn drawn(&self) -> Option<&DrawnChoices> {
        match &self.choices {
            Choices::Canonical => None,
            Choices::Drawn(drawn) => Some(drawn),
        }
    }

    /// Returns the level of the choices. A clean run has the most realistic one.
    pub fn level(&self) -> Level {
        self.drawn().map_or(Level::Std, |drawn| drawn.level)
    }

    /// Returns the seed of the choices. A clean run has 0.
    pub fn seed(&self) -> u64 {
        self.drawn().map_or(0, |drawn| drawn.seed)
    }

    /// Returns the schedule that gives the seed its meaning. A clean run has the default.
    pub fn schedule(&self) -> Schedule {
        self.drawn().map_or_else(Schedule::default, |drawn| drawn.schedule)
    }

    /// Returns which choices the seed decides; `None` for a clean run.
    pub fn selection(&self) -> Option<&Selection> {
        self.drawn().map(|drawn| &drawn.selection)
    }

    /// Returns whether the seed decides all choices.
    pub fn draws_all(&self) -> bool {
        self.selection() == Some(&Selection::All)
    }

    /// Returns whether the seed decides only some of the choices.
    pub fn draws_some(&self) -> bool {
        self.selection().is_some_and(|selection| *selection != Selection::All)
    }

    /// Returns the calls whose choice is given.
    pub fn given(&self) -> &[Given] {
        self.drawn().map_or(&[], |drawn| &drawn.given)
    }

    /// Returns which calls of a thread at a site the seed decides.
    pub fn selected(&self, site: &Site, thread: &str) -> Selected {
        self.selected_of(|other| other == site, site.family, thread)
    }

    /// Returns the calls as [`RunSpec::selected`] does, for the site of `family` that `is_site`
    /// accepts.
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
