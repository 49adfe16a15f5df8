//! Provides what a test needs besides its runs. This is its result after the other tests of its
//! binary, runs in a plain build, and the external files that it uses.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Campaign;
use super::brittle;
use super::comparison::Comparison;
use super::external_files::{self, Changed};
use super::launch::Setting;
use super::order::ProcessContext;
use super::process::at_random_addresses;
use super::temporary;
use super::tree::Tree;
use super::written_paths::WrittenPaths;
use crate::judge::order::AfterOthers;
use crate::judge::{ExternalFiles, Fact, Need, PlainBuild, Run, Runs, certainty};
use crate::project::TestCase;

impl Campaign<'_> {
    /// Runs tests that fail alone after the other tests of their binaries.
    pub(super) fn run_after_others(&self, tests: &[usize], runs: &mut [Runs]) {
        let mut by_binary: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for test in tests {
            let (suite, _) = self.tests[*test];
            by_binary.entry(&suite.binary.id).or_default().push(*test);
        }
        for tests in by_binary.values() {
            let (suite, _) = self.tests[tests[0]];
            let position = |case: &TestCase| {
                self.tests.iter().position(|(known, other)| {
                    known.binary.id == suite.binary.id && other.name == case.name
                })
            };
            let clean = |case: &TestCase| {
                let test = position(case)?;
                let spec = self.options[test].clean_spec(&case.name);
                // While other tests ran, it may have passed because of what they left.
                let alone = runs[test].alone.of(&spec).first();
                alone.or_else(|| runs[test].together.of(&spec).first()).cloned()
            };
            let hangs = |case: &TestCase| position(case).is_some_and(|test| runs[test].hang());
            let options = self.options[tests[0]].with_real_threads();
            let context = ProcessContext {
                launcher: self.launcher.clone(),
                options: &options,
                tree: &Tree::none(),
                progress: self.progress,
                stop: self.stop,
            };
            let cases: Vec<&TestCase> = tests.iter().map(|test| self.tests[*test].1).collect();
            let mut found =
                brittle::run(&context, suite, &cases, &clean, &hangs).into_iter().flatten();
            for test in tests {
                let unknown = || (!self.stop.is_set()).then(AfterOthers::unknown);
                runs[*test].after_others = found.next().or_else(unknown);
            }
        }
    }

    /// Runs tests in a plain build: first those that cannot be judged without it.
    pub(super) fn run_in_plain_build(&self, needs: &[(usize, Need)], runs: &mut [Runs]) {
        let (Some(builder), false) = (self.plain, needs.is_empty()) else { return };
        let is_run =
            |(_, need): &&(usize, Need)| matches!(need, Need::Plain { obstacle: None, .. });
        let number = needs.iter().filter(is_run).count();
        if number > 0 {
            self.progress.comparing(number);
        }
        let (decisive, others): (Vec<_>, Vec<_>) = needs
            .iter()
            .partition(|(_, need)| matches!(need, Need::Plain { is_decisive: true, .. }));
        at_random_addresses(|| {
            let comparison = Comparison::new(builder, Some(self.budget), self.stop);
            for (test, need) in decisive.into_iter().chain(others) {
                let Need::Plain { limit, obstacle, is_decisive } = need else { continue };
                let (suite, case) = self.tests[*test];
                let (compared, failure) = match obstacle {
                    Some(reason) => (PlainBuild::Not((*reason).to_owned()), None),
                    None => {
                        let sources = certainty::sources(&runs[*test].together);
                        comparison.compare(suite, case, *limit, *is_decisive, &sources)
                    }
                };
                runs[*test].plain_failure = failure;
                runs[*test].generated = comparison.generated(suite, case);
                self.launcher.note(WrittenPaths::add_plain);
                let is_known = obstacle.is_some() || matches!(compared, PlainBuild::Runs(_));
                let is_left_open = self.stop.is_set() && !is_known && *is_decisive;
                runs[*test].plain = Some(compared).filter(|_| !is_left_open);
            }
        });
    }

    /// Finds the external files that may be why tests fail, or why they pass now.
    pub(super) fn examine_external_files(&self, needs: &[(usize, Need)], runs: &mut [Runs]) {
        for (test, need) in needs {
            let Need::Files { limit, fact } = need else { continue };
            let (suite, case) = self.tests[*test];
            let run = || {
                let spec = self.options[*test].clean_spec(&case.name);
                let spec = external_files::spec(spec);
                self.launcher.run(Setting::Fresh, *limit, &suite.binary, case, &spec).ok()
            };
            let run = (!self.stop.is_set()).then(run).flatten();
            let folders = [&temporary::fresh_folder(0), &std::env::temp_dir()];
            let note = |run: &Run| match fact {
                Fact::Fails if run.passed() => {
                    Some(external_files::note_of_temporary(run, folders.map(PathBuf::as_path)))
                }
                Fact::Fails | Fact::Varies => {
                    let varies = *fact == Fact::Varies;
                    external_files::note(varies, run, &Changed::new(), &|_| false)
                }
                _ => external_files::note_of_passing(run, self.begun, &self.workspace),
            };
            runs[*test].files = Some(ExternalFiles {
                note: run.as_ref().and_then(note),
                runs: u64::from(run.is_some()),
            });
        }
    }
}
