//! Natural runs of several tests of a binary in one process, one after the other.
//!
//! A process takes longer than most tests, and chance is only seen in many runs. A test whose
//! outcome varies in these runs is judged from [many runs alone](crate::judge::certainty); other
//! tests of the process cannot be the reason for a verdict.
//!
//! - No choice and no source shows that a test depends on addresses. The tests that use nothing
//!   else that may vary run some times at random ones.
//! - A hasher may draw its seed from an address. The first process shows whether one does. If so,
//!   the tests run as often as each would alone. Where these runs agree, they replace those alone.
//! - Tests that use threads, time or the date, and end soon, run as often as each would alone, too.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use nondex_core::{RunSpec, Source};

use super::Campaign;
use super::launch::Launcher;
use super::pace::Pace;
use super::process::at_random_addresses;
use super::queue::Workload;
use crate::judge::certainty::{self, ENOUGH, ENOUGH_RANDOM};
use crate::judge::{JointRuns, Need, Required, Run, Runs};
use crate::pool;

/// Least and largest number of processes. A failure in one run in eight is found with probabilities
/// of 55 and 80 percent, one in every other run with 97 and more than 99.9.
const PROCESSES: [usize; 2] = [6, 12];

/// Number of tests that run in all processes of a binary, if the least number is enough for that.
const TESTS: usize = 1200;

/// Limits on the duration of all processes of one binary: usually, and if a hasher may draw.
const PATIENCE: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(10)];

/// Tests whose first run took longer are left out: those that use nothing that may vary, and those
/// that use threads or time. A dozen runs of one that computes take longer than all other runs of a
/// suite, and those that wait would no longer do so at the same time.
const LONGEST: [Duration; 2] = [Duration::from_millis(80), Duration::from_millis(20)];

/// Maximum number of tests in one process that use threads or time. Processes run side by side.
const TIMED: usize = 32;

/// Same number if they read the date. Such processes are spread over two seconds, so fewer of them
/// end sooner.
const DATED: usize = 128;

/// Time limit of each test. One that is reached is no evidence.
const LIMIT: Duration = Duration::from_secs(2);

/// Properties that the tests of one process share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group<'c> {
    /// Id of the binary.
    binary: &'c str,
    /// Whether they [draw random values](Run::draws_random). Each process then gets an empty folder
    /// for temporary files.
    draws_random: bool,
    /// Whether they use threads, time or the date.
    is_timed: bool,
    /// Whether they read the date.
    is_dated: bool,
}

/// Test of a group.
#[derive(Clone, Copy)]
struct Member {
    /// Index of the test.
    test: usize,
    /// Whether its first run passed.
    passes: bool,
    /// Number of natural runs that are enough if it uses threads, time or the date.
    enough: usize,
}

