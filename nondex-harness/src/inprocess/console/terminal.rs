//! The standard output, in colour where that is wanted.

use std::env;
use std::io::{self, IsTerminal, Write};

use crate::inprocess::arguments::{Arguments, ColorConfig};

/// The colours libtest uses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Color {
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Color {
    const fn escape(self) -> &'static str {
        match self {
            Color::Red => "\x1b[31m",
            Color::Green => "\x1b[32m",
            Color::Yellow => "\x1b[33m",
            Color::Cyan => "\x1b[36m",
        }
    }
}

/// Ends a colour: what terminfo has for `xterm`.
const RESET: &str = "\x1b(B\x1b[m";

/// Where the console writes.
#[derive(Debug)]
pub(super) struct Terminal {
    colored: bool,
    care: Care,
}

/// What becomes of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// It is written, or the run fails.
    Strict,
    /// It is written if possible: a test may have closed the standard output, and its outcome is on record.
    Lenient,
    /// Nothing is written: the driver reads the record, and the output is to be the test's own.
    Silent,
}

impl Terminal {
    /// The standard output.
    pub(super) fn stdout(arguments: &Arguments, care: Care) -> Self {
        let wanted = match arguments.color {
            ColorConfig::AutoColor => !arguments.no_capture && io::stdout().is_terminal(),
            ColorConfig::AlwaysColor => true,
            ColorConfig::NeverColor => false,
        };
        let able = env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        Terminal {
            colored: wanted && able,
            care,
        }
    }

    /// Writes `text` at once.
    pub(super) fn plain(&mut self, text: &str) -> io::Result<()> {
        if self.care == Care::Silent {
            return Ok(());
        }
        // Not locked in between: tests print, too.
        let mut stdout = io::stdout().lock();
        let result = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        match self.care {
            Care::Strict => result,
            Care::Lenient | Care::Silent => Ok(()),
        }
    }

    /// Writes `text` at once, in `color` if this terminal is coloured.
    pub(super) fn colored(&mut self, text: &str, color: Color) -> io::Result<()> {
        if self.colored {
            self.plain(&format!("{}{text}{RESET}", color.escape()))
        } else {
            self.plain(text)
        }
    }
}
