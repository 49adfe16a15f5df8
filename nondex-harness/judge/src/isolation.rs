//! Tests that disturb each other, and how they are judged all the same.
//!
//! Tests run in separate processes, several at once, but may share something outside them: a path
//! below `/tmp` that is made from a counter within the process, a port. What fails only then is no
//! finding: `cargo test`, with all tests in one process, never sees it. So what is concluded from
//! runs *together* with others is believed when it is consistent; otherwise the test runs again
//! *alone*, while no other test does, and is judged from those runs only.
//!
//! It may also find what its own earlier runs left. When its name is random, only this tool makes
//! that happen, because random values are the same in every run: such a test gets an empty folder
//! for temporary files with each run alone.

mod alone;
mod runs;

use std::time::Duration;

use nondex_core::Outcome;

pub use self::runs::Runs;
use super::certainty;
use super::clock_start;
use super::conclusion::{Conclusion, Dependence};
use super::deadlock;
use super::evidence::Evidence;
use super::missing::{Missing, Purpose};
use super::options::Options;
use super::patience::{of_real_time, once_hung, once_more, patiently};
use super::plain;
use super::plan;
use super::question::Question;
use super::threads;
use super::verdict::Fact;

/// What a test needs before it can be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Runs of it.
    Runs(Missing),
    /// Its result after the other tests of its binary.
    AfterOthers,
    /// Runs in a plain build.
    Plain {
        /// How long each may take.
        limit: Duration,
        /// Why they would be no evidence.
        obstacle: Option<&'static str>,
        /// Whether it is not judged without them.
        is_decisive: bool,
    },
    /// The files that it uses and nobody puts back.
    Files {
        /// How long the run may take that shows them.
        limit: Duration,
        /// What is known of the test.
        fact: Fact,
    },
}

impl Need {
    /// Number of stages.
    pub const STAGES: usize = 3;

    /// The stage in which it is fulfilled, after all runs: what other tests do to a test may make a
    /// plain build needless, and both may explain what files would. `None` for runs.
    pub const fn stage(&self) -> Option<usize> {
        match self {
            Need::Runs(_) => None,
            Need::AfterOthers => Some(0),
            Need::Plain { .. } => Some(1),
            Need::Files { .. } => Some(2),
        }
    }
}

/// What a test does with files that nobody puts back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalFiles {
    /// Which of them may be why it fails, or passes since: a sentence.
    pub note: Option<String>,
    /// Number of runs that were made for it.
    pub runs: u64,
}

/// What there is besides the runs of a test, to judge it by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// Whether other tests can run before it in its process.
    pub others: bool,
    /// Whether it can be run in a plain build.
    pub plain: bool,
    /// Whether what it does with files can be watched.
    pub files: bool,
}

/// What is concluded about a test, and from which of its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What follows.
    pub conclusion: Conclusion,
    /// Whether it follows from the runs alone, not from those together with other tests.
    pub from_alone: bool,
    /// How the runs together with others differed from those alone; `None` when other tests make no
    /// difference.
    pub interference: Option<Interference>,
    /// Whether more runs might have shown otherwise: the campaign was stopped before they were
    /// made.
    pub is_provisional: bool,
}

impl Judgement {
    /// What is known before the last run was made.
    pub const fn provisional(conclusion: Conclusion) -> Self {
        Judgement { conclusion, from_alone: false, interference: None, is_provisional: true }
    }
}

/// A test that has a different outcome when other tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interference {
    /// Beside other tests, how many runs failed, of how many.
    pub together: [usize; 2],
    /// The same alone.
    pub alone: [usize; 2],
    /// What makes the difference.
    pub reason: Reason,
}

/// What may make a difference to a test that runs alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Something outside the process that other tests use, too.
    Shared,
    /// The same, or what its own earlier runs left under a random name.
    RandomName,
    /// Time: together with others it takes longer than it may.
    Time,
    /// Chance: runs of one spec fail about as often alone.
    Chance,
}

