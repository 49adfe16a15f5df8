//! `cargo nondex bisect`: finds the commit since which a test is flaky.
//!
//! git's history of the test function shows which commit introduced the test. That commit or a
//! later one made the test flaky, and a binary search finds it. Commits are built and tried in a
//! separate checkout. Results are saved, so an interrupted search can continue.

mod category;
mod oracle;
mod progress;

use camino::Utf8Path;

use self::oracle::{CommitTrial, Oracle};
use self::progress::Kept;
use super::console::Console;
use super::{first, interrupt, known};
use crate::campaign::process;
use crate::cli::{BisectArgs, MessageFormat};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::judge::bisect::{BisectStep, Tried, next};
use crate::report::bisection::{Bisection, BisectionStep, CommitReport, FileCounts, FlakySince};
use crate::report::{Line, Report, TestReport, plural, store};
use crate::repository::{Commit, FileKind, Git, TestHistory, changes, short, test_history};

/// Searches for the commit that made a test flaky. The exit code shows whether the search was
/// completed.
pub(super) fn bisect(args: &BisectArgs, console: &Console) -> Result<ExitCode> {
    let place = args.location.folders()?;
    let report = match &args.report {
        Some(file) => store::read(file)?,
        None => {
            // The test may depend on others.
            first::run_if_needed("check", &args.test, &args.location, args.offline, console)?;
            store::read_latest(&place.target_dir)?
        }
    };
    let test = known::choose(&report, &args.test)?;
    let git = Git::around(&place.workspace_root)?;
    let bad = git.commit(&args.bad)?;
    let good = args.good.as_ref().map(|good| git.commit(good)).transpose()?;
    if let Some(good) = &good
        && !git.leads_to(&good.id, &bad.id)
    {
        return Err(Error::usage(format!(
            "`{}` does not lead to `{}`: the good commit must come before the bad one",
            short(&good.id),
            args.bad
        )));
    }
    if !git.is_complete() {
        console.note(
            "the history is shallow: earlier commits are not searched (`git fetch --unshallow` \
             fetches them)",
        );
    }
    if let Some(note) = process::without_randomisation() {
        console.note(&note);
    }
    let stop = interrupt::install()?;
    let mut oracle = Oracle::new(args, &place, &git, &report, test, &stop, console.quiet)?;
    let folder = place.target_dir.join("nondex/bisect");
    let mut kept = Kept::read(&folder, &oracle.key());
    let mut search = CommitSearch {
        git: &git,
        oracle: &mut oracle,
        kept: &mut kept,
        console,
        steps: Vec::new(),
        files: Vec::new(),
    };
    let found = search.run(&bad, good.as_ref(), &report, test, &place.workspace_root);
    let steps = std::mem::take(&mut search.steps);
    let files = std::mem::take(&mut search.files);
    let (introduced, found) = match found {
        Ok(found) => found,
        Err(Stopped::Error(error)) => return Err(error),
        Err(Stopped::Interrupted) => {
            console.warning("interrupted: run the same command again to continue");
            (None, Vec::new())
        }
    };
    let mut bisection = Bisection {
        test: test.id.clone(),
        category: test.verdict.name().to_owned(),
        introduced: introduced.as_ref().map(|commit| commit_report(&git, commit)),
        flaky_since: None,
        commits_between: None,
        days_between: None,
        remaining: found.iter().skip(1).cloned().collect(),
        steps,
        builds: oracle.builds,
        runs: oracle.runs,
    };
    if let Some(since) = found.first() {
        let since = git.commit(since)?;
        if let Some(introduced) = &introduced {
            let range = format!("{}..{}", introduced.id, since.id);
            let count = git.read(&["rev-list", "--count", &range]);
            bisection.commits_between = count.ok().and_then(|count| count.trim().parse().ok());
            bisection.days_between = Some((since.time - introduced.time) / (24 * 60 * 60));
        }
        let at_fault = kept.place_at(&since.id);
        let root = &place.workspace_root;
        bisection.flaky_since = Some(flaky_since(&git, root, &files, &since, at_fault)?);
    }
    show(&bisection, console)?;
    Ok(match bisection.flaky_since {
        Some(_) => ExitCode::Ok,
        None => ExitCode::Found,
    })
}

/// Describes a commit for the report.
fn commit_report(git: &Git, commit: &Commit) -> CommitReport {
    CommitReport {
        or_earlier: git.is_cut_before(&commit.id),
        commit: commit.id.clone(),
        date: commit.date.clone(),
        subject: commit.subject.clone(),
    }
}

/// Returns the path of a workspace file relative to the root of the repository.
fn in_repository(git: &Git, workspace: &Utf8Path, file: &str) -> String {
    workspace.strip_prefix(git.root()).unwrap_or(Utf8Path::new("")).join(file).into_string()
}

