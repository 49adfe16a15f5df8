//! Earlier results of the tests: selects the tests that a change does not affect, and saves the
//! results of a run in the history.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::hash;

use super::coverage::CoveredLines;
use super::effects::{self, Effects};
use super::file_observer::FileObserver;
use crate::campaign::SelectedTests;
use crate::error::{Error, Result};
use crate::file;
use crate::findings::history::{self, History, HistoryEntry, HistoryKey, Life};
use crate::judge::Options;
use crate::project::blocks::FileLine;
use crate::project::{self, BuildPlan, Project, Suite};
use crate::report::{Report, TestReport, Verdict};
use crate::repository::{self, Commit, Git, Snapshots, short};

/// Prefixes of variables that may affect a build.
const VARIABLES: [&str; 7] = [
    "CARGO_BUILD_",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "RUSTC",
    "RUSTFLAGS",
];

/// Predicate: whether these effects may affect a test with this earlier result. The last argument
/// is the root of the repository.
type Differs<'a> = dyn Fn(&Effects, &TestReport, (&Life, &HistoryEntry), &Utf8Path) -> bool + 'a;

/// Tests that are about to run, and the commit that they are compared with.
pub(super) struct Compared<'a> {
    pub(super) base: Option<&'a str>,
    pub(super) plan: &'a BuildPlan,
    pub(super) options: &'a Options,
    pub(super) selected: &'a [SelectedTests<'a>],
}

/// Earlier results of the tests, and what determines the present results.
#[derive(Debug)]
pub(super) struct Past {
    history: History,
    entries: OnceCell<Vec<HistoryEntry>>,
    /// Trees of the repository; `None` without a repository.
    snapshots: Option<Snapshots>,
    commit: Option<Commit>,
    modified: bool,
    key: HistoryKey,
}

impl Past {
    /// Reads the state of a project. The history is in `folder`, by default in the target
    /// directory.
    pub(super) fn of(
        folder: Option<&Utf8Path>,
        project: &Project,
        plan: &BuildPlan,
    ) -> Result<Self> {
        let folder = match folder {
            Some(folder) => file::absolute(folder)?,
            None => project.target_dir.join("nondex/history"),
        };
        let history = History::new(&folder);
        let root = &project.workspace_root;
        let git = Git::around(root).ok();
        let snapshots = git.and_then(|git| Snapshots::new(&git, &history.objects()).ok());
        let tree = snapshots.as_ref().and_then(|snapshots| snapshots.now(&project.target_dir).ok());
        let commit = snapshots.as_ref().and_then(|snapshots| snapshots.git().commit("HEAD").ok());
        let committed = commit
            .as_ref()
            .zip(snapshots.as_ref())
            .and_then(|(commit, snapshots)| snapshots.of(&commit.id).ok());
        let text = |file: Utf8PathBuf| std::fs::read(file).ok();
        let affects_build = |name: &str| {
            name != "CARGO_TARGET_DIR" && VARIABLES.iter().any(|start| name.starts_with(start))
        };
        let variables: BTreeMap<_, _> = std::env::vars_os()
            .filter(|(name, _)| affects_build(&name.to_string_lossy()))
            .collect();
        let config = text(root.join(".config/nondex.toml"));
        let build = hash::of(&format!("{:?} {variables:?} {config:?}", plan.own_words()));
        let lockfile = root.join("Cargo.lock");
        // A lock file in the tree is compared as part of the tree.
        let in_tree = || {
            let (snapshots, tree) = snapshots.as_ref().zip(tree.as_ref())?;
            let file = lockfile.strip_prefix(snapshots.git().root()).ok()?;
            snapshots.text(tree, file.as_str())
        };
        let untracked_lock = if in_tree().is_some() { None } else { text(lockfile) };
        Ok(Past {
            history,
            entries: OnceCell::new(),
            modified: tree.is_some() && tree != committed,
            snapshots,
            commit,
            key: HistoryKey {
                tree,
                lockfile: untracked_lock.map(|text| format!("{:016x}", hash::of(&text))),
                toolchain: project.toolchain.trim().to_owned(),
                tool: env!("CARGO_PKG_VERSION").to_owned(),
                build: format!("{build:016x}"),
            },
        })
    }

    /// Returns an observer of the repository's files that tests open. Returns `None` if the system
    /// cannot observe them.
    pub(super) fn file_observer(&self) -> Option<FileObserver> {
        let (snapshots, tree) = self.snapshots.as_ref().zip(self.key.tree.as_ref())?;
        let files = snapshots.git().files(tree).ok()?;
        FileObserver::of(snapshots.git().root(), files.iter().map(String::as_str))
    }

