//! What a question needs before it can be answered.
//!
//! Whatever is decided is written as plain code that *asks* for the results it needs. An ask that
//! cannot be answered yet ends that code with [`Missing`]. When the missing experiments have been
//! made, it is run again from its beginning. So it is a pure function of what was made.

use std::time::Duration;

use nondex_core::RunSpec;

/// Experiments that must be made before a question can be answered: runs of one test, or
/// [processes](super::order::experiments::ProcessPlan) of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing<E = RunSpec> {
    /// The experiments, in the order in which they should be made.
    pub experiments: Vec<E>,
    /// How long each may take, if that is not as usual: see [`patience`](super::patience).
    pub limit: Option<Duration>,
    /// Whether nothing else may run meanwhile.
    pub alone: bool,
    /// Whether each has an empty folder for temporary files.
    pub fresh: bool,
    /// What they are for.
    pub purpose: Purpose,
}

/// What experiments are made for: whether they can be left out once a [budget](Spent) is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Purpose {
    /// To find something: there is an answer without them.
    Explore,
    /// To find what is responsible: there is a less precise answer without them.
    Explain,
    /// There is no answer without them.
    Judge,
}

/// The budgets of a campaign that are spent: what serves these purposes is left out, and answers
/// say less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// That for [exploring](Purpose::Explore).
    pub exploring: bool,
    /// That for [explaining](Purpose::Explain).
    pub explaining: bool,
}

impl Spent {
    /// Whether experiments for this purpose are left out.
    pub const fn leaves_out(self, purpose: Purpose) -> bool {
        match purpose {
            Purpose::Explore => self.exploring,
            Purpose::Explain => self.explaining,
            Purpose::Judge => false,
        }
    }
}

impl<E> Missing<E> {
    /// These experiments, made as usual.
    pub const fn new(experiments: Vec<E>) -> Self {
        Missing { experiments, limit: None, alone: false, fresh: false, purpose: Purpose::Judge }
    }

    /// The same, while nothing else runs.
    pub fn alone(self, alone: bool) -> Self {
        Missing { alone, ..self }
    }

    /// The same, for this purpose.
    pub fn serving(self, purpose: Purpose) -> Self {
        Missing { purpose, ..self }
    }
}

/// Asks `question` of a store until it is answered. `make` makes what is missing and adds it to the
/// store, unless it is stopped: then there is no answer.
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

/// The answers to several questions, or one batch of what they need, one question after the other
/// and each once. What is needed alone is left out unless nothing else is needed.
///
/// # Errors
/// What is needed, if anything.
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
