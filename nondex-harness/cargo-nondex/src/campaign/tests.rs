//! Tests of whole campaigns over test binaries that are shell scripts.

use std::collections::BTreeMap;
use std::fs;
use std::num::{NonZeroU32, NonZeroUsize};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::{Level, Outcome};
use tempfile::TempDir;

use super::*;
use crate::locked::Locked;
use crate::project::suite::tests::binary;
use crate::project::{Harness, TestBinary};
use crate::report::Verdict;

/// Shell functions with which a script behaves like this tool's harness: `made LINE`, `point LINE
/// COUNT LEN`, `end true|false`.
const PRELUDE: &str = r#"#!/bin/sh
# It cannot fork runs.
case "$NONDEX_SPEC" in '#'*) exit ;; esac
name=$2
field() { printf %s "$NONDEX_SPEC" | sed "s/.*\"$1\":\"*\([^\",}]*\).*/\1/"; }
record=$(field record)
level=$(field level)
seed=$(field seed)
[ -n "$NONDEX_SPEC" ] && rm -f "$record"
emit() { [ -n "$NONDEX_SPEC" ] && printf '%s\n' "$1" >> "$record"; }
made() {
    case "$NONDEX_SPEC" in
        *'"choices":"canonical"'*) return 1 ;;
        *'"only":'*"\"line\":$1,"*) return 0 ;;
        *'"only":'*) return 1 ;;
        *'"except":'*"\"line\":$1,"*) return 1 ;;
        *) return 0 ;;
    esac
}
point() {
    local api='"api":"std::collections::HashMap::iter","family":"hash_map"'
    local site='{'$api',"file":"src/lib.rs","line":'$1',"column":5}'
    local point='{"site":'$site',"thread":"0","count":'$2',"max_len":'$3'}'
    emit '{"event":"points","test":"'$name'","points":['"$point"']}'
}
end() { emit '{"event":"end","test":"'$name'","passed":'$1'}'; [ $1 = true ] && exit 0; exit 101; }
"#;

/// Script that runs the tests before the last one, and then the last one.
const ALL: &str = r#"
before=$(printf %s "$NONDEX_SPEC" | sed -n 's/.*"before":\["\([^]]*\)"\].*/\1/p' | sed 's/","/ /g')
for name in $before; do (body); done
name=$2
body
"#;

/// A project with one test binary, which is a shell script.
struct Project {
    directory: TempDir,
    suite: Suite,
    options: Options,
}

impl Project {
    fn new(harness: Harness, script: &str, tests: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        let executable = root.join("it-1234");
        let text = match harness {
            Harness::Nondex => format!("{PRELUDE}body() {{\n{script}\n}}\n{ALL}"),
            _ => format!("#!/bin/sh\n{script}\n"),
        };
        fs::write(&executable, text).unwrap();
        fs::set_permissions(&executable, fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let mut options = Options::new(root.clone());
        options.jobs = NonZeroUsize::new(2).unwrap();
        Project {
            suite: Suite {
                binary: TestBinary {
                    executable,
                    cwd: root,
                    env: BTreeMap::from([("PATH".into(), path), ("MINE".into(), "set".into())]),
                    harness,
                    ..binary("pkg", "it")
                },
                tests: tests
                    .iter()
                    .map(|name| TestCase {
                        ignored: name.contains("ignored"),
                        ..TestCase::new(*name)
                    })
                    .collect(),
            },
            options,
            directory,
        }
    }

    fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.directory.path()).unwrap()
    }

    fn run(&self) -> Report {
        self.run_with(&Silent, &StopFlag::new())
    }

    fn run_with(&self, progress: &dyn Progress, stop: &StopFlag) -> Report {
        // The empty folder of a run has the same path in the whole process, so campaigns run one at
        // a time.
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.locked();
        let run = RunDirectory::create(self.root()).unwrap();
        let selected = SelectedTests {
            suite: &self.suite,
            tests: self.suite.tests.iter().map(|test| (test.clone(), true)).collect(),
        };
        let report =
            super::run(&[selected], &self.options, &run, None, None, progress, stop).unwrap();
        assert!(!temporary::fresh_folder(0).exists());
        run.write(&report).unwrap();
        report
    }

    /// Returns the number of record files that are left.
    fn records(&self) -> usize {
        let runs = fs::read_dir(self.root().join("nondex/runs")).unwrap();
        runs.filter_map(|run| fs::read_dir(run.unwrap().path().join("records")).ok())
            .flatten()
            .count()
    }
}