/// What is concluded about `test` from its runs, those after other tests, and those of a plain
/// build; see [`plan::conclude`].
///
/// # Errors
/// What is needed first.
pub fn conclude(
    test: &str,
    options: &Options,
    available: Available,
    runs: &Runs,
) -> Result<Judgement, Need> {
    // One that hangs takes the whole limit in each run alone, and after others, unless it is known
    // to hang plainly.
    if available.plain && runs.plain.is_none() && runs.hang_together() {
        let question = Question::new(test, options, &runs.together);
        let together = plan::conclude(question).map_err(Need::Runs)?;
        // What explains it needs no plain build.
        if together.or_explained(&runs.together, options) == Conclusion::Broken {
            return Err(of_plain_build(&runs.together, options, true));
        }
    }
    let judgement = judge(test, options, runs).map_err(Need::Runs)?;
    let question = Question::new(test, options, runs.judged_by(Some(&judgement)));
    let evidence = question.evidence;
    let conclusion = judgement.conclusion.or_explained(evidence, options);
    if available.others && runs.after_others.is_none() && conclusion == Conclusion::Broken {
        return Err(Need::AfterOthers);
    }
    let conclusion = conclusion.after_others(question.clean_spec(), runs.after_others.as_ref());
    let from_alone = judgement.from_alone;
    let measured = |missing| Need::Runs(Missing { alone: from_alone, ..missing });
    if matches!(&conclusion, Conclusion::NonDeterministic { spec } if spec.is_natural()) {
        alone::measure(&conclusion, question).map_err(measured)?;
    }
    if available.plain && runs.plain.is_none() && plain::is_wanted(&conclusion) {
        // It may pass without this tool.
        let is_decisive = conclusion == Conclusion::Broken;
        return Err(of_plain_build(evidence, options, is_decisive));
    }
    let here = Judgement { conclusion, ..judgement };
    let compared = here.conclusion.clone().compared_with(runs.plain.as_ref());
    let judgement = if compared == Conclusion::Flaky {
        let natural = certainty::by_natural_runs(question).map_err(measured)?;
        if let Some(conclusion) = natural {
            return Ok(Judgement { conclusion, ..here });
        }
        let seldom = by_further_seeds(test, options, runs).map_err(Need::Runs)?;
        // A delay that is confirmed decides the outcome, whatever else the plain build may fail by.
        // A clock that is only finer here would hide what this one shows.
        let is_confirmed = matches!(
            &here.conclusion,
            Conclusion::Dependent(found) if found.culprits.confirmed && !found.has_clock()
        );
        let conclusion = if is_confirmed { here.conclusion.clone() } else { compared };
        seldom.unwrap_or(Judgement { conclusion, ..here })
    } else {
        Judgement { conclusion: compared, ..here }
    };
    let needs_files = available.files && runs.files.is_none();
    let question = Question::new(test, options, runs.judged_by(Some(&judgement)));
    match files(question, runs, &judgement).filter(|_| needs_files) {
        Some(need) => Err(need),
        None => Ok(judgement),
    }
}

/// Runs of a plain build, of a test whose runs are these.
fn of_plain_build(evidence: &Evidence, options: &Options, is_decisive: bool) -> Need {
    let usual = options.timeout;
    Need::Plain {
        limit: deadlock::limit(usual, evidence).unwrap_or_else(|| of_real_time(usual, evidence)),
        obstacle: plain::no_comparison(evidence.all().map(|(_, run)| &run.outcome), options),
        is_decisive,
    }
}

/// What further seeds show about a test that is flaky in a plain build.
fn by_further_seeds(
    test: &str,
    options: &Options,
    runs: &Runs,
) -> Result<Option<Judgement>, Missing> {
    let options = options.with_further_seeds(Purpose::Explain);
    let judgement = judge(test, &options, runs)?;
    // Longer delays than this machine has explain nothing that it shows.
    let explains = |found: &Dependence| !found.is_of_other_machines();
    let is_explained =
        matches!(&judgement.conclusion, Conclusion::Dependent(found) if explains(found));
    Ok(is_explained.then_some(judgement))
}

