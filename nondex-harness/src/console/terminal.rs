//! The standard output, in colour where that is wanted.

use std::env;
use std::io::{self, IsTerminal, Write};

use crate::arguments::{Arguments, Color};

/// The colours libtest uses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shade {
    Red,
    Green,
    Yellow,
}

impl Shade {
    const fn escape(self) -> &'static str {
        match self {
            Shade::Red => "\x1b[31m",
            Shade::Green => "\x1b[32m",
            Shade::Yellow => "\x1b[33m",
        }
    }
}

/// Ends a colour: what terminfo has for `xterm`.
const RESET: &str = "\x1b(B\x1b[m";

/// Where the console writes.
#[derive(Debug)]
pub(super) struct Terminal {
    colored: bool,
    printing: Printing,
}

/// Whether output is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printing {
    /// It is written, or the run fails.
    Strict,
    /// It is written if possible: a test may have closed the standard output, and its outcome is on
    /// record.
    Lenient,
    /// Nothing is written: the driver reads the record, and the output is to be the test's own.
    Silent,
}

impl Terminal {
    /// The standard output.
    pub(super) fn stdout(arguments: &Arguments, printing: Printing) -> Self {
        let wanted = match arguments.color {
            Color::Auto => io::stdout().is_terminal(),
            Color::Always => true,
            Color::Never => false,
        };
        let able = env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        Terminal { colored: wanted && able, printing }
    }

    /// Whether it prints nothing.
    pub(super) fn is_silent(&self) -> bool {
        self.printing == Printing::Silent
    }

    /// Writes `text` at once.
    pub(super) fn plain(&mut self, text: &str) -> io::Result<()> {
        if self.printing == Printing::Silent {
            return Ok(());
        }
        // Not locked in between: tests print, too.
        let mut stdout = io::stdout().lock();
        let result = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        match self.printing {
            Printing::Strict => result,
            Printing::Lenient | Printing::Silent => Ok(()),
        }
    }

    /// Writes `text` at once, in `shade` if this terminal is coloured.
    pub(super) fn shaded(&mut self, text: &str, shade: Shade) -> io::Result<()> {
        if self.colored {
            self.plain(&format!("{}{text}{RESET}", shade.escape()))
        } else {
            self.plain(text)
        }
    }
}
