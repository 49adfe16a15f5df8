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

use std::collections::BTreeSet;
use std::time::Duration;

use nondex_core::{Family, Outcome, RunSpec};

use super::certainty;
use super::clock_start;
use super::conclusion::{Conclusion, Dependence};
use super::deadlock;
use super::evidence::Evidence;
use super::missing::{Missing, Purpose, Spent};
use super::options::Options;
use super::order;
use super::patience::{of_real_time, once_more, patiently};
use super::plain::{self, PlainBuild};
use super::plan;
use super::run::Run;
use super::specs::clean_spec;
use super::threads;
use super::verdict::Fact;

/// How often the runs that disagreed are made again alone, at least.
const MIN_REPETITIONS: usize = 5;

/// Number of runs alone, with the choices that decide and without them, that must end as those
/// together with others did.
const SAME: usize = 2;

/// Maximum number of runs alone, however seldom the test failed together with others.
const MAX_RUNS: usize = 100;

/// A test that fails by itself, as often alone as together with others, is taken for a disturbed
/// one with at most this probability.
const ERROR: f64 = 0.01;

/// All runs of one test.
#[derive(Clone, Debug)]
pub struct Runs {
    /// Those at the time of which other tests may have run.
    pub together: Evidence,
    /// Those at the time of which none did.
    pub alone: Evidence,
    /// Those of a plain build, when it was compared with one.
    pub plain: Option<PlainBuild>,
    /// Its result after the other tests of its binary, when it fails alone.
    pub after_others: Option<order::AfterOthers>,
    /// What it does with files that nobody puts back, if that may decide.
    pub files: Option<ExternalFiles>,
    /// Whether the campaign runs tests at once at all.
    is_shared: bool,
}

/// What a test needs before it can be judged.
#[must_use]
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
    #[must_use]
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
    #[must_use]
    pub const fn provisional(conclusion: Conclusion) -> Self {
        Judgement {
            conclusion,
            from_alone: false,
            interference: None,
            is_provisional: true,
        }
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
}

impl Runs {
    /// No runs yet. See [`Evidence::new`] for `prune`. Unless tests are run at once, every run is
    /// made alone, and none is repeated except for a random name.
    #[must_use]
    pub fn new(prune: bool, is_shared: bool) -> Self {
        Runs {
            together: Evidence::new(prune),
            alone: Evidence::new(prune),
            plain: None,
            after_others: None,
            files: None,
            is_shared,
        }
    }

    /// Takes note of the budgets that are [spent](Evidence::spend).
    pub fn spend(&mut self, spent: Spent) {
        self.together.spend(spent);
        self.alone.spend(spent);
    }

    /// The runs of this kind.
    pub fn of_mut(&mut self, alone: bool) -> &mut Evidence {
        if alone {
            &mut self.alone
        } else {
            &mut self.together
        }
    }