/// Describes the commit that made the test flaky: which kinds of files it changes, and the changed
/// line nearest to the responsible call.
fn flaky_since(
    git: &Git,
    workspace: &Utf8Path,
    of_test: &[String],
    commit: &Commit,
    at_fault: Option<Line>,
) -> Result<FlakySince> {
    let changes = changes(git, &commit.id)?;
    let text = |file: &str| git.text(&commit.id, file);
    let count = |kind| changes.count(kind, of_test, text) as u64;
    let line = at_fault.and_then(|line| {
        let file = in_repository(git, workspace, &line.file);
        let nearest = changes.nearest(&file, line.line)?;
        Some(Line { line: nearest, ..line })
    });
    Ok(FlakySince {
        files: FileCounts {
            test: count(FileKind::Test),
            other_tests: count(FileKind::OtherTests),
            code: count(FileKind::Code),
            build: count(FileKind::Build),
        },
        line,
        commit: commit_report(git, commit),
    })
}

/// Shows the result as JSON or as status lines.
fn show(bisection: &Bisection, console: &Console) -> Result<()> {
    if console.format == MessageFormat::Json {
        return console.json(bisection);
    }
    let line = |commit: &CommitReport| {
        let name = short(&commit.commit);
        let or_earlier = if commit.or_earlier { ", or earlier" } else { "" };
        format!("{name} {} {}{or_earlier}", commit.date, commit.subject)
    };
    if let Some(since) = &bisection.flaky_since {
        let later = match (bisection.commits_between, bisection.days_between) {
            (Some(0), _) => ", which introduced the test".to_owned(),
            (Some(commits), Some(days)) => {
                let [commits, days] = [(commits, "commit"), (days.unsigned_abs(), "day")]
                    .map(|(n, of)| plural(n, of));
                format!(", {commits} and {days} after the test was introduced")
            }
            _ => String::new(),
        };
        let commit = line(&since.commit);
        console.status("Flaky since", &format!("{commit}{later}"));
        if let Some(Line { file, line }) = &since.line {
            console.status("Changed", &format!("{file}:{line}, nearest to the responsible call"));
        }
    }
    if let Some(commit) = &bisection.introduced {
        console.status("Introduced", &line(commit));
    }
    if !bisection.remaining.is_empty() {
        let commits: Vec<&str> = bisection.remaining.iter().map(|commit| short(commit)).collect();
        console.status("Remaining", &format!("{}: these could not be tried", commits.join(", ")));
    }
    let [builds, runs] =
        [(bisection.builds, "build"), (bisection.runs, "run")].map(|(n, of)| plural(n, of));
    console.status("Searched", &format!("{builds}, {runs}"));
    Ok(())
}

/// Reason why a search has no result.
enum Stopped {
    Interrupted,
    Error(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Stopped::Error(error)
    }
}

/// Returns the error for a "good" commit at which the test is flaky.
fn flaky_already(good: &str) -> Stopped {
    Error::usage(format!("the test is already flaky at {}", short(good))).into()
}

/// Search for the commit that made the test flaky.
struct CommitSearch<'a, 'b> {
    git: &'a Git,
    oracle: &'a mut Oracle<'b>,
    kept: &'a mut Kept,
    console: &'a Console,
    steps: Vec<BisectionStep>,
    /// Files that contain the test or contained it earlier.
    files: Vec<String>,
}

