//! Exit codes: those of cargo and nextest where they have one for the case.

/// Exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Nothing was found.
    Ok = 0,
    /// The command line cannot be understood.
    Usage = 2,
    /// No test was selected.
    NoTests = 4,
    /// The project, the configuration or the machine is not as it must be, or a test cannot be
    /// judged and nothing else was found.
    Setup = 96,
    /// Nondeterminism or a test failure was found.
    Found = 100,
    /// The project does not build, or doctests of it do not and nothing else was found.
    BuildFailed = 101,
    /// A test fails already in the clean run, and nothing else was found.
    CleanRunFailed = 107,
}

impl ExitCode {
    /// Every code with its meaning, for the help text and the README.
    pub const ALL: [(ExitCode, &'static str); 7] = [
        (ExitCode::Ok, "nothing found"),
        (ExitCode::Usage, "invalid command line"),
        (ExitCode::NoTests, "no tests to run"),
        (
            ExitCode::Setup,
            "the project, configuration or machine is not supported, or a test fails only with \
             this tool",
        ),
        (ExitCode::Found, "nondeterminism or a test failure found"),
        (
            ExitCode::BuildFailed,
            "the project does not build, or doctests of it do not and nothing else was found",
        ),
        (ExitCode::CleanRunFailed, "a test fails in its clean run too, and nothing else was found"),
    ];
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        std::process::ExitCode::from(code as u8)
    }
}