    /// Adds the commit and the version of this tool to a report.
    pub(super) fn describe(&self, report: &mut Report) {
        report.run.commit = self.commit.as_ref().map(|commit| commit.id.clone());
        report.run.modified = self.modified;
        self.key.tool.clone_into(&mut report.run.tool);
    }

    /// Saves the results of a report in the history, with the lines that its tests ran if these are
    /// known.
    ///
    /// # Errors
    /// When the history cannot be written.
    pub(super) fn remember(
        &self,
        report: &Report,
        options: &Options,
        lines: Option<&CoveredLines>,
        in_orders: bool,
    ) -> Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let root = self.snapshots.as_ref().map(|snapshots| snapshots.git().root());
        let none = BTreeSet::new();
        // Runs in other orders are counted for one test of the executable only.
        let has_run = |test: &&TestReport| test.runs > 0 || in_orders && !report.partial;
        let tests: BTreeMap<String, Life> = report
            .tests
            .iter()
            .filter(|test| test.verdict != Verdict::NotRun && has_run(test))
            .map(|test| {
                // If runs were left out, the test must run again even if nothing has changed. So
                // its lines are not saved.
                let whole = lines.filter(|_| test.left_out == 0);
                let ran = whole.and_then(|lines| lines.ran.get(&test.id));
                let opened =
                    lines.filter(|_| ran.is_some()).map(|lines| lines.opened.get(&test.id));
                let life = Life {
                    verdict: test.verdict,
                    asked: options_hash(options, &test.id),
                    choices: test.choice_points,
                    elapsed_ms: test.elapsed_ms,
                    in_orders,
                    ran: ran.zip(root).map(|(lines, root)| texts(lines, root)),
                    opened: opened.map(|opened| opened.cloned().unwrap_or_default()),
                };
                (test.id.clone(), life)
            })
            .collect();
        if tests.is_empty() {
            return Ok(());
        }
        let compiled = lines.map_or(&none, |lines| &lines.compiled);
        let entry = HistoryEntry {
            schema: 0,
            time: now.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX)),
            commit: self.commit.as_ref().map(|commit| commit.id.clone()),
            modified: self.modified,
            key: self.key.clone(),
            compiled: root.map(|root| texts(compiled, root)).unwrap_or_default(),
            tests,
        };
        self.history.add(&entry)
    }

    /// Returns the tests whose outcome in a separate process stays the same. Nothing that they ran
    /// has changed, neither since `base` nor since they ran it. Also returns what was compared, or
    /// why nothing is known.
    pub(super) fn unchanged(&self, compared: &Compared<'_>) -> Result<(BTreeSet<String>, String)> {
        let is_known = |life: &Life| life.ran.is_some() && life.opened.is_some();
        self.compare(compared, &is_known, &|effects, test, (life, entry), root| {
            let ran = life.ran.as_ref().and_then(|ran| lines(ran, root));
            let compiled = lines(&entry.compiled, root);
            ran.zip(compiled).is_none_or(|(ran, compiled)| {
                effects.is_everything()
                    || effects.are_opened(life.opened.iter().flatten())
                    || !effects.met_by(test, &ran, &compiled).is_empty()
            })
        })
    }

    /// Returns the tests whose outcome after other tests stays the same, because nothing in their
    /// executable has changed. After other tests, a test may run code that it does not run alone.
    /// So all tests of an executable are selected, or none.
    pub(super) fn unchanged_in_orders(
        &self,
        compared: &Compared<'_>,
    ) -> Result<(BTreeSet<String>, String)> {
        let is_known = |life: &Life| life.in_orders;
        let differs = |effects: &Effects,
                       test: &TestReport,
                       (life, _): (&Life, &HistoryEntry),
                       _: &Utf8Path| {
            effects.are_in(test) || effects.are_opened(life.opened.iter().flatten())
        };
        let (mut found, words) = self.compare(compared, &is_known, &differs)?;
        for selected in compared.selected {
            let mut ids = selected.running().map(|(suite, case)| suite.test_id(case));
            if !ids.all(|id| found.contains(&id)) {
                found.retain(|id| !id.starts_with(&format!("{}$", selected.suite.binary.id)));
            }
        }
        Ok((found, words))
    }

    /// Returns the tests that passed before and are not affected, with a text for the user.
    /// `is_known` is whether an earlier result is usable.
    fn compare(
        &self,
        compared: &Compared<'_>,
        is_known: &dyn Fn(&Life) -> bool,
        differs: &Differs<'_>,
    ) -> Result<(BTreeSet<String>, String)> {
        let Compared { base, plan, options, selected } = *compared;
        let Some((snapshots, now)) = self.snapshots.as_ref().zip(self.key.tree.as_ref()) else {
            // Without a repository, these calls return a better error.
            let git = Git::around(&options.workspace_root)?;
            repository::base(&git, base)?;
            return Err(Error::setup(format!("git cannot say what is in `{}`", git.root())));
        };
        let base = repository::base(snapshots.git(), base)?;
        let name = format!("{} {}", short(&base.id), base.subject);
        let metadata = project::metadata(plan, true)?;
        let root = snapshots.git().root();
        if let Some(package) = effects::outside(&metadata, root) {
            return Ok((
                BTreeSet::new(),
                format!("all tests run: the sources of `{package}` are not in the repository"),
            ));
        }
        if snapshots.has_submodules() {
            return Ok((
                BTreeSet::new(),
                "all tests run: the repository has submodules".to_owned(),
            ));
        }
        let base = snapshots.of(&base.id)?;
        let entries = self.entries()?;
        let mut since: BTreeMap<&str, Option<[Effects; 2]>> = BTreeMap::new();
        let mut found = BTreeSet::new();
        for (Suite { binary, .. }, case) in selected.iter().flat_map(SelectedTests::running) {
            let test = TestReport::new(&binary.package, &binary.id, &case.name);
            let requested = options_hash(options, &test.id);
            let known = entries.iter().rev().find_map(|entry| {
                let life = entry.tests.get(&test.id)?;
                let is_alike = entry.key.is_alike(&self.key) && life.asked == requested;
                (is_alike && is_known(life)).then_some((entry, life))
            });
            let Some((entry, life)) = known.filter(|(_, life)| life.verdict.passes()) else {
                continue;
            };
            let Some(tree) = entry.key.tree.as_deref() else { continue };
            let effects = since.entry(tree).or_insert_with(|| {
                let is_here = snapshots.has(tree);
                let to = |other| Effects::after(snapshots, tree, other, &metadata).ok();
                is_here.then(|| Some([to(now)?, to(&base)?])).flatten()
            });
            let Some(both) = effects else { continue };
            if !both.iter().any(|effects| differs(effects, &test, (life, entry), root)) {
                found.insert(test.id.clone());
            }
        }
        Ok((found, format!("with {name}")))
    }

    /// Returns the verdict on a test in an earlier run of this tree with the same options.
    pub(super) fn of_test(&self, tree: &str, test: &str, options: &Options) -> Option<Verdict> {
        let entries = self.entries().ok()?;
        let requested = options_hash(options, test);
        entries.iter().rev().find_map(|entry| {
            let is_it = entry.key.tree.as_deref() == Some(tree) && entry.key.is_alike(&self.key);
            let life = entry.tests.get(test).filter(|_| is_it)?;
            (life.asked == requested).then_some(life.verdict)
        })
    }

    /// Returns the earlier runs, oldest first. Reads them on first use.
    fn entries(&self) -> Result<&[HistoryEntry]> {
        if let Some(entries) = self.entries.get() {
            return Ok(entries);
        }
        let (entries, _) = self.history.all()?;
        Ok(self.entries.get_or_init(|| entries))
    }

    /// Returns the tree of a commit. Returns `None` if there are submodules, whose content is not
    /// part of the tree.
    pub(super) fn tree(&self, commit: &str) -> Option<String> {
        let snapshots = self.snapshots.as_ref()?;
        if snapshots.has_submodules() { None } else { snapshots.of(commit).ok() }
    }
}