fn verdicts(report: &Report) -> Vec<(&str, Verdict)> {
    report.tests.iter().map(|test| (test.name.as_str(), test.verdict)).collect()
}

#[test]
fn tests_are_judged_attributed_and_pruned() {
    let project = Project::new(
        Harness::Nondex,
        r#"
        case $name in
            stable) end true ;;
            broken) echo "about to fail"; end false ;;
            choices) point 1 3 100; point 2 3 100; end true ;;
            depends) point 1 3 100; point 2 3 100; point 3 3 100
                made 2 && [ $level != STD ] && [ $seed -ge 5 ] && { echo "seed $seed"; end false; }
                end true ;;
        esac"#,
        &["stable", "broken", "choices", "depends"],
    );
    let report = project.run();
    assert_eq!(
        verdicts(&report),
        [
            ("stable", Verdict::Stable),
            ("broken", Verdict::Broken),
            ("choices", Verdict::Stable),
            ("depends", Verdict::ImplementationDependent)
        ]
    );
    let runs: Vec<u64> = report.tests.iter().map(|test| test.runs).collect();
    // A broken test runs once more alone. It runs after the others in both orders, right after each
    // of them in a fork, and after two beginnings of both orders. One run shows which files it
    // uses.
    assert_eq!(runs[..3], [2, 14, 52]);
    assert_eq!(report.summary.runs, runs.iter().sum::<u64>());
    assert_eq!(report.summary.models_reached, ["hash_map/std::collections::HashMap::iter"]);
    assert_eq!(report.tests[1].output.as_deref(), Some("about to fail\n"));
    let depends = &report.tests[3];
    assert_eq!(depends.weakest_level, Some(Level::One));
    assert_eq!(depends.failure_rate[&Level::One], [5, 10]);
    assert_eq!(depends.output.as_deref(), Some("seed 5\n"));
    assert_eq!(depends.difference.as_deref(), Some("@@ -0,0 +1 @@\n+seed 5"));
    assert_eq!(depends.culprits.len(), 1);
    assert_eq!((depends.culprits[0].line, depends.culprits[0].confirmed), (2, true));
    assert_eq!(crate::report::store::read_latest(project.root()).unwrap(), report);
}

#[test]
fn the_report_does_not_depend_on_how_many_jobs_there_are() {
    let mut project = Project::new(
        Harness::Nondex,
        r#"point 1 3 100; point 2 1 2; point 3 1 2
        case $name in
            a) made 1 && [ $seed = 3 ] && end false ;;
            b) made 2 && made 3 && [ $level = FULL ] && end false ;;
        esac
        end true"#,
        &["a", "b", "c"],
    );
    project.options.seeds = vec![1, 3];
    let [one, seven] = [1, 7].map(|jobs| {
        project.options.jobs = NonZeroUsize::new(jobs).unwrap();
        let mut tests = project.run().tests;
        tests.iter_mut().for_each(|test| test.elapsed_ms = 0);
        tests
    });
    assert_eq!(one, seven);
}

