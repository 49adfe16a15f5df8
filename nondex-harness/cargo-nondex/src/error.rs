//! The one error type of the driver: a message for the user, and the exit code it ends with.

use std::fmt;

use crate::exit_code::ExitCode;

/// Why the driver failed.
#[derive(Debug)]
pub struct Error {
    code: ExitCode,
    message: String,
}

/// What the driver's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The command line, a filter or a seed cannot be understood.
    pub fn usage(message: impl Into<String>) -> Self {
        Error { code: ExitCode::Usage, message: message.into() }
    }

    /// The project, the configuration or the machine is not as it must be.
    pub fn setup(message: impl Into<String>) -> Self {
        Error { code: ExitCode::Setup, message: message.into() }
    }

    /// The project does not build. Cargo has said why.
    pub fn build(message: impl Into<String>) -> Self {
        Error { code: ExitCode::BuildFailed, message: message.into() }
    }

    /// There is nothing to run.
    pub fn no_tests(message: impl Into<String>) -> Self {
        Error { code: ExitCode::NoTests, message: message.into() }
    }

    /// The code the process ends with.
    pub const fn code(&self) -> ExitCode {
        self.code
    }

    /// The same error with what was being done in front of it.
    #[must_use]
    pub fn context(mut self, doing: impl fmt::Display) -> Self {
        self.message = format!("{doing}: {}", self.message);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