impl CommitSearch<'_, '_> {
    /// Returns the commit that introduced the test, and the candidates for the commit that made it
    /// flaky. The first candidate is known to be flaky; the others could not be tried.
    fn run(
        &mut self,
        bad: &Commit,
        good: Option<&Commit>,
        report: &Report,
        test: &TestReport,
        workspace: &Utf8Path,
    ) -> Result<(Option<Commit>, Vec<String>), Stopped> {
        let mut introduced = None;
        for name in self.oracle.tests() {
            // A test of another binary is named by its id.
            let is_named = |other: &&TestReport| {
                other.id == name || other.binary == test.binary && other.name == name
            };
            let known = report.tests.iter().find(is_named);
            let file = known.and_then(|other| Some((other, other.file.as_ref()?)));
            let found = match file {
                Some((other, file)) => test_history(
                    self.git,
                    &bad.id,
                    &in_repository(self.git, workspace, file),
                    &other.name,
                )?,
                None => TestHistory::default(),
            };
            if name == test.name {
                introduced = found.introduced;
                self.files = found.files;
            }
            self.oracle.names.insert(name, found.names);
        }
        if introduced.is_none() {
            self.console.note(
                "the source of the test was not found in the history: the whole \
                 history is searched",
            );
        }
        let introduced = introduced.map(|id| self.git.commit(&id)).transpose()?;
        self.oracle.introduced = introduced.as_ref().map(|commit| commit.id.clone());
        let at_bad = self.attempt(&bad.id)?;
        if at_bad.tried != Tried::Flaky {
            let found = match at_bad.tried {
                Tried::Skipped => "the test could not be tried",
                _ => "the test is not found to be flaky",
            };
            let commit = short(&bad.id);
            return Err(Error::setup(format!("at {commit} {found}: {}", at_bad.what)).into());
        }
        let mut goods: Vec<String> = Vec::new();
        let mut flaky = bad.id.clone();
        match (good, &introduced) {
            (Some(good), _) => {
                if self.attempt(&good.id)?.tried == Tried::Flaky {
                    return Err(flaky_already(&good.id));
                }
                goods.push(good.id.clone());
            }
            (None, Some(introduced)) => match self.attempt(&introduced.id)?.tried {
                Tried::Flaky => match self.fixed_between(introduced, bad, workspace)? {
                    Some(fixed) => goods.push(fixed),
                    None => {
                        flaky.clone_from(&introduced.id);
                        // The test was flaky from the start. Its introduction is then the only
                        // candidate.
                        goods = self.git.parents(&introduced.id)?;
                    }
                },
                Tried::Stable => goods.push(introduced.id.clone()),
                Tried::Skipped => goods = self.git.parents(&introduced.id)?,
            },
            (None, None) => {}
        }
        let mut confirmed: Vec<String> = Vec::new();
        loop {
            let known: Vec<&str> = goods.iter().map(String::as_str).collect();
            let between = self.git.between(&flaky, &known)?;
            let tried = self.kept.tried();
            match next(&flaky, &between, &tried) {
                BisectStep::Try(commit) => match self.attempt(&commit)?.tried {
                    Tried::Flaky => flaky = commit,
                    Tried::Stable => goods.push(commit),
                    Tried::Skipped => {}
                },
                // If chance decides, a stable verdict may be wrong. So the last stable commit
                // before the first flaky one is tried once more, with more runs.
                BisectStep::Found(found) => {
                    let doubtful = self.git.parents(&flaky)?.into_iter().find(|parent| {
                        goods.contains(parent)
                            && tried.contains_key(parent)
                            && !confirmed.contains(parent)
                    });
                    let Some(parent) = doubtful.filter(|_| self.oracle.may_err()) else {
                        return Ok((introduced, found));
                    };
                    confirmed.push(parent.clone());
                    self.console
                        .status("Confirming", &format!("{} with more runs", short(&parent)));
                    if self.renewed(&parent)?.tried == Tried::Flaky {
                        if good.is_some_and(|good| good.id == parent) {
                            return Err(flaky_already(&parent));
                        }
                        goods.retain(|good| *good != parent);
                        if introduced.as_ref().is_some_and(|first| first.id == parent) {
                            // Before its introduction, the test cannot be flaky. This keeps the
                            // search bounded.
                            goods.extend(self.git.parents(&parent)?);
                        }
                        flaky = parent;
                    }
                }
            }
        }
    }

    /// Returns a commit between two flaky ones at which the test is stable: the test was fixed, and
    /// broken again. Tries the parents of the commits that changed lines near the responsible call,
    /// the newest first.
    fn fixed_between(
        &mut self,
        introduced: &Commit,
        bad: &Commit,
        workspace: &Utf8Path,
    ) -> Result<Option<String>, Stopped> {
        let Some(line) = self.kept.place_at(&bad.id) else { return Ok(None) };
        let file = in_repository(self.git, workspace, &line.file);
        for change in self.git.changed_near(&bad.id, &file, line.line)? {
            let parents = self.git.parents(&change)?;
            let is_later = |commit: &&String| {
                **commit != introduced.id && self.git.leads_to(&introduced.id, commit)
            };
            let Some(before) = parents.first().filter(is_later) else { continue };
            if self.attempt(before)?.tried == Tried::Stable {
                return Ok(Some(before.clone()));
            }
        }
        Ok(None)
    }

    /// Returns the result of a commit, from an earlier search if possible.
    fn attempt(&mut self, commit: &str) -> Result<CommitTrial, Stopped> {
        let trial = match self.kept.of(commit) {
            Some(trial) => trial,
            None => self.oracle.attempt(commit, false)?.ok_or(Stopped::Interrupted)?,
        };
        self.note(commit, trial)
    }

    /// Tries a commit again with more runs.
    fn renewed(&mut self, commit: &str) -> Result<CommitTrial, Stopped> {
        let trial = self.oracle.attempt(commit, true)?.ok_or(Stopped::Interrupted)?;
        self.note(commit, trial)
    }

    /// Shows, records and saves the result of a commit.
    fn note(&mut self, commit: &str, trial: CommitTrial) -> Result<CommitTrial, Stopped> {
        let tried = trial.tried.to_string();
        let what = if trial.what == tried { String::new() } else { format!(": {}", trial.what) };
        self.console.status("Tried", &format!("{} {tried}{what}", short(commit)));
        self.steps.push(BisectionStep {
            commit: commit.to_owned(),
            result: trial.tried,
            what: trial.what.clone(),
        });
        self.kept.keep(commit, &trial)?;
        Ok(trial)
    }
}
