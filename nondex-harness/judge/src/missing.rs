//! Experiments that are needed before a question can be answered.
//!
//! Each decision is plain code that requests the results it needs. If a result does not exist yet,
//! the code returns [`Missing`]. Once the missing experiments were made, it runs again from its
//! beginning. So each decision is a pure function of the experiments that were made.

use std::time::Duration;

use nondex_core::RunSpec;

/// Experiments that must be made before a question can be answered: runs of one test, or
/// [processes](super::order::experiments::ProcessPlan) that run several tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing<E = RunSpec> {
    /// Experiments, in the order in which they should be made.
    pub experiments: Vec<E>,
    /// Limits of each: see [`patience`](super::patience).
    pub limits: RunLimits,
    /// Whether nothing else may run at the same time.
    pub alone: bool,
    /// Whether each gets an empty folder for temporary files.
    pub fresh: bool,
    /// Whether runs at random addresses in which other tests run in the same process serve as well.
    pub joinable: bool,
    /// What the experiments are for.
    pub purpose: ExperimentPurpose,
}

/// Limits of a run. A run that exceeds one of them counts as a hang.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunLimits {
    /// Time limit, if not the usual one.
    pub elapsed: Option<Duration>,
    /// Limit on the processor time that the test process takes itself, without its children. It is
    /// for runs that are not clean.
    pub busy: Option<Duration>,
}

/// Reason for an experiment. It decides whether the experiment is left out once a [budget](Spent)
/// is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExperimentPurpose {
    /// Search for findings beyond what was requested. It has the same budget as the requested one,
    /// and comes later.
    Extend,
    /// Search for findings: an answer exists without it.
    Explore,
    /// Search for the cause: a less precise answer exists without it.
    Explain,
    /// Judgement: no answer exists without it.
    Judge,
}

/// Budgets of a campaign that are spent. Experiments for these purposes are left out, and answers
/// are less precise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Budget for [exploring](ExperimentPurpose::Explore), and for extending that.
    pub exploring: bool,
    /// Budget for [explaining](ExperimentPurpose::Explain).
    pub explaining: bool,
}

impl Spent {
    /// Returns whether experiments for this purpose are left out.
    pub const fn leaves_out(self, purpose: ExperimentPurpose) -> bool {
        match purpose {
            ExperimentPurpose::Extend | ExperimentPurpose::Explore => self.exploring,
            ExperimentPurpose::Explain => self.explaining,
            ExperimentPurpose::Judge => false,
        }
    }
}

impl<E> Missing<E> {
    /// Requests these experiments, with the usual limit and together with others.
    pub const fn new(experiments: Vec<E>) -> Self {
        Missing {
            experiments,
            limits: RunLimits { elapsed: None, busy: None },
            alone: false,
            fresh: false,
            joinable: false,
            purpose: ExperimentPurpose::Judge,
        }
    }

    /// Sets whether nothing else may run at the same time.
    pub fn alone(self, alone: bool) -> Self {
        Missing { alone, ..self }
    }

    /// States that runs in which other tests run in the same process serve as well.
    pub fn joinable(self) -> Self {
        Missing { joinable: true, ..self }
    }

    /// Sets the purpose.
    pub fn serving(self, purpose: ExperimentPurpose) -> Self {
        Missing { purpose, ..self }
    }
}

/// Asks `question` of a store until there is an answer. `make` makes the missing experiments and
/// adds them to the store. Returns `None` if `make` does, because it was stopped.
pub fn answer<S, T, E>(
    store: &mut S,
    question: impl Fn(&S) -> Result<T, Missing<E>>,
    mut make: impl FnMut(&mut S, Missing<E>) -> Option<()>,
) -> Option<T> {
    loop {
        match question(store) {
            Ok(answer) => return Some(answer),
            Err(missing) => make(store, missing)?,
        }
    }
}

/// Returns the answers to several questions, or one batch of the experiments that they need,
/// question by question. Questions with the same first experiment share their experiments.
/// Experiments that must be made alone are left out unless there are no others.
///
/// # Errors
/// Returns the experiments to make first, if any.
pub fn gather<T, E: PartialEq>(
    answers: impl IntoIterator<Item = Result<T, Missing<E>>>,
) -> Result<Vec<T>, Missing<E>> {
    let mut known = Vec::new();
    let mut batch: Option<Missing<E>> = None;
    for answer in answers {
        match (answer, &mut batch) {
            (Ok(answer), _) => known.push(answer),
            (Err(missing), Some(batch)) if missing.alone == batch.alone => {
                batch.purpose = batch.purpose.max(missing.purpose);
                batch.joinable &= missing.joinable;
                let first = missing.experiments.first();
                if !first.is_some_and(|first| batch.experiments.contains(first)) {
                    batch.experiments.extend(missing.experiments);
                }
            }
            (Err(missing), Some(_)) if missing.alone => {}
            (Err(missing), batch) => *batch = Some(missing),
        }
    }
    batch.map_or(Ok(known), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(experiments: &[u8], alone: bool) -> Result<(), Missing<u8>> {
        Err(Missing::new(experiments.to_vec()).alone(alone))
    }

    #[test]
    fn what_several_questions_need_is_one_batch_and_what_is_needed_alone_comes_last() {
        assert_eq!(gather::<_, u8>([Ok(1), Ok(2)]), Ok(vec![1, 2]));
        for (all, experiments, alone) in [
            (
                vec![
                    missing(&[3], true),
                    missing(&[1, 1], false),
                    Ok(()),
                    missing(&[2], false),
                    missing(&[1, 1, 1], false),
                    missing(&[4], true),
                ],
                vec![1, 1, 2],
                false,
            ),
            (vec![missing(&[1, 1], true), Ok(()), missing(&[2], true)], vec![1, 1, 2], true),
        ] {
            let batch = gather(all).unwrap_err();
            assert_eq!((batch.experiments, batch.alone), (experiments, alone));
        }
    }
}
