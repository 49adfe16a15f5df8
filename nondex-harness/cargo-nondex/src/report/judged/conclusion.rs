//! Writes a conclusion into a report: the verdict, what decides it, and what reproduces it.

use nondex_core::{RunSpec, Schedule};

use super::basis::Basis;
use super::{culprits, notes, order, reproduce, scheduled};
use crate::judge::conclusion::Dependence;
use crate::judge::{
    Circumstance, Conclusion, Fact, PlainBuild, Question, certainty, exhaustive, further, sampling,
    unexplored,
};
use crate::report::schema::{Latent, TestReport};

/// Writes the conclusion. Returns the run to reproduce, or `None` if there is nothing to reproduce.
pub(super) fn write(report: &mut TestReport, basis: &Basis<'_>) -> Option<RunSpec> {
    let judged = basis.judgement.zip(basis.conclusion());
    let Some((judgement, conclusion)) = judged else {
        if report.runs > 0 {
            report.notes.push(notes::unjudged(&report.failures));
        }
        return None;
    };
    let fact =
        Fact::of_conclusion(&judgement.conclusion, basis.question(), basis.runs.plain.as_ref());
    report.rule(fact);
    // One of the runs never started, so the conclusion is invalid. For instance, the executable is
    // missing because it is being rebuilt.
    let mut runs = basis.evidence.all().map(|(_, run)| run);
    if let Some(missing) = runs.find(|run| run.is_missing) {
        report.failures.clear();
        report.failure_rate.clear();
        let why = missing.failure.as_ref().map_or("", |failure| &failure.message);
        report.notes.push(format!("it is not judged: {why}"));
        return None;
    }
    match conclusion {
        // `Basis::conclusion` has already unwrapped the explanation.
        Conclusion::Explained(_) => None,
        Conclusion::Stable => {
            stable(report, basis);
            None
        }
        Conclusion::Latent(found) => {
            stable(report, basis);
            report.search_runs = culprits::runs(basis.evidence);
            report.latent = Some(Latent {
                level: found.spec.level(),
                seed: found.spec.seed(),
                culprits: culprits::report(&found.culprits, basis.test, basis.workspace),
            });
            None
        }
        Conclusion::Broken if fact == Fact::Unjudged => {
            report.notes.push(notes::untried());
            Some(basis.clean())
        }
        Conclusion::Broken => {
            if basis.explanation().is_none() {
                let hang = notes::hang(&report.failures, basis.options.timeout);
                let doubt = notes::may_pass(&report.sources, failing_runs(basis));
                // A test that hangs is not run under seeds.
                if hang.is_none() {
                    report.left_out = unexplored::seeds(basis.question());
                }
                report.notes.extend(hang.or(doubt));
                report.notes.extend(notes::left_out(report.left_out));
            }
            Some(basis.clean())
        }
        Conclusion::Flaky => Some(basis.clean()),
        // The failure occurs only with this tool, so there is nothing to reproduce.
        Conclusion::FailsOnlyHere => None,
        Conclusion::Artefact(dependence) => {
            report.search_runs = culprits::runs(basis.evidence);
            report.notes.push(notes::artefact(dependence));
            None
        }
        Conclusion::OrderDependent(found) => {
            let after = basis.runs.after_others.as_ref();
            let names = after.map_or(&[][..], |after| &*after.names);
            order::dependent(report, found, names, basis.options);
            Some(basis.clean())
        }
        Conclusion::NonDeterministic { spec } => {
            let disagreement = || notes::disagreement(basis.evidence.of(spec), spec, basis.options);
            let after_others = order::disagreement(basis.runs.after_others.as_ref());
            report.notes.extend(match report.environment {
                Some(Circumstance::Addresses) => {
                    [disagreement(), notes::fixed_addresses(basis.question().clean())]
                }
                _ => [
                    after_others.unwrap_or_else(disagreement),
                    if basis.options.is_unobserved {
                        notes::unobserved()
                    } else {
                        notes::uncontrolled(&report.sources)
                    },
                ],
            });
            Some(spec.as_ref().clone())
        }
        Conclusion::Dependent(dependence) => Some(dependent(report, dependence, basis)),
    }
}

/// Returns the number of failing runs of a broken test that could have passed by chance.
fn failing_runs(basis: &Basis<'_>) -> usize {
    let plain = match basis.runs.plain {
        Some(PlainBuild::Runs([_, runs])) => usize::try_from(runs).unwrap_or(usize::MAX),
        _ => 0,
    };
    plain.saturating_add(certainty::samples(basis.evidence))
}

fn stable(report: &mut TestReport, basis: &Basis<'_>) {
    let question = basis.question();
    report.verified = exhaustive::verified(question);
    report.schedules = scheduled::verified(question);
    report.sampled = sampling::levels(question);
    report.alike = sampling::alike_levels(question);
    report.left_out = unexplored::runs(question);
    // Without a run that chance could affect, there is no bound.
    let samples = Some(certainty::samples(basis.evidence)).filter(|runs| *runs > 0);
    report.failure_bound = samples.map(certainty::bound);
}

/// Writes the choices on which a test depends. Returns the run that shows it.
fn dependent(report: &mut TestReport, dependence: &Dependence, basis: &Basis<'_>) -> RunSpec {
    let question = basis.question();
    report.delay_level = dependence.level_of_delays(basis.evidence);
    report.weakest_level = Some(dependence.spec.level());
    report.culprits = culprits::report(&dependence.culprits, basis.test, basis.workspace);
    report.search_runs = culprits::runs(basis.evidence);
    report.notes.extend(dependence.culprits.notes.iter().cloned());
    let (level, seed) = (dependence.spec.level(), dependence.spec.seed());
    let tried = sampling::seed_specs(question, level);
    if basis.options.world.is_some() {
        let words = ["--seed", &seed.to_string(), "--exact", question.test];
        let search = reproduce::search(&words, basis.options);
        report.notes.push(format!("it passes in canonical order; `{search}` names what decides"));
    } else if !tried.contains(&dependence.spec) {
        let note = unusual_seed(question, dependence);
        report.notes.push(note);
    }
    if dependence.passes_clean {
        return dependence.spec.clone();
    }
    report.notes.push(format!(
        "it fails in canonical order too, and passes at level {level} with seed {seed}"
    ));
    basis.clean()
}

/// Describes the origin of a seed that was not requested.
fn unusual_seed(question: Question<'_>, dependence: &Dependence) -> String {
    let spec = &dependence.spec;
    let (level, seed) = (spec.level(), spec.seed());
    let ends = if dependence.passes_clean { "fails" } else { "passes" };
    if question.regressions(&[level]).contains(spec) {
        format!(
            "it is a regression of an earlier finding: level {level} with seed {seed} was kept and \
             tried first"
        )
    } else if spec.schedule() == Schedule::Systematic {
        format!(
            "schedules with few preemptions were tried in sequence: schedule number {seed} {ends}"
        )
    } else if further::made(question, level).contains(spec) {
        format!(
            "more seeds were tried at level {level}: seed {seed} is the first under which it {ends}"
        )
    } else {
        format!(
            "all its orders at level {level} were tried: seed {seed} is one under which it {ends}"
        )
    }
}