/// Whether files that nobody puts back may be why a test fails, or why one passes that failed
/// together with others.
fn files(question: Question<'_>, runs: &Runs, judgement: &Judgement) -> Option<Need> {
    let options = &*threads::known(question);
    let question = question.with_options(options);
    let conclusion = &judgement.conclusion;
    let fact = Fact::of_conclusion(conclusion, question, runs.plain.as_ref());
    let failing = || question.evidence.all().map(|(_, run)| run).filter(|run| !run.passed());
    let is_known = || {
        matches!(conclusion, Conclusion::Explained(_))
            || failing().next().is_some_and(deadlock::is_proven)
    };
    let usual = options.timeout;
    let limit = match fact {
        Fact::Passes | Fact::PassesUntried if judgement.interference.is_some() => usual,
        Fact::Varies if !is_known() => usual,
        // What one that hangs each time does with files before is all that is needed.
        Fact::Fails if !is_known() => {
            if failing().all(|run| run.outcome == Outcome::TimedOut) {
                once_more(usual)
            } else {
                usual
            }
        }
        _ => return None,
    };
    Some(Need::Files { limit, fact })
}

/// What is established about `test` when the campaign is stopped; see [`plan::so_far`]. Runs
/// together with other tests that disagree establish nothing, because those tests may be the
/// reason.
pub fn so_far(test: &str, options: &Options, runs: &Runs) -> Option<Judgement> {
    let from_alone = runs.alone.count() > 0;
    let evidence = if from_alone { &runs.alone } else { &runs.together };
    let conclusion = plan::so_far(Question::new(test, options, evidence))?;
    let may_be_others = !from_alone && (runs.is_shared || runs.draw());
    if may_be_others && matches!(conclusion, Conclusion::NonDeterministic { .. }) {
        return None;
    }
    Some(Judgement {
        from_alone,
        ..Judgement::provisional(conclusion.or_explained(evidence, options))
    })
}

/// As [`conclude`], of a machine that has everything.
fn judge(test: &str, options: &Options, runs: &Runs) -> Result<Judgement, Missing> {
    let question = Question::new(test, options, &runs.together);
    let together = plan::conclude(question)?;
    let is_contradicted = || {
        let is_scheduled = threads::known(question).is_scheduled();
        let contradiction = runs.together.contradiction(is_scheduled);
        contradiction.is_some_and(|(spec, _)| !clock_start::explains(&together, spec))
    };
    if !(runs.is_shared || runs.draw()) || !(is_doubtful(&together) || is_contradicted()) {
        patiently(options.timeout, &runs.together, || alone::measure(&together, question))?;
        return Ok(Judgement {
            conclusion: together,
            from_alone: false,
            interference: None,
            is_provisional: false,
        });
    }
    let alone = || alone::judge(test, options, runs, together);
    patiently(options.timeout, &runs.alone, alone).map_err(|missing| {
        let short = || runs.hang().then(|| once_hung(options.timeout, Duration::ZERO));
        let limit = missing.limit.or_else(short);
        Missing { alone: true, fresh: runs.draw(), limit, ..missing }
    })
}

/// Whether other tests might be the reason for a conclusion that no runs contradict.
const fn is_doubtful(conclusion: &Conclusion) -> bool {
    match conclusion {
        Conclusion::Broken | Conclusion::NonDeterministic { .. } => true,
        Conclusion::Dependent(dependence) => !dependence.culprits.confirmed,
        Conclusion::Artefact(_)
        | Conclusion::Explained(_)
        | Conclusion::Latent(_)
        | Conclusion::FailsOnlyHere
        | Conclusion::OrderDependent(_)
        | Conclusion::Flaky
        | Conclusion::Stable => false,
    }
}

#[cfg(test)]
mod tests;
