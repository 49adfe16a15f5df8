//! What tests leave to others, though none is known to fail for it.

use nondex_core::StateKind;

use super::found::{BinaryResult, Suspect};
use crate::campaign::race::Use;
use crate::campaign::state::States;
use crate::report::schema::LeftState;

impl BinaryResult {
    /// What `test` leaves changed that others use: the project's own statics, variables, the folder
    /// and files. Nothing of a polluter or a setter that is known.
    pub(super) fn left(
        &self,
        test: usize,
        uses: &[Use<'_>],
        states: &States<'_>,
        names: &[&str],
    ) -> Vec<LeftState> {
        let mut known = self.suspects.iter().filter_map(Suspect::dependence);
        if known.any(|known| known.sets.iter().flatten().any(|other| *other == test)) {
            return Vec::new();
        }
        let used = uses.iter().find(|used| used.test == test);
        let left = used.into_iter().flat_map(|used| used.left_to(uses));
        let left = left.filter(|(part, _)| match part.state.kind {
            StateKind::Static => !states.is_foreign(&part.state),
            kind => matches!(kind, StateKind::Env | StateKind::Cwd | StateKind::File),
        });
        let named = left.map(|(part, users)| {
            let state = states.named(part);
            LeftState {
                kind: state.kind,
                name: state.name,
                users: users.iter().map(|user| names[*user].to_owned()).collect(),
            }
        });
        named.collect()
    }
}
