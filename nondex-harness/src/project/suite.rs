//! Built test binaries and the tests in them.

use std::collections::BTreeMap;
use std::ffi::OsString;

use camino::Utf8PathBuf;

/// Which harness a test binary was built with: how its tests are listed, and how their outcome is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harness {
    /// Ours: lists as JSON with file and line, and writes each outcome to the record.
    Nondex,
    /// Another that speaks libtest's protocol: the outcome is the exit code (0 passed, 101 failed).
    Libtest,
    /// Any other program: it is one test, named as its target; 0 is a pass.
    Opaque,
}

/// One built test executable, and how cargo would start it.
#[derive(Clone, Debug)]
pub struct TestBinary {
    /// As nextest names it: `package`, `package::test-target`, `package::bin/name`, `package::example/name`.
    pub id: String,
    /// The package's name.
    pub package: String,
    /// The target's name.
    pub target: String,
    /// The target's kind, as nextest names it: `lib`, `test`, `bin`, `example`, `bench`, `proc-macro`.
    pub kind: String,
    /// The executable.
    pub executable: Utf8PathBuf,
    /// The directory cargo starts it in.
    pub cwd: Utf8PathBuf,
    /// The whole environment cargo starts it with.
    pub env: BTreeMap<OsString, OsString>,
    /// What stands before the executable on the command line: the user's own target runner.
    pub runner: Vec<OsString>,
    /// The harness it was built with.
    pub harness: Harness,
    /// The library that observes the programs that its tests start, where there is one.
    pub preload: Option<Utf8PathBuf>,
}

/// One test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// As libtest prints it.
    pub name: String,
    /// The source file, relative to the workspace root, when known.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Whether it is `#[ignore]`d.
    pub ignored: bool,
}

/// A test binary with its tests, in the order of their names.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The binary.
    pub binary: TestBinary,
    /// All its tests, the ignored ones too.
    pub tests: Vec<TestCase>,
}

impl Suite {
    /// The id of a test in reports: `<binary-id>$<test name>`.
    #[must_use]
    pub fn test_id(&self, test: &TestCase) -> String {
        format!("{}${}", self.binary.id, test.name)
    }
}
