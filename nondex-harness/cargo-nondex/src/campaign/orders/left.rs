//! State that tests leave changed for others, though no test is known to fail because of it.

use nondex_core::StateKind;

use super::found::{BinaryResult, Suspect};
use crate::campaign::race::UsedState;
use crate::campaign::state::BinaryState;
use crate::report::LeftState;

impl BinaryResult {
    /// Returns the changed state that `test` leaves and other tests use. It covers the project's
    /// own statics, environment variables, the working directory and files. Known polluters and
    /// state-setters get none, because their report names the state already.
    pub(super) fn left(
        &self,
        test: usize,
        uses: &[UsedState<'_>],
        states: &BinaryState<'_>,
        names: &[&str],
    ) -> Vec<LeftState> {
        let mut known = self.suspects.iter().filter_map(Suspect::dependence);
        if known.any(|known| known.sets.iter().flatten().any(|other| *other == test)) {
            return Vec::new();
        }
        let used = uses.iter().find(|used| used.test == test).into_iter();
        used.flat_map(|used| used.left_to(uses))
            .filter(|(part, _)| match part.state.kind {
                StateKind::Static => !states.is_foreign(&part.state),
                kind => matches!(kind, StateKind::Env | StateKind::Cwd | StateKind::File),
            })
            .map(|(part, users)| {
                let state = states.named(part);
                LeftState {
                    kind: state.kind,
                    name: state.name,
                    users: users.iter().map(|user| names[*user].to_owned()).collect(),
                }
            })
            .collect()
    }
}
