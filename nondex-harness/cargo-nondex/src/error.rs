//! Error type of the driver: a message for the user, and the exit code.

use std::fmt;

use crate::exit_code::ExitCode;

/// Reason why the driver failed.
#[derive(Debug)]
pub struct Error {
    code: ExitCode,
    message: String,
}

/// Result of the driver's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Results that are not of the driver, such as those of system calls.
pub trait OrSetup<T> {
    /// Returns the value, or an error of the set-up with what failed and why.
    fn or_setup(self, failed: impl fmt::Display) -> Result<T>;
}

impl<T, E: fmt::Display> OrSetup<T> for std::result::Result<T, E> {
    fn or_setup(self, failed: impl fmt::Display) -> Result<T> {
        self.map_err(|why| Error::setup(format!("{failed}: {why}")))
    }
}

impl Error {
    /// Returns an error for a command line, a filter or a seed that cannot be understood.
    pub fn usage(message: impl Into<String>) -> Self {
        Error { code: ExitCode::Usage, message: message.into() }
    }

    /// Returns an error for a project, configuration or machine that is not as it must be.
    pub fn setup(message: impl Into<String>) -> Self {
        Error { code: ExitCode::Setup, message: message.into() }
    }

    /// Returns an error for a project that does not build. Cargo has already shown why.
    pub fn build(message: impl Into<String>) -> Self {
        Error { code: ExitCode::BuildFailed, message: message.into() }
    }

    /// Returns an error for a selection without tests.
    pub fn no_tests(message: impl Into<String>) -> Self {
        Error { code: ExitCode::NoTests, message: message.into() }
    }

    /// Returns the exit code of the process.
    pub const fn code(&self) -> ExitCode {
        self.code
    }

    /// Returns the same error, with what was being done in front of the message.
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