impl Campaign<'_> {
    /// Runs tests in one process with others, and records whose outcomes vary.
    pub(super) fn run_jointly(&self, needs: &[(usize, Need)], runs: &mut [Runs]) {
        let mut groups: BTreeMap<Group<'_>, Vec<Member>> = BTreeMap::new();
        for &(test, _) in needs {
            runs[test].note_joint_runs(JointRuns::Agree { runs: 0, may_draw: true });
            let (suite, case) = self.tests[test];
            let (options, made) = (&self.options[test], &runs[test].together);
            let is_timed = made.has_sources();
            let spec = if is_timed {
                options.natural_spec(&case.name)
            } else {
                options.clean_spec(&case.name)
            };
            // The budget may have been spent before a run with real threads. Virtual time shows how
            // long that would take.
            let clean = || made.of(&options.clean_spec(&case.name)).first();
            let first = made.of(&spec).first().or_else(clean);
            let longest = LONGEST[usize::from(is_timed)];
            let is_short = |run: &&Run| run.took.max(run.virtual_time()) < longest;
            if let Some(first) = first.filter(is_short) {
                let binary = suite.binary.id.as_str();
                let is_dated = certainty::sources(made).contains(&Source::Date);
                let draws_random = first.draws_random();
                let group = Group { binary, draws_random, is_timed, is_dated };
                let enough = certainty::enough(made);
                let member = Member { test, passes: first.passed(), enough };
                groups.entry(group).or_default().push(member);
            }
        }
        // Nobody reads the records of failed runs.
        let records = self.directory.join("joint");
        if std::fs::create_dir_all(&records).is_err() {
            return;
        }
        let launcher = self.launcher.clone().recording_in(records.clone());
        let processes = groups.into_iter().flat_map(|(group, members)| {
            let most = match group {
                Group { is_dated: true, .. } => DATED,
                Group { is_timed: true, .. } => TIMED,
                _ => members.len(),
            };
            members.chunks(most).map(|members| (group, members.to_vec())).collect::<Vec<_>>()
        });
        let groups: Vec<_> = processes.collect();
        let jobs = self.options.first().map_or(1, |options| options.jobs.get());
        let required = |(_, members): &(Group<'_>, Vec<Member>)| {
            let all = members.iter().map(|member| self.required(member.test));
            all.fold(Required::default(), |all, own| all.or(&own))
        };
        // The processes of a group run one after the other: its tests may use files of one name.
        let all = pool::each_within(jobs, &groups, required, |place, (group, members)| {
            let experiment = |spec: &RunSpec| {
                let run = |folder: Option<&Path>| self.at_random(&launcher, folder, members, spec);
                if group.draws_random { Launcher::with_fresh(place, run) } else { run(None) }
            };
            Some(self.joint_runs(*group, members, experiment))
        });
        for (member, found) in groups.iter().flat_map(|(_, members)| members).zip(all.concat()) {
            runs[member.test].note_joint_runs(found);
        }
        let _ = std::fs::remove_dir_all(&records);
    }

    /// Runs these tests of one binary in one process at random addresses. Returns `None` when it
    /// was stopped.
    fn at_random(
        &self,
        launcher: &Launcher<'_>,
        folder: Option<&Path>,
        members: &[Member],
        spec: &RunSpec,
    ) -> Option<Vec<Run>> {
        let binary = &self.tests[members.first()?.test].0.binary;
        let tests: Vec<_> = members.iter().map(|member| self.tests[member.test].1).collect();
        at_random_addresses(|| launcher.experiment(folder, &[LIMIT], binary, &tests, spec))
    }

    /// Returns what the outcomes of these tests of one binary show, which run some times by
    /// `experiment`.
    fn joint_runs(
        &self,
        group: Group<'_>,
        members: &[Member],
        experiment: impl Fn(&RunSpec) -> Option<Vec<Run>>,
    ) -> Vec<JointRuns> {
        let Some(Member { test: last, .. }) = members.last() else { return Vec::new() };
        let options = &self.options[*last];
        let spec = options.natural_spec(&self.tests[*last].1.name);
        let seeds = &options.address_seeds;
        let (few, mut processes, mut may_draw) = if group.is_timed {
            // Each has one natural run alone, unless the budget was spent before.
            let enough = members.iter().map(|member| member.enough).max();
            (certainty::FEW, enough.unwrap_or(ENOUGH) - 1, false)
        } else {
            let [least, most] = PROCESSES;
            // One test, or each of very many, is tried less often.
            let few = most.min(least + members.len() - 1).min(least.max(TESTS / members.len()));
            (few, few, !seeds.is_empty())
        };
        let mut outcomes = vec![Vec::new(); members.len()];
        let begin = Instant::now();
        let [patience, patience_with_draws] = PATIENCE;
        let sources = if group.is_dated { &[Source::Date][..] } else { &[] };
        let mut pace = Pace::of(sources).over(processes as u64);
        let mut made = 0;
        while made < processes && !self.stop.is_set() {
            // The budget does not count for few runs: seeds may have used it up.
            let is_spent = made >= few && self.budget.spent().exploring;
            let allowed = if processes > few { patience_with_draws } else { patience };
            if is_spent || begin.elapsed() > allowed {
                break;
            }
            let records_seeds = made == 0 && may_draw;
            let spec =
                if records_seeds { &certainty::recording_seeds(spec.clone()) } else { &spec };
            pace.wait();
            let Some(runs) = experiment(spec) else { break };
            let is_whole = |run: &Run| !run.is_missing && !run.ends_process();
            if records_seeds {
                let draws = |run: &Run| certainty::draws(run, seeds);
                may_draw = !runs.iter().all(is_whole) || runs.iter().any(draws);
                let all = begin.elapsed() * u32::try_from(ENOUGH_RANDOM).unwrap_or(u32::MAX);
                if may_draw && all < patience_with_draws {
                    processes = ENOUGH_RANDOM;
                }
            }
            for (outcomes, run) in outcomes.iter_mut().zip(&runs) {
                outcomes.extend(is_whole(run).then(|| run.passed()));
            }
            made += 1;
        }
        let all = members.iter().zip(&outcomes);
        all.map(|(member, outcomes)| found(member.passes, outcomes, may_draw)).collect()
    }
}

/// Returns what these outcomes show about a test whose first run `passes` or not. A hasher in one
/// of the tests of the process `may_draw` from an address.
fn found(passes: bool, outcomes: &[bool], may_draw: bool) -> JointRuns {
    let agreeing = outcomes.iter().filter(|outcome| **outcome == passes).count();
    match outcomes.len() - agreeing {
        0 => JointRuns::Agree { runs: agreeing, may_draw: may_draw || agreeing == 0 },
        _ if agreeing > 0 => JointRuns::Vary,
        // Each time another one: a test before it in the process may be the reason.
        _ => JointRuns::Agree { runs: 0, may_draw: true },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_varies_if_it_has_both_outcomes() {
        let agree = |runs, may_draw| JointRuns::Agree { runs, may_draw };
        assert_eq!(found(true, &[true, true, false], false), JointRuns::Vary);
        for may_draw in [false, true] {
            assert_eq!(found(true, &[true, true], may_draw), agree(2, may_draw));
            assert_eq!(found(false, &[false], may_draw), agree(1, may_draw));
            // Nothing is known about a test without an outcome, or after another test.
            assert_eq!(found(true, &[], may_draw), agree(0, true));
            assert_eq!(found(true, &[false, false], may_draw), agree(0, true));
        }
    }
}
