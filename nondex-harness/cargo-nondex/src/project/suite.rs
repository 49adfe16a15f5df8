//! Built test binaries and the tests in them.

use std::collections::BTreeMap;
use std::ffi::OsString;

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{Target, TargetKind};
use nondex_core::{TestStart, folder_for_tests};
use serde::{Deserialize, Serialize};

use super::doc_place::DocPlace;
use super::os_text;

/// Name of cargo's target folder.
const TARGET: &str = "target";

/// Name of this tool's folder in it.
const OURS: &str = "nondex";

/// Harness of a test binary. It decides how tests are listed, and how their outcome is found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Harness {
    /// This tool's harness. It lists tests as JSON with file and line, and records each outcome.
    Nondex,
    /// libtest, or another harness that implements its protocol, where nothing is known about its
    /// threads. The outcome is the exit code (0 passed, 101 failed).
    Libtest,
    /// Like `Libtest`, of a target with `harness = false`. Any thread may run the test.
    Pooled,
    /// Like `Pooled`, if the harness also accepts libtest's `--test-threads`. With one thread, it
    /// runs its test on the main thread.
    Serial,
    /// Any other program. It counts as one test with the name of its target, and passes with exit
    /// code 0.
    Opaque,
    /// No harness: each test is a separate program, whose exit code is the outcome.
    Doctest,
}

impl Harness {
    /// Returns how a process learns when its test begins.
    pub const fn test_start(self) -> TestStart {
        match self {
            Harness::Nondex => TestStart::Reported,
            Harness::Libtest => TestStart::Thread,
            Harness::Pooled | Harness::Serial | Harness::Opaque | Harness::Doctest => {
                TestStart::Process
            }
        }
    }
}

/// Built test executable, and how cargo would start it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TestBinary {
    /// Id of the binary, as in nextest: `package`, `package::test-target`, `package::bin/name`,
    /// `package::example/name`. Doctests, which nextest does not have, are `package::doc/name`.
    pub id: String,
    /// Name of the package.
    pub package: String,
    /// Name of the target.
    pub target: String,
    /// Kind of the target, as in nextest: `lib`, `test`, `bin`, `example`, `bench`, `proc-macro`;
    /// or `doc` for doctests.
    pub kind: String,
    /// Path of the executable. For doctests, the folder of their executables.
    pub executable: Utf8PathBuf,
    /// Folder in which cargo starts the executable.
    pub cwd: Utf8PathBuf,
    /// Whole environment with which cargo starts the executable.
    #[serde(with = "os_text::map")]
    pub env: BTreeMap<OsString, OsString>,
    /// User's own target runner, which comes before the executable on the command line.
    #[serde(with = "os_text::list")]
    pub runner: Vec<OsString>,
    /// Harness of the executable.
    pub harness: Harness,
    /// Whether the tests run on the host's own std, where nothing records what they use.
    #[serde(default)]
    pub is_on_host: bool,
    /// Library that observes the programs that the tests start, if there is one.
    pub preload: Option<Utf8PathBuf>,
    /// Current location of the sources, if they have moved since the build.
    #[serde(skip)]
    pub moved: Option<Moved>,
}

impl TestBinary {
    /// Returns the executable that contains `test`, a test of this binary.
    pub fn executable_of<'a>(&'a self, test: &'a TestCase) -> &'a Utf8Path {
        test.doctest.as_ref().map_or(&self.executable, |doctest| &doctest.executable)
    }

    /// Returns the folders that the tests may use as their own. These are the folder in which they
    /// start, the temporary folder of integration tests, and cargo's target folder.
    pub fn folders(&self) -> impl Iterator<Item = Utf8PathBuf> {
        let target = || {
            let ours = self.executable.ancestors().find(|folder| folder.ends_with(OURS))?;
            ours.parent().filter(|folder| folder.ends_with(TARGET)).map(Utf8Path::to_owned)
        };
        [self.cwd.clone()].into_iter().chain(self.temporary_folder()).chain(target())
    }

    /// Returns the temporary folder that cargo gives integration tests, if there is one.
    pub fn temporary_folder(&self) -> Option<Utf8PathBuf> {
        let folder = folder_for_tests(self.executable.as_std_path())?;
        Utf8PathBuf::from_path_buf(folder).ok()
    }
}

/// Test of a binary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCase {
    /// Name of the test, as libtest prints it.
    pub name: String,
    /// Source file, relative to the workspace root, if known.
    pub file: Option<String>,
    /// Line, from 1, if known.
    pub line: Option<u32>,
    /// Whether the test is `#[ignore]`d.
    pub ignored: bool,
    /// Whether the configuration leaves the test out of all runs.
    #[serde(skip)]
    pub left_out: bool,
    /// Program of a doctest. `None` for other tests, and for a doctest that was not compiled
    /// because it is ignored.
    pub doctest: Option<Doctest>,
}

impl TestCase {
    /// Returns the name of the test's function.
    pub fn function(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }

    /// Returns a test of which only the name is known.
    pub fn new(name: impl Into<String>) -> Self {
        TestCase {
            name: name.into(),
            file: None,
            line: None,
            ignored: false,
            left_out: false,
            doctest: None,
        }
    }

    /// Returns whether the test runs with all others of its binary, although it was not requested.
    pub const fn runs_with_others(&self) -> bool {
        !self.ignored && !self.left_out
    }
}

