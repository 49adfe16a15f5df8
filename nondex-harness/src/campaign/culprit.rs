//! Which calls are responsible for a failure: a search over call sites.
//!
//! A choice that is turned off leaves every other as it was, so a run in which the seed decides at some sites only is well defined.
//! Delta debugging (Zeller and Hildebrandt, 2002) over the sites that the failing run reached finds a smallest set
//! that suffices to change the outcome; for one culprit among n sites that is a binary search of at most 2·log2(n) runs. While the
//! test still changes its outcome without that set there is another, independent culprit, which is searched in the same way.

use nondex_core::{PointRecord, RunSpec, Selection, Site};

use super::equivalence::is_made;
use super::evidence::{Evidence, Missing};

/// How often the outcome must be the same before a culprit is confirmed.
pub const CONFIRMATIONS: usize = 3;

/// How many independent culprits are searched for.
const MAX_GROUPS: usize = 8;

/// How many questions are asked before the search settles for what it has.
const MAX_QUESTIONS: usize = 120;

/// How long a spec may be: Linux allows one variable of the environment 128 KiB.
const MAX_SPEC: usize = 100 << 10;

/// What the search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Culprits {
    /// The sites, the independent ones one after the other.
    pub sites: Vec<Site>,
    /// Whether they were confirmed both ways.
    pub confirmed: bool,
    /// What there is to say about them.
    pub notes: Vec<String>,
}

/// Searches the sites because of which a run of `spec`, which makes all choices, ended otherwise than the clean runs;
/// `baseline` is whether those passed.
///
/// # Errors
/// The runs to make first.
pub fn search(evidence: &Evidence, spec: &RunSpec, baseline: bool) -> Result<Culprits, Missing> {
    let mut search = Search {
        evidence,
        spec,
        baseline,
        questions: 0,
    };
    let mut found = Culprits::default();
    let mut groups: Vec<Vec<Site>> = Vec::new();
    let mut rest = search.spec.clone();
    loop {
        // These sites suffice: turning on all that a run reached is that very run.
        let run = evidence.answers(std::slice::from_ref(&rest))?[0].run;
        let sites = made_sites(&rest, &run.points);
        if sites.is_empty() {
            break;
        }
        if search.with(Selection::only(sites.clone())).to_json().len() > MAX_SPEC {
            found.notes.push(format!(
                "{} call sites are too many to search for the responsible one",
                sites.len()
            ));
            break;
        }
        let group = search.minimise(sites)?;
        found.sites.extend(group.iter().cloned());
        groups.push(group);
        rest = search.with(Selection::except(found.sites.clone()));
        if !search.changes(rest.choices.clone())? {
            found.confirmed = search.confirm(&groups, &rest)?;
            break;
        }
        if groups.len() == MAX_GROUPS || search.questions > MAX_QUESTIONS {
            found
                .notes
                .push("there are more culprits than these".to_owned());
            break;
        }
    }
    if groups.iter().any(|group| group.len() > 1) {
        found
            .notes
            .push("several of the calls change the outcome only together".to_owned());
    }
    Ok(found)
}

/// The sites at which the seed decided, in order, each once.
pub(super) fn made_sites(spec: &RunSpec, points: &[PointRecord]) -> Vec<Site> {
    let mut sites: Vec<Site> = points
        .iter()
        .filter(|point| is_made(spec, &point.site, &point.thread))
        .map(|point| point.site.clone())
        .collect();
    sites.sort_unstable();
    sites.dedup();
    sites
}

struct Search<'a> {
    evidence: &'a Evidence,
    spec: &'a RunSpec,
    baseline: bool,
    questions: usize,
}

impl Search<'_> {
    fn with(&self, choices: Selection) -> RunSpec {
        RunSpec {
            choices,
            ..self.spec.clone()
        }
    }

    /// Whether the outcome is another than that of the clean runs.
    fn changes(&mut self, choices: Selection) -> Result<bool, Missing> {
        self.questions += 1;
        let answers = self.evidence.answers(&[self.with(choices)])?;
        Ok(answers[0].run.passed() != self.baseline)
    }

    /// The first set of sites that suffices.
    fn first_that_changes<'s>(
        &mut self,
        sets: &'s [Vec<Site>],
    ) -> Result<Option<&'s Vec<Site>>, Missing> {
        for set in sets {
            if self.changes(Selection::only(set.clone()))? {
                return Ok(Some(set));
            }
        }
        Ok(None)
    }

    /// A subset of `sites`, which suffice, that suffices too and of which no part does.
    fn minimise(&mut self, mut sites: Vec<Site>) -> Result<Vec<Site>, Missing> {
        let mut parts = 2;
        while sites.len() > 1 && self.questions < MAX_QUESTIONS {
            let subsets = split(&sites, parts);
            if let Some(subset) = self.first_that_changes(&subsets)? {
                sites.clone_from(subset);
                parts = 2;
                continue;
            }
            if parts > 2 {
                let complements: Vec<Vec<Site>> = subsets
                    .iter()
                    .map(|subset| {
                        sites
                            .iter()
                            .filter(|s| !subset.contains(s))
                            .cloned()
                            .collect()
                    })
                    .collect();
                if let Some(complement) = self.first_that_changes(&complements)? {
                    sites.clone_from(complement);
                    parts -= 1;
                    continue;
                }
            }
            if parts == sites.len() {
                break;
            }
            parts = (parts * 2).min(sites.len());
        }
        Ok(sites)
    }

    /// Whether each group alone changes the outcome every time, and `rest`, everything but them, never.
    fn confirm(&self, groups: &[Vec<Site>], rest: &RunSpec) -> Result<bool, Missing> {
        let mut missing = Vec::new();
        let mut confirmed = true;
        let changing = groups
            .iter()
            .map(|group| (self.with(Selection::only(group.clone())), true));
        for (spec, changes) in changing.chain([(rest.clone(), false)]) {
            match self.evidence.repeat(&spec, CONFIRMATIONS) {
                Ok(runs) => {
                    confirmed &= runs
                        .iter()
                        .all(|run| (run.passed() != self.baseline) == changes);
                }
                Err(Missing(specs)) => missing.extend(specs),
            }
        }
        if missing.is_empty() || !confirmed {
            Ok(confirmed)
        } else {
            Err(Missing(missing))
        }
    }
}

/// Splits `sites` into so many parts of about equal size, none empty.
fn split(sites: &[Site], parts: usize) -> Vec<Vec<Site>> {
    (0..parts)
        .map(|i| sites[sites.len() * i / parts..sites.len() * (i + 1) / parts].to_vec())
        .collect()
}

#[cfg(test)]
mod tests;
