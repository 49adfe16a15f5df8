//! Output to the terminal, or to the stream that replaces it.

use std::io::{self, ErrorKind, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use terminal_size::{Width, terminal_size_of};

use super::fold::fold;
use crate::cli::{Color, MessageFormat, OutputArgs};
use crate::error::{Error, OrSetup, Result};
use crate::report::stream::Event;

/// Width to which cargo right-aligns the first word of a status line.
const STATUS_WIDTH: usize = 12;

/// Minimum width of a terminal at which text is folded.
const MIN_WIDTH: usize = 40;

/// Settings for the output. It is never an error if nobody reads the output any more.
#[derive(Clone, Debug)]
pub(super) struct Console {
    choice: ColorChoice,
    /// Value for cargo's `--config` that passes `--color` on to the build.
    pub(super) cargo_config: Option<String>,
    pub(super) format: MessageFormat,
    pub(super) verbose: u8,
    pub(super) quiet: bool,
}

impl Console {
    /// Returns a console that shows all details of a finding.
    pub(super) fn whole(&self) -> Self {
        Console { verbose: self.verbose.max(1), ..self.clone() }
    }

    /// Returns a console that leaves standard output to the command that the user started.
    pub(super) fn for_people(&self) -> Self {
        Console { format: MessageFormat::Human, ..self.clone() }
    }

    /// Creates a console with the settings of the command line.
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

    /// Returns whether stderr is coloured.
    pub(super) fn has_colors(&self) -> bool {
        self.stderr_choice() != ColorChoice::Never
    }

    /// Returns the width of the terminal, if stderr is one that is wide enough to fold text.
    fn width(&self) -> Option<usize> {
        let (Width(width), _) = terminal_size_of(io::stderr())?;
        Some(usize::from(width)).filter(|width| *width >= MIN_WIDTH)
    }

    /// Returns text as this console writes it to stderr, folded, and with styles or without.
    pub(super) fn shown(&self, text: &str) -> String {
        let folded = self.width().map(|width| fold(text, width));
        let text = folded.as_deref().unwrap_or(text);
        let mut stream = AutoStream::new(Vec::new(), self.stderr_choice());
        match stream.write_all(text.as_bytes()) {
            Ok(()) => String::from_utf8_lossy(&stream.into_inner()).into_owned(),
            Err(_) => text.to_owned(),
        }
    }

    /// Returns whether stderr gets styles.
    fn stderr_choice(&self) -> ColorChoice {
        match self.choice {
            ColorChoice::Auto => AutoStream::choice(&io::stderr()),
            decided => decided,
        }
    }

    /// Writes styled text to stderr.
    pub(super) fn text(&self, text: &str) {
        let mut stream = AutoStream::new(io::stderr(), self.choice);
        // The reader of stderr may be gone. The command still writes its report, so the error is
        // ignored.
        let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    }

    /// Writes styled text of this tool to stderr, folded at the width of the terminal. Without a
    /// terminal, each line stays whole: a log is searched by line.
    pub(super) fn folded(&self, text: &str) {
        match self.width() {
            Some(width) => self.text(&fold(text, width)),
            None => self.text(text),
        }
    }

    /// Writes `     Running message`, as cargo writes its status. Writes nothing if quiet.
    pub(super) fn status(&self, word: &str, message: &str) {
        if !self.quiet {
            let style = AnsiColor::Green.on_default().bold();
            self.folded(&format!("{style}{word:>STATUS_WIDTH$}{style:#} {message}\n"));
        }
    }

    /// Writes `note: message`. Writes nothing if quiet.
    pub(super) fn note(&self, message: &str) {
        if !self.quiet {
            let style = AnsiColor::Cyan.on_default().bold();
            self.labelled(style, "note", message);
        }
    }

    /// Writes several notes.
    pub(super) fn notes(&self, messages: &[String]) {
        for message in messages {
            self.note(message);
        }
    }

    /// Writes `warning: message`, also if quiet.
    pub(super) fn warning(&self, message: &str) {
        self.labelled(AnsiColor::Yellow.on_default().bold(), "warning", message);
    }

    /// Writes a result as `      Failed message`, also if quiet. Further lines have the same
    /// indentation.
    pub(super) fn result(&self, color: AnsiColor, word: &str, message: &str) {
        let style = color.on_default().bold();
        let indented = message.replace('\n', &format!("\n{:STATUS_WIDTH$} ", ""));
        self.folded(&format!("{style}{word:>STATUS_WIDTH$}{style:#} {indented}\n"));
    }

    /// Writes `error: message`.
    pub(super) fn error(&self, message: &str) {
        self.labelled(AnsiColor::Red.on_default().bold(), "error", message);
    }

    fn labelled(&self, style: Style, label: &str, message: &str) {
        self.folded(&format!("{style}{label}{style:#}: {message}\n"));
    }

    /// Writes the product of a command to stdout.
    ///
    /// # Errors
    /// When stdout cannot be written. A closed pipe is not an error.
    pub(super) fn product(&self, text: &str) -> Result<()> {
        let mut stream = AutoStream::new(io::stdout(), self.choice);
        match stream.write_all(text.as_bytes()).and_then(|()| stream.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Error::setup(format!("failed to write to stdout: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Writes an event to stdout if events are requested. The command continues if the reader is
    /// gone.
    pub(super) fn event(&self, event: &Event) -> Result<()> {
        if self.format != MessageFormat::JsonLines {
            return Ok(());
        }
        self.write_json(serde_json::to_string(event))
    }

    /// Writes a value to stdout as JSON.
    pub(super) fn json(&self, value: &impl serde::Serialize) -> Result<()> {
        self.write_json(serde_json::to_string_pretty(value))
    }

    /// Writes serialised JSON and a line break to stdout.
    fn write_json(&self, json: serde_json::Result<String>) -> Result<()> {
        let json = json.or_setup("failed to write JSON")?;
        self.product(&format!("{json}\n"))
    }
}
