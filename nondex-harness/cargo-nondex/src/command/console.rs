//! Writing to the terminal, or to whatever stands in for it.

use std::io::{self, ErrorKind, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::cli::{Color, MessageFormat, OutputArgs};
use crate::error::{Error, Result};
use crate::report::stream::Event;

/// The width in which cargo right-aligns the word that a status line begins with.
const STATUS_WIDTH: usize = 12;

/// Where output goes and how much of it there is. A reader that went away is never an error.
#[derive(Clone, Debug)]
pub(super) struct Console {
    choice: ColorChoice,
    /// What `--color` means for cargo, which builds: a value for its `--config`.
    pub(super) cargo_config: Option<String>,
    pub(super) format: MessageFormat,
    pub(super) verbose: u8,
    pub(super) quiet: bool,
}

impl Console {
    /// The same, for all that is known of a finding.
    pub(super) fn whole(&self) -> Self {
        Console { verbose: self.verbose.max(1), ..self.clone() }
    }

    pub(super) fn new(args: &OutputArgs) -> Self {
        Console {
            choice: match args.color() {
                Color::Auto => ColorChoice::Auto,
                Color::Always => ColorChoice::Always,
                Color::Never => ColorChoice::Never,
            },
            cargo_config: args.cargo_config(),
            format: args.message_format,
            verbose: args.verbose,
            quiet: args.quiet,
        }
    }

    /// Whether a progress bar can be drawn.
    pub(super) fn has_terminal(&self) -> bool {
        io::stderr().is_terminal()
    }

    /// Whether stderr is coloured.
    pub(super) fn has_colors(&self) -> bool {
        self.stderr_choice() != ColorChoice::Never
    }

    /// Styled text for stderr, as this console shows it.
    pub(super) fn shown(&self, text: &str) -> String {
        let mut stream = AutoStream::new(Vec::new(), self.stderr_choice());
        match stream.write_all(text.as_bytes()) {
            Ok(()) => String::from_utf8_lossy(&stream.into_inner()).into_owned(),
            Err(_) => text.to_owned(),
        }
    }

    fn stderr_choice(&self) -> ColorChoice {
        match self.choice {
            ColorChoice::Auto => AutoStream::choice(&io::stderr()),
            decided => decided,
        }
    }

    /// Writes styled text to stderr.
    pub(super) fn text(&self, text: &str) {
        let mut stream = AutoStream::new(io::stderr(), self.choice);
        // The reader of stderr may have gone; the report is still written.
        let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    }

    /// `     Running message`, as cargo prints its status. Nothing when quiet.
    pub(super) fn status(&self, word: &str, message: &str) {
        if !self.quiet {
            let style = AnsiColor::Green.on_default().bold();
            self.text(&format!("{style}{word:>STATUS_WIDTH$}{style:#} {message}\n"));
        }
    }

    /// `note: message`. Nothing when quiet.
    pub(super) fn note(&self, message: &str) {
        if !self.quiet {
            let style = AnsiColor::Cyan.on_default().bold();
            self.labelled(style, "note", message);
        }
    }

    /// Several notes.
    pub(super) fn notes(&self, messages: &[String]) {
        for message in messages {
            self.note(message);
        }
    }

    /// `warning: message`. Shown when quiet, too.
    pub(super) fn warning(&self, message: &str) {
        self.labelled(AnsiColor::Yellow.on_default().bold(), "warning", message);
    }

    /// `      Failed message`: what came of it, shown when quiet, too. Further lines are indented
    /// as the first.
    pub(super) fn result(&self, color: AnsiColor, word: &str, message: &str) {
        let style = color.on_default().bold();
        let indented = message.replace('\n', &format!("\n{:STATUS_WIDTH$} ", ""));
        self.text(&format!("{style}{word:>STATUS_WIDTH$}{style:#} {indented}\n"));
    }

    /// `error: message`.
    pub(super) fn error(&self, message: &str) {
        self.labelled(AnsiColor::Red.on_default().bold(), "error", message);
    }

    fn labelled(&self, style: Style, label: &str, message: &str) {
        self.text(&format!("{style}{label}{style:#}: {message}\n"));
    }

    /// Writes the product of a command to stdout.
    ///
    /// # Errors
    /// When it cannot be written, except that nobody reads it.
    pub(super) fn product(&self, text: &str) -> Result<()> {
        let mut stream = AutoStream::new(io::stdout(), self.choice);
        match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Error::setup(format!("failed to write to stdout: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes an event for a program that reads along, if one does. Whoever stopped to read does
    /// not stop the command.
    ///
    /// # Errors
    /// As [`product`](Self::product).
    pub(super) fn event(&self, event: &Event) -> Result<()> {
        if self.format != MessageFormat::JsonLines {
            return Ok(());
        }
        self.written(serde_json::to_string(event))
    }

    /// Writes a value as JSON to stdout.
    ///
    /// # Errors
    /// As [`product`](Self::product).
    pub(super) fn json(&self, value: &impl serde::Serialize) -> Result<()> {
        self.written(serde_json::to_string_pretty(value))
    }

    fn written(&self, json: serde_json::Result<String>) -> Result<()> {
        let json = json.map_err(|e| Error::setup(format!("failed to write JSON: {e}")))?;
        self.product(&format!("{json}\n"))
    }
}
