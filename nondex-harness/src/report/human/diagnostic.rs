//! The parts that a diagnostic is drawn from, as rustc draws them: a headline, source lines with carets, notes.

use std::fmt::Write;

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use camino::Utf8Path;

/// How many columns a tab takes, as in rustc.
const TAB: &str = "    ";

/// The gutter: arrows, bars, equals signs.
const GUTTER: Style = AnsiColor::BrightBlue.on_default().bold();
/// Carets and what is said under them.
const MARKED: Style = AnsiColor::Red.on_default().bold();
/// Words that introduce a line.
const BOLD: Style = Style::new().bold();

/// One diagnostic while it is drawn.
#[derive(Debug)]
pub(super) struct Diagnostic {
    text: String,
    /// The width of the line numbers in the gutter.
    margin: usize,
}

impl Diagnostic {
    /// Begins with `severity[code]: message`. `lines` are the numbers of the source lines that will be drawn.
    pub(super) fn new(
        style: Style,
        severity: &str,
        code: impl std::fmt::Display,
        message: &str,
        lines: impl IntoIterator<Item = u32>,
    ) -> Self {
        let widest = lines.into_iter().map(|line| line.to_string().len()).max();
        Diagnostic {
            text: format!("{style}{severity}[{code}]{style:#}{BOLD}: {message}{BOLD:#}\n"),
            margin: widest.unwrap_or(1),
        }
    }

    /// ` --> file:line:column`.
    pub(super) fn place(&mut self, file: &str, line: u32, column: Option<u32>) {
        let column = column.map_or_else(String::new, |column| format!(":{column}"));
        let margin = self.margin;
        let _ = writeln!(
            self.text,
            "{:margin$}{GUTTER}-->{GUTTER:#} {file}:{line}{column}",
            ""
        );
    }

    /// The source line of a place with carets and a label, or only the label when the file cannot be read below `root`.
    pub(super) fn source(
        &mut self,
        root: &Utf8Path,
        (file, line, column): (&str, u32, Option<u32>),
        label: &str,
    ) {
        self.place(file, line, column);
        let margin = self.margin;
        let bar = format!("{:margin$} {GUTTER}|{GUTTER:#}", "");
        let Some(source) = read_line(root, file, line) else {
            let _ = writeln!(self.text, "{bar}  {label}\n{bar}");
            return;
        };
        let (start, width) = span(&source, column);
        let indent = columns(source.chars().take(start));
        let carets = "^".repeat(columns(source.chars().skip(start).take(width)).max(1));
        let shown = source.replace('\t', TAB);
        let _ = writeln!(self.text, "{bar}");
        let _ = writeln!(
            self.text,
            "{GUTTER}{line:margin$} |{GUTTER:#} {}",
            shown.trim_end()
        );
        let _ = writeln!(
            self.text,
            "{bar} {:indent$}{MARKED}{carets} {label}{MARKED:#}",
            ""
        );
        let _ = writeln!(self.text, "{bar}");
    }

    /// ` = label: message`, further lines of the message under its first. Escape sequences in it are left out.
    pub(super) fn note(&mut self, label: &str, message: &str) {
        let margin = self.margin;
        let indent = margin + label.len() + 5;
        let message = strip_str(message).to_string();
        let mut lines = message.lines();
        let first = lines.next().unwrap_or_default();
        let head = format!(
            "{:margin$} {GUTTER}={GUTTER:#} {BOLD}{label}{BOLD:#}: {first}",
            ""
        );
        let _ = writeln!(self.text, "{}", head.trim_end());
        for line in lines {
            let line = format!("{:indent$}{line}", "");
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }

    /// Text as it is, indented. Escape sequences in it are left out.
    pub(super) fn block<'t>(&mut self, lines: impl IntoIterator<Item = &'t str>) {
        let indent = self.margin + 3;
        for line in lines {
            let line = format!("{:indent$}{}", "", strip_str(line));
            let _ = writeln!(self.text, "{}", line.trim_end());
        }
    }

    /// What was drawn, and an empty line.
    pub(super) fn finish(mut self) -> String {
        self.text.push('\n');
        self.text
    }
}

/// The line of a file of the workspace, if it can be read.
fn read_line(root: &Utf8Path, file: &str, line: u32) -> Option<String> {
    let text = std::fs::read_to_string(root.join(file)).ok()?;
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    text.lines().nth(index).map(str::to_owned)
}

/// Start and width in characters of what a column points at: a path or method name; without a column the whole line.
fn span(source: &str, column: Option<u32>) -> (usize, usize) {
    let chars: Vec<char> = source.chars().collect();
    let start = column.and_then(|column| usize::try_from(column).ok()?.checked_sub(1));
    let Some(start) = start.filter(|&start| start < chars.len()) else {
        let start = chars.iter().take_while(|c| c.is_whitespace()).count();
        return (start, source.trim().chars().count());
    };
    let borrowed = chars[start..].iter().take_while(|c| **c == '&').count();
    let name = chars[start + borrowed..]
        .iter()
        .take_while(|c| c.is_alphanumeric() || **c == '_' || **c == ':');
    (start, borrowed + name.count())
}

/// The width of characters on a terminal, with tabs as they are drawn.
fn columns(chars: impl Iterator<Item = char>) -> usize {
    chars.map(|c| if c == '\t' { TAB.len() } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carets_cover_the_name_that_the_column_points_at() {
        for (source, column, expected) in [
            ("    for k in map.keys() {", Some(18), (17, 4)),
            ("  let d = std::fs::read_dir(p)?;", Some(11), (10, 17)),
            ("for x in &map {", Some(10), (9, 4)),
            ("  whole line  ", None, (2, 10)),
            ("short", Some(99), (0, 5)),
            ("  (x)", Some(3), (2, 0)),
            ("", Some(1), (0, 0)),
        ] {
            assert_eq!(span(source, column), expected, "{source}");
        }
    }
}