#[test]
fn a_test_gets_the_environment_and_directory_of_its_binary_and_nothing_else() {
    let project = Project::new(
        Harness::Opaque,
        r#"pwd; env | grep -vE '^(NONDEX_SPEC|PATH|PWD|OLDPWD|SHLVL|_)='
        echo "$# arguments"; exit 1"#,
        &["it"],
    );
    let report = project.run();
    let root = project.root().canonicalize_utf8().unwrap();
    assert_eq!(
        report.tests[0].output.as_deref(),
        Some(format!("{root}\nMINE=set\n0 arguments\n").as_str())
    );
}

#[test]
fn libtest_is_asked_for_one_test_and_its_exit_code_is_believed() {
    let project = Project::new(
        Harness::Libtest,
        r#"echo "$@"
        case $2 in passes|ignored_one) exit 0 ;; fails) exit 101 ;; *) exit 1 ;; esac"#,
        &["passes", "fails", "exits", "ignored_one"],
    );
    let report = project.run();
    assert_eq!(
        verdicts(&report),
        [
            ("passes", Verdict::Stable),
            ("fails", Verdict::Broken),
            ("exits", Verdict::Broken),
            ("ignored_one", Verdict::Stable)
        ]
    );
    assert_eq!(report.tests[1].output.as_deref(), Some("--exact fails --nocapture\n"));
    assert_eq!(report.tests[1].failures[0].outcome, Outcome::Failed);
    assert_eq!(report.tests[2].failures[0].outcome, Outcome::Exited(1));
}

#[test]
fn a_test_of_a_proc_macro_which_nothing_observes_is_run_often() {
    for (is_on_host, runs) in [(false, 2), (true, 61)] {
        let mut project = Project::new(Harness::Libtest, "exit 0", &["parses"]);
        project.suite.binary.is_on_host = is_on_host;
        let report = project.run();
        assert_eq!(verdicts(&report), [("parses", Verdict::Stable)]);
        assert_eq!(report.tests[0].runs, runs, "{is_on_host}");
    }
}

#[test]
fn the_users_own_runner_stands_before_the_executable() {
    let mut project = Project::new(Harness::Opaque, "echo inner; exit 1", &["it"]);
    project.suite.binary.runner =
        vec!["/bin/sh".into(), "-c".into(), "echo outer; exec \"$0\"".into()];
    assert_eq!(project.run().tests[0].output.as_deref(), Some("outer\ninner\n"));
}

#[test]
fn records_are_deleted_unless_the_run_failed() {
    let script = "point 1 1 2; [ $name = good ] && end true; end false";
    let project = Project::new(Harness::Nondex, script, &["good"]);
    project.run();
    assert_eq!(project.records(), 0);
    // Without a choice, no seed is run.
    let script = script.replace("point 1 1 2; ", "");
    let project = Project::new(Harness::Nondex, &script, &["bad"]);
    project.run();
    // These belong to both clean runs, and to the run that shows which files the test uses.
    assert_eq!(project.records(), 3);
}

#[test]
fn tests_that_are_not_to_be_run_are_reported_as_not_run() {
    let project = Project::new(Harness::Nondex, "end true", &["a", "ignored", "z"]);
    let run = RunDirectory::create(project.root()).unwrap();
    let select = |wanted: &[bool]| SelectedTests {
        suite: &project.suite,
        tests: project.suite.tests.iter().cloned().zip(wanted.iter().copied()).collect(),
    };
    let stop = StopFlag::new();
    let selected = [select(&[true, false, true])];
    let report = super::run(&selected, &project.options, &run, None, None, &Silent, &stop).unwrap();
    assert_eq!(
        verdicts(&report),
        [("a", Verdict::Stable), ("ignored", Verdict::NotRun), ("z", Verdict::Stable)]
    );
    assert_eq!((report.summary.tests, report.summary.not_run), (3, 1));
    let nothing = [select(&[false, false, false])];
    let error =
        super::run(&nothing, &project.options, &run, None, None, &Silent, &stop).unwrap_err();
    assert_eq!(error.code(), crate::exit_code::ExitCode::NoTests);
}

mod disturbance;
mod endings;
mod plain;
mod stopped;