/// Program of a doctest, as rustdoc makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doctest {
    /// Path of the executable.
    pub executable: Utf8PathBuf,
    /// Whether the program must fail for the test to pass.
    pub should_panic: bool,
    /// Position of the code in the source, if known.
    pub place: Option<DocPlace>,
}

/// Test binary with its tests, sorted by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Suite {
    /// Test binary.
    pub binary: TestBinary,
    /// All tests of the binary, including ignored ones.
    pub tests: Vec<TestCase>,
}

/// Returns the test of this name in the binary with this id, with its suite.
pub fn find<'a>(
    suites: &'a [Suite],
    binary: &str,
    test: &str,
) -> Option<(&'a Suite, &'a TestCase)> {
    let suite = suites.iter().find(|suite| suite.binary.id == binary)?;
    Some((suite, suite.test(test)?))
}

/// Returns the test with this function name in the binary with this id, if it existed `before` and
/// no longer exists `now`. Returns `None` if there are several such tests. Doctests do not count.
pub fn gone<'a>(
    before: &'a [Suite],
    now: &[Suite],
    (binary, function): (&str, &str),
) -> Option<(&'a Suite, &'a TestCase)> {
    let suite = before.iter().find(|suite| suite.binary.id == binary)?;
    let is_gone = |case: &&TestCase| find(now, binary, &case.name).is_none();
    let mut candidates = suite
        .tests
        .iter()
        .filter(|case| case.function() == function && case.doctest.is_none())
        .filter(is_gone);
    match (candidates.next(), candidates.next()) {
        (Some(case), None) => Some((suite, case)),
        _ => None,
    }
}

impl Suite {
    /// Returns the test of this name.
    pub fn test(&self, name: &str) -> Option<&TestCase> {
        self.tests.iter().find(|case| case.name == name)
    }

    /// Returns the id of a test in reports: `<binary-id>$<test name>`.
    pub fn test_id(&self, test: &TestCase) -> String {
        format!("{}${}", self.binary.id, test.name)
    }
}

/// Root of a workspace whose sources moved after the build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Root in the debug information.
    pub from: Utf8PathBuf,
    /// Current root.
    pub to: Utf8PathBuf,
}

impl Moved {
    /// Returns the current path of a source file that debug information names.
    pub fn now(&self, file: &str) -> String {
        match Utf8Path::new(file).strip_prefix(&self.from) {
            Ok(inside) => self.to.join(inside).into_string(),
            Err(_) => file.to_owned(),
        }
    }
}

/// Returns the kind of a target, as nextest calls it.
pub(super) fn kind(target: &Target) -> &'static str {
    match target.kind.first() {
        Some(TargetKind::Bin) => "bin",
        Some(TargetKind::Test) => "test",
        Some(TargetKind::Example) => "example",
        Some(TargetKind::Bench) => "bench",
        Some(TargetKind::ProcMacro) => "proc-macro",
        _ => "lib",
    }
}

/// Returns the id of the test executable of a target.
pub fn binary_id(package: &str, target: &Target) -> String {
    match kind(target) {
        "lib" | "proc-macro" => package.to_owned(),
        "test" => format!("{package}::{}", target.name),
        kind => format!("{package}::{kind}/{}", target.name),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the binary of an integration test that does not exist.
    pub(crate) fn binary(package: &str, target: &str) -> TestBinary {
        TestBinary {
            id: format!("{package}::{target}"),
            package: package.to_owned(),
            target: target.to_owned(),
            kind: "test".to_owned(),
            executable: Utf8PathBuf::from("/nonexistent").join(target),
            cwd: "/nonexistent".into(),
            env: BTreeMap::new(),
            runner: Vec::new(),
            harness: Harness::Nondex,
            is_on_host: false,
            preload: None,
            moved: None,
        }
    }

    #[test]
    fn a_test_whose_module_has_another_name_is_the_only_one_that_is_gone() {
        let suites = |names: &[&str]| {
            let tests = names.iter().copied().map(TestCase::new).collect();
            [Suite { binary: binary("p", "t"), tests }]
        };
        let found = |before: &[&str], now: &[&str]| {
            let before = suites(before);
            let found = gone(&before, &suites(now), ("p::t", "reads"));
            found.map(|(_, case)| case.name.clone())
        };
        let old = || Some("old::reads".to_owned());
        assert_eq!(found(&["old::reads", "old::writes"], &["new::reads"]), old());
        assert_eq!(found(&["old::reads", "other::reads"], &["new::reads", "other::reads"]), old());
        assert_eq!(found(&["old::reads", "other::reads"], &["new::reads"]), None);
        assert_eq!(found(&["old::reads"], &["new::reads", "old::reads"]), None);
        assert_eq!(found(&["old::writes"], &["new::reads"]), None);
    }

    #[test]
    fn only_files_of_the_workspace_have_moved() {
        let moved = Moved { from: "/a/shop".into(), to: "/b".into() };
        assert_eq!(moved.now("/a/shop/src/lib.rs"), "/b/src/lib.rs");
        for file in ["/a/shop2/src/lib.rs", "src/lib.rs", "serde-1.0.0/src/lib.rs"] {
            assert_eq!(moved.now(file), file);
        }
    }
}
