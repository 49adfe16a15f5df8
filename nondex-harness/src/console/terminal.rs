//! Writes to the standard output, in colour if requested.

use std::env;
use std::io::{self, IsTerminal, Write};

use crate::arguments::{Arguments, Color};

/// Colours that libtest uses.
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

/// Escape sequence that ends a colour, from terminfo's entry for `xterm`.
const RESET: &str = "\x1b(B\x1b[m";

/// Output of the console.
#[derive(Debug)]
pub(super) struct Terminal {
    colored: bool,
    printing: Printing,
}

/// Whether the console prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printing {
    /// Print; an error fails the run.
    Strict,
    /// Print if possible: a test may have closed the standard output, and its outcome is recorded
    /// anyway.
    Lenient,
    /// Print nothing: the driver reads the record, and the output belongs to the test.
    Silent,
}

impl Terminal {
    /// Returns the standard output.
    pub(super) fn stdout(arguments: &Arguments, printing: Printing) -> Self {
        let wanted = match arguments.color {
            Color::Auto => io::stdout().is_terminal(),
            Color::Always => true,
            Color::Never => false,
        };
        let able = env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
        Terminal { colored: wanted && able, printing }
    }

    /// Returns whether it prints nothing.
    pub(super) fn is_silent(&self) -> bool {
        self.printing == Printing::Silent
    }

    /// Writes `text` at once.
    pub(super) fn plain(&mut self, text: &str) -> io::Result<()> {
        if self.printing == Printing::Silent {
            return Ok(());
        }
        // Lock it only for this write: tests print, too.
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