/// Returns a hash of the options that determine a test's results.
fn options_hash(options: &Options, test: &str) -> String {
    let own = options.of(test);
    let determining = (
        (&own.levels, &own.seeds, own.schedule, own.clean_runs, own.timeout),
        (
            own.prune,
            own.all_levels,
            own.exhaustive,
            (&own.models_off, &own.files),
            own.real_threads,
        ),
        (
            own.max_steps,
            own.network.mode,
            &own.regressions,
            (own.every_seed, own.further_seeds),
            own.world,
        ),
    );
    format!("{:016x}", hash::of(&format!("{determining:?}")))
}

/// Returns lines of files in the repository in the format of the history. `root` is the root of the
/// repository.
fn texts(lines: &BTreeSet<FileLine>, root: &Utf8Path) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (file, line) in lines {
        if let Ok(file) = file.strip_prefix(root) {
            files.entry(file.to_string()).or_default().insert(*line);
        }
    }
    files.into_iter().map(|(file, lines)| (file, history::to_text(&lines))).collect()
}

/// Returns the lines from the format of the history. Returns `None` if a text is malformed.
fn lines(texts: &BTreeMap<String, String>, root: &Utf8Path) -> Option<BTreeSet<FileLine>> {
    let mut lines = BTreeSet::new();
    for (file, text) in texts {
        let path = root.join(file);
        let numbers = history::of_text(text)?;
        lines.extend(numbers.into_iter().map(|line| (path.clone(), line)));
    }
    Some(lines)
}
