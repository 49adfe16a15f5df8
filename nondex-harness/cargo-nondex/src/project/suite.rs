//! Built test binaries and the tests in them.

use std::collections::BTreeMap;
use std::ffi::OsString;

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::folder_for_tests;
use serde::{Deserialize, Serialize};

use super::doc_place::DocPlace;
use super::moved::Moved;
use super::os_text;

/// Cargo's folder, and in it ours.
const TARGET: &str = "target";
const OURS: &str = "nondex";

/// Which harness a test binary was built with: how its tests are listed, and how their outcome is
/// known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Harness {
    /// Ours: lists as JSON with file and line, and writes each outcome to the record.
    Nondex,
    /// Another that speaks libtest's protocol: the outcome is the exit code (0 passed, 101 failed).
    Libtest,
    /// Another one, of a target with `harness = false`, that takes libtest's `--test-threads`, too.
    /// It runs its test on the main thread then: which of its threads takes a test would be chance.
    Serial,
    /// Any other program: it is one test, named as its target; 0 is a pass.
    Opaque,
    /// None: each test is a separate program, whose exit code shows how it ended.
    Doctest,
}

/// One built test executable, and how cargo would start it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TestBinary {
    /// As nextest names it: `package`, `package::test-target`, `package::bin/name`,
    /// `package::example/name`. Doctests, which it does not know, are `package::doc/name`.
    pub id: String,
    /// The package's name.
    pub package: String,
    /// The target's name.
    pub target: String,
    /// The target's kind, as nextest names it: `lib`, `test`, `bin`, `example`, `bench`,
    /// `proc-macro`; or `doc`.
    pub kind: String,
    /// The executable; of doctests, the folder of their executables.
    pub executable: Utf8PathBuf,
    /// The directory cargo starts it in.
    pub cwd: Utf8PathBuf,
    /// The whole environment cargo starts it with.
    #[serde(with = "os_text::map")]
    pub env: BTreeMap<OsString, OsString>,
    /// What stands before the executable on the command line: the user's own target runner.
    #[serde(with = "os_text::list")]
    pub runner: Vec<OsString>,
    /// The harness it was built with.
    pub harness: Harness,
    /// Whether its tests run on the host's own std, where nothing records what they use.
    #[serde(default)]
    pub is_on_host: bool,
    /// The library that observes the programs that its tests start, where there is one.
    pub preload: Option<Utf8PathBuf>,
    /// Where its sources are now, if they have moved since it was built.
    #[serde(skip)]
    pub moved: Option<Moved>,
}

impl TestBinary {
    /// The executable that `test`, one of its tests, is in.
    pub fn executable_of<'a>(&'a self, test: &'a TestCase) -> &'a Utf8Path {
        test.doctest.as_ref().map_or(&self.executable, |doctest| &doctest.executable)
    }

    /// The folders that its tests use as theirs: the one they are started in, what cargo gives
    /// integration tests for their files, and cargo's own.
    pub fn folders(&self) -> impl Iterator<Item = Utf8PathBuf> {
        let target = || {
            let ours = self.executable.ancestors().find(|folder| folder.ends_with(OURS))?;
            ours.parent().filter(|folder| folder.ends_with(TARGET)).map(Utf8Path::to_owned)
        };
        [self.cwd.clone()].into_iter().chain(self.temporary_folder()).chain(target())
    }

    /// What cargo gives integration tests for their files.
    pub fn temporary_folder(&self) -> Option<Utf8PathBuf> {
        let folder = folder_for_tests(self.executable.as_std_path())?;
        Utf8PathBuf::from_path_buf(folder).ok()
    }
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCase {
    /// As libtest prints it.
    pub name: String,
    /// The source file, relative to the workspace root, when known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Whether it is `#[ignore]`d.
    pub ignored: bool,
    /// What only a doctest has; `None` of one that was not compiled, because it is ignored.
    pub doctest: Option<Doctest>,
}

impl TestCase {
    /// The name of its function.
    pub fn function(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }

    /// A test of which only the name is known.
    pub fn new(name: impl Into<String>) -> Self {
        TestCase { name: name.into(), file: None, line: None, ignored: false, doctest: None }
    }
}

/// The program of a doctest, as rustdoc makes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doctest {
    /// The executable.
    pub executable: Utf8PathBuf,
    /// Whether it must fail in order to pass.
    pub should_panic: bool,
    /// Where its code stands, when known.
    pub place: Option<DocPlace>,
}

/// A test binary with its tests, in the order of their names.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Suite {
    /// The binary.
    pub binary: TestBinary,
    /// All its tests, the ignored ones too.
    pub tests: Vec<TestCase>,
}

/// The test of this name in the binary with this id, with its binary.
pub fn find<'a>(
    suites: &'a [Suite],
    binary: &str,
    test: &str,
) -> Option<(&'a Suite, &'a TestCase)> {
    let suite = suites.iter().find(|suite| suite.binary.id == binary)?;
    Some((suite, suite.test(test)?))
}

/// The test that was, in a binary of this id, the only one of a function of this name that is gone
/// `now`.
pub fn gone<'a>(
    before: &'a [Suite],
    now: &[Suite],
    (binary, function): (&str, &str),
) -> Option<(&'a Suite, &'a TestCase)> {
    let suite = before.iter().find(|suite| suite.binary.id == binary)?;
    let is_gone = |case: &&TestCase| find(now, binary, &case.name).is_none();
    let same = suite.tests.iter().filter(|case| case.function() == function);
    let mut same = same.filter(|case| case.doctest.is_none()).filter(is_gone);
    match (same.next(), same.next()) {
        (Some(case), None) => Some((suite, case)),
        _ => None,
    }
}

impl Suite {
    /// The test of this name.
    pub fn test(&self, name: &str) -> Option<&TestCase> {
        self.tests.iter().find(|case| case.name == name)
    }

    /// The id of a test in reports: `<binary-id>$<test name>`.
    pub fn test_id(&self, test: &TestCase) -> String {
        format!("{}${}", self.binary.id, test.name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The binary of an integration test that does not exist.
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
}