    /// The runs that `judgement` follows from.
    #[must_use]
    pub fn judged_by(&self, judgement: Option<&Judgement>) -> &Evidence {
        if judgement.is_some_and(|judgement| judgement.from_alone) {
            &self.alone
        } else {
            &self.together
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.together.count() + self.alone.count()
    }

    /// Whether any run drew a random value, which may name a file.
    fn draw(&self) -> bool {
        let mut points = self.together.all().flat_map(|(_, run)| run.points.iter());
        points.any(|point| matches!(point.site.family, Family::Entropy | Family::HashKeys))
    }

    /// Why the runs alone have a different outcome.
    fn reason(&self) -> Reason {
        let mut failed = self.together.all().filter(|(_, run)| !run.passed());
        if failed.all(|(_, run)| run.outcome == Outcome::TimedOut) {
            Reason::Time
        } else if self.draw() {
            Reason::RandomName
        } else {
            Reason::Shared
        }
    }

    fn all(&self) -> impl Iterator<Item = &Run> {
        let all = self.together.all().chain(self.alone.all());
        all.map(|(_, run)| run)
    }

    /// How long they took together.
    #[must_use]
    pub fn took(&self) -> Duration {
        self.all().map(|run| run.took).sum()
    }

    /// The names of the models that they reached.
    pub fn models(&self) -> impl Iterator<Item = String> {
        let points = self.all().flat_map(|run| run.points.iter());
        let models: BTreeSet<(Family, &str)> = points
            .map(|point| (point.site.family, &*point.site.api))
            .collect();
        let models = models.into_iter();
        models.map(|(family, api)| format!("{family}/{api}"))
    }
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
    let judgement = judge(test, options, runs).map_err(Need::Runs)?;
    let evidence = runs.judged_by(Some(&judgement));
    let conclusion = judgement.conclusion.or_explained(evidence, options);
    if available.others && runs.after_others.is_none() && conclusion == Conclusion::Broken {
        return Err(Need::AfterOthers);
    }
    let conclusion = conclusion.after_others(clean_spec(test, options), runs.after_others.as_ref());
    if available.plain && runs.plain.is_none() && plain::is_wanted(&conclusion) {
        let usual = options.timeout;
        return Err(Need::Plain {
            limit: deadlock::limit(usual, evidence)
                .unwrap_or_else(|| of_real_time(usual, evidence)),
            obstacle: plain::no_comparison(evidence.all().map(|(_, run)| &run.outcome), options),
            // It may pass without this tool.
            is_decisive: conclusion == Conclusion::Broken,
        });
    }
    let mut judgement = Judgement {
        conclusion: conclusion.compared_with(runs.plain.as_ref()),
        ..judgement
    };
    if judgement.conclusion == Conclusion::Flaky {
        let seldom = by_further_seeds(test, options, runs).map_err(Need::Runs)?;
        judgement = seldom.unwrap_or(judgement);
    }
    let needs_files = available.files && runs.files.is_none();
    match files(test, options, runs, &judgement).filter(|_| needs_files) {
        Some(need) => Err(need),
        None => Ok(judgement),
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
fn files(test: &str, options: &Options, runs: &Runs, judgement: &Judgement) -> Option<Need> {
    let evidence = runs.judged_by(Some(judgement));
    let options = &*threads::known(test, options, evidence);
    let conclusion = &judgement.conclusion;
    let fact = Fact::of_conclusion(conclusion, test, options, runs.plain.as_ref(), evidence);
    let failing = || {
        evidence
            .all()
            .map(|(_, run)| run)
            .filter(|run| !run.passed())
    };
    let is_known = || {
        matches!(conclusion, Conclusion::Explained(_))
            || failing().next().is_some_and(deadlock::is_proven)
    };
    let usual = options.timeout;
    let limit = match fact {
        Fact::Passes | Fact::PassesUntried if judgement.interference.is_some() => usual,
        Fact::Varies if !is_known() => usual,
        // What one that hangs each time does with files before is all that is needed.
        Fact::Fails if !is_known() => match failing().all(|run| run.outcome == Outcome::TimedOut) {
            true => once_more(usual),
            false => usual,
        },
        _ => return None,
    };
    Some(Need::Files { limit, fact })
}

/// What is established about `test` when the campaign is stopped; see [`plan::so_far`]. Runs
/// together with other tests that disagree establish nothing, because those tests may be the
/// reason.
#[must_use]
pub fn so_far(test: &str, options: &Options, runs: &Runs) -> Option<Judgement> {
    let from_alone = runs.alone.count() > 0;
    let evidence = if from_alone {
        &runs.alone
    } else {
        &runs.together
    };
    let conclusion = plan::so_far(test, options, evidence)?;
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
    let together = plan::conclude(test, options, &runs.together)?;
    let is_contradicted = || {
        let is_scheduled = threads::known(test, options, &runs.together).is_scheduled();
        let contradiction = runs.together.contradiction(is_scheduled);
        contradiction.is_some_and(|(spec, _)| !clock_start::explains(&together, spec))
    };
    if !(runs.is_shared || runs.draw()) || !(is_doubtful(&together) || is_contradicted()) {
        patiently(options.timeout, &runs.together, || {
            measure(&together, &runs.together)
        })?;
        return Ok(Judgement {
            conclusion: together,
            from_alone: false,
            interference: None,
            is_provisional: false,
        });
    }
    patiently(options.timeout, &runs.alone, || {
        judge_alone(test, options, runs, together)
    })
    .map_err(|missing| Missing {
        alone: true,
        fresh: runs.draw(),
        ..missing
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

fn judge_alone(
    test: &str,
    options: &Options,
    runs: &Runs,
    together: Conclusion,
) -> Result<Judgement, Missing> {
    // With the same threads as together with the others.
    let options = &*threads::known(test, options, &runs.together);
    let clean = clean_spec(test, options);
    let as_together = |conclusion| Judgement {
        conclusion,
        from_alone: false,
        interference: None,
        is_provisional: false,
    };
    if together == Conclusion::Broken && !runs.alone.repeat(&clean, 1)?[0].passed() {
        // It agrees with all the others.
        return Ok(as_together(together));
    }
    if matches!(together, Conclusion::NonDeterministic { .. }) {
        let times = usize::try_from(options.clean_runs.get()).unwrap_or(usize::MAX);
        let clean = runs.alone.repeat(&clean, times)?;
        if clean.iter().all(|run| !run.passed()) {
            // Others are not what makes it fail; more likely what its own earlier runs left.
            return Ok(as_together(together));
        }
    }
    let mut conclusion = plan::judge(test, options, &runs.alone)?;
    let is_same = is_same_dependence(&together, &conclusion) && !is_disturbed(options, runs);
    if matches!(
        conclusion,
        Conclusion::Stable | Conclusion::Latent(_) | Conclusion::Broken
    ) {
        // When the budget was spent, the choices that decide were not tried again.
        if let Conclusion::Dependent(dependence) = &together
            && is_same_alone(dependence, &clean, &runs.alone)?
        {
            return Ok(as_together(together));
        }
        // A few runs may agree by chance.
        let contradiction = runs.together.contradiction(options.is_scheduled());
        let disagreed = match (together, contradiction) {
            (Conclusion::NonDeterministic { spec }, _) => *spec,
            (_, Some((spec, _))) => spec.clone(),
            (Conclusion::Dependent(dependence), None) => dependence.spec,
            (_, None) => clean,
        };
        let others = runs.alone.count() - runs.alone.standing_for(&disagreed).len();
        let wanted = sufficient(failures(&runs.together));
        // However few runs disagreed: chance may decide as seldom alone.
        let wanted = wanted.max(certainty::without_chance(&runs.together));
        let times = wanted.saturating_sub(others);
        runs.alone.repeat(&disagreed, times.max(MIN_REPETITIONS))?;
        if let Some((spec, _)) = runs.alone.contradiction(options.is_scheduled()) {
            conclusion = Conclusion::NonDeterministic {
                spec: Box::new(spec.clone()),
            };
        }
    }
    measure(&conclusion, &runs.alone)?;
    let is_clear = match &conclusion {
        _ if is_same => false,
        Conclusion::NonDeterministic { .. } => false,
        Conclusion::Dependent(dependence) => dependence.culprits.confirmed,
        _ => true,
    };
    Ok(Judgement {
        conclusion,
        from_alone: true,
        interference: is_clear.then(|| Interference {
            together: failures(&runs.together),
            alone: failures(&runs.alone),
            reason: runs.reason(),
        }),
        is_provisional: false,
    })
}

/// Whether choices decide in the same way together with other tests and alone.
fn is_same_dependence(together: &Conclusion, alone: &Conclusion) -> bool {
    match (together, alone) {
        (Conclusion::Dependent(together), Conclusion::Dependent(alone)) => {
            together.passes_clean == alone.passes_clean
        }
        _ => false,
    }
}

/// Whether runs of one spec end in two ways together with other tests, or in another one alone.
/// Real threads of a test that is scheduled do so by chance.
fn is_disturbed(options: &Options, runs: &Runs) -> bool {
    let mut specs = runs.together.specs();
    specs.any(|(spec, together)| {
        let all = together.iter().chain(runs.alone.of(spec));
        let mut ends = all.filter(|run| !run.has_no_outcome()).map(Run::passed);
        let first = ends.next();
        spec.is_scheduled() == options.is_scheduled() && ends.any(|end| Some(end) != first)
    })
}

/// Whether the clean runs and those with the choices of `dependence` end alone as they did together
/// with others.
fn is_same_alone(
    dependence: &Dependence,
    clean: &RunSpec,
    alone: &Evidence,
) -> Result<bool, Missing> {
    let ends = |runs: &[Run], passes| runs.iter().all(|run| run.passed() == passes);
    let both = alone.repeat_in_turns(&[clean, &dependence.spec], SAME)?;
    Ok(ends(both[0], dependence.passes_clean) && ends(both[1], !dependence.passes_clean))
}

/// Has a test that ends in two ways run often enough for a rate.
fn measure(conclusion: &Conclusion, evidence: &Evidence) -> Result<(), Missing> {
    match conclusion {
        Conclusion::NonDeterministic { spec } => certainty::measure(spec, evidence),
        _ => Ok(()),
    }
}

/// How many runs failed, of how many.
fn failures(evidence: &Evidence) -> [usize; 2] {
    let failed = evidence.all().filter(|(_, run)| !run.passed()).count();
    [failed, evidence.count()]
}

/// How many runs that all end alike make it unlikely that they come from a test which fails in
/// `failed` of `runs`.
fn sufficient([failed, runs]: [usize; 2]) -> usize {
    let minority = failed.min(runs - failed);
    if minority == 0 {
        return MIN_REPETITIONS;
    }
    (MIN_REPETITIONS..MAX_RUNS)
        .find(|&n| (1.0 - minority as f64 / runs as f64).powf(n as f64) <= ERROR)
        .unwrap_or(MAX_RUNS)
}

#[cfg(test)]
mod tests;
