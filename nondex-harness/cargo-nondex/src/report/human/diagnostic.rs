//! One diagnostic, drawn by rustc's renderer: a headline, source lines with carets, and notes.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::Range;

use annotate_snippets::renderer::DEFAULT_TERM_WIDTH;
use annotate_snippets::{
    AnnotationKind, Element, Group, Level, Origin, Padding, Renderer, Snippet,
};
use anstream::adapter::strip_str;
use indexmap::IndexMap;

use super::View;
use super::sources::Sources;

/// Maximum number of source lines in a brief finding: the call and the failing assertion, or the
/// two sides of a race.
const MAX_PLACES: usize = 2;

/// Maximum number of labels on these lines.
const MAX_LABELS: usize = 4;

/// A place in a source file: file, line from 1 and, when known, column from 1.
pub(super) type Location<'p> = (&'p str, u32, Option<u32>);

/// Severity of a finding, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The finding fails the run.
    Error,
    /// Advice, or a test that was not judged.
    Warning,
    /// The finding does not fail the run: it is known, or a prerequisite is missing.
    Note,
}

nondex_core::words!(Severity { Error = "error", Warning = "warning", Note = "note" });

/// A diagnostic under construction.
#[derive(Debug)]
pub(in crate::report) struct Diagnostic<'s> {
    sources: &'s Sources,
    is_brief: bool,
    /// All places, including those that a brief finding does not show.
    marks: Vec<Mark>,
    severity: Severity,
    code: String,
    headline: String,
    notes: Vec<Note>,
}

/// A place that a diagnostic marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct Mark {
    /// Source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, if known.
    pub column: Option<u32>,
    /// What is shown at the place; may be empty.
    pub label: String,
    /// Whether the place is a responsible call, rather than related to one.
    pub is_primary: bool,
}

/// A remark under the source lines.
#[derive(Debug)]
pub(in crate::report) struct Note {
    /// Topic of the note, such as `help`, `message` or `reproduce`.
    pub label: String,
    /// Text of one or more lines, without escape sequences.
    pub text: String,
}

impl<'s> Diagnostic<'s> {
    /// Creates a diagnostic that begins with `severity[code]: headline`.
    pub(super) fn new(
        view: &View<'s>,
        severity: Severity,
        code: impl Display,
        headline: String,
    ) -> Self {
        Diagnostic {
            sources: view.sources,
            is_brief: view.brief,
            marks: Vec::new(),
            severity,
            code: code.to_string(),
            headline,
            notes: Vec::new(),
        }
    }

    /// Marks the source line of a responsible call with carets and a label, which may be empty. The
    /// file of the first mark follows `-->`. If the line cannot be read, only its position is
    /// shown.
    pub(super) fn primary(&mut self, place: Location<'_>, label: String) {
        self.mark(place, label, true);
    }

    /// Marks a related source line in the same way.
    ///
    /// A brief finding shows only the first places and omits the others.
    pub(super) fn secondary(&mut self, place: Location<'_>, label: String) {
        self.mark(place, label, false);
    }

    fn mark(&mut self, place: Location<'_>, label: String, is_primary: bool) {
        let (file, line, column) = place;
        self.marks.push(Mark { file: file.to_owned(), line, column, label, is_primary });
    }

    /// Returns the marks that the text shows.
    fn shown(&self) -> Vec<&Mark> {
        let mut shown: Vec<&Mark> = Vec::new();
        for mark in &self.marks {
            let has_room = || {
                let lines: BTreeSet<_> = shown.iter().map(|one| (&one.file, one.line)).collect();
                let is_marked = lines.contains(&(&mark.file, mark.line));
                shown.len() < MAX_LABELS && (is_marked || lines.len() < MAX_PLACES)
            };
            if !self.is_brief || has_room() {
                shown.push(mark);
            }
        }
        shown
    }

    /// Returns whether this line is shown.
    pub(super) fn has_marked(&self, file: &str, line: u32) -> bool {
        self.shown().iter().any(|mark| (mark.file.as_str(), mark.line) == (file, line))
    }

    /// Returns the source files with annotated lines, and the places whose source is unreadable, in
    /// the order of their first mark.
    fn places(&self) -> Vec<Element<'static>> {
        let shown = self.shown();
        let mut drawn = BTreeSet::new();
        let mut places = Vec::new();
        for mark in &shown {
            let source = self.sources.read(&mark.file);
            let Some(source) = source.filter(|source| mark.span(source).is_some()) else {
                places.extend(mark.unreadable());
                continue;
            };
            if !drawn.insert(&mark.file) {
                continue;
            }
            // Of equal labels at one place, only the first is drawn.
            let mut labels = IndexMap::new();
            for other in shown.iter().filter(|other| other.file == mark.file) {
                if let Some(span) = other.span(&source) {
                    labels.entry((span, other.text())).or_insert(other.is_primary);
                }
            }
            let annotations = labels.into_iter().map(|((span, label), is_primary)| {
                let primary = AnnotationKind::Primary;
                let kind = if is_primary { primary } else { AnnotationKind::Context };
                kind.span(span).label(label.map(str::to_owned))
            });
            let annotations: Vec<_> = annotations.collect();
            let snippet = Snippet::source(source).path(mark.file.clone());
            places.push(snippet.annotations(annotations).into());
        }
        places
    }

    /// Adds ` = label: message`. Further lines of the message are aligned below its first. Escape
    /// sequences are removed.
    pub(super) fn note(&mut self, label: &str, message: &str) {
        let text = strip_str(message).to_string();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        self.notes.push(Note { label: label.to_owned(), text: lines.join("\n") });
    }

    /// Adds a note that a brief finding omits.
    pub(super) fn detail(&mut self, label: &str, message: &str) {
        if !self.is_brief {
            self.note(label, message);
        }
    }

    /// Marks a place that a brief finding omits.
    pub(super) fn context(&mut self, place: Location<'_>, label: String) {
        if !self.is_brief {
            self.secondary(place, label);
        }
    }

    /// Returns the severity.
    pub(in crate::report) const fn severity(&self) -> Severity {
        self.severity
    }

    /// Changes the severity, so that the finding does not fail the run.
    pub(super) const fn soften(&mut self) {
        self.severity = Severity::Note;
    }

    /// Returns the first line, without severity and code.
    pub(in crate::report) fn headline(&self) -> &str {
        &self.headline
    }

    /// Returns the marked places, in the order of the text, without escape sequences.
    pub(in crate::report) fn marks(&self) -> Vec<Mark> {
        let plain =
            |mark: &Mark| Mark { label: strip_str(&mark.label).to_string(), ..mark.clone() };
        self.marks.iter().map(plain).collect()
    }

    /// Returns the notes, in the order of the text.
    pub(in crate::report) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the text of the first note with this label.
    pub(in crate::report) fn remark(&self, label: &str) -> Option<&str> {
        let note = self.notes.iter().find(|note| note.label == label)?;
        Some(&note.text)
    }

    /// Renders the diagnostic as styled text, followed by an empty line.
    pub(super) fn finish(self) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
            Severity::Note => Level::NOTE,
        };
        let places = self.places();
        let group = Group::with_title(level.primary_title(self.headline).id(self.code));
        let notes = self.notes.into_iter().map(|note| -> Element<'static> {
            Level::NOTE.with_name(note.label).message(note.text).into()
        });
        let group = group.elements(places).elements(notes);
        let text = Renderer::styled().term_width(DEFAULT_TERM_WIDTH).render(&[group]);
        text.lines().map(str::trim_end).chain([""]).flat_map(|line| [line, "\n"]).collect()
    }
}

impl Mark {
    fn span(&self, source: &str) -> Option<Range<usize>> {
        span(source, self.line, self.column)
    }

    /// Returns the label, unless it is empty.
    fn text(&self) -> Option<&str> {
        Some(self.label.as_str()).filter(|label| !label.is_empty())
    }

    /// Returns the position and the label for a file that is unreadable, or has changed since the
    /// run.
    fn unreadable(&self) -> Vec<Element<'static>> {
        let mut origin = Origin::path(self.file.clone()).line(self.line as usize);
        if let Some(column) = self.column {
            origin = origin.char_column(column as usize);
        }
        let mut elements = vec![origin.into()];
        if let Some(label) = self.text() {
            elements.push(Padding.into());
            elements.push(Level::NOTE.no_name().message(label.to_owned()).into());
        }
        elements
    }
}

/// Returns the byte range of a place in `source`: a path or method name, or the line's text if
/// there is no column. Returns `None` when there is no such line.
pub(in crate::report) fn span(
    source: &str,
    line: u32,
    column: Option<u32>,
) -> Option<Range<usize>> {
    let index = (line as usize).checked_sub(1)?;
    let whole_line = source.split_inclusive('\n').nth(index)?;
    let start_of_line = whole_line.as_ptr() as usize - source.as_ptr() as usize;
    let text = whole_line.trim_end();
    let start = column.and_then(|column| {
        let chars = (column as usize).checked_sub(1)?;
        text.char_indices().nth(chars).map(|(byte, _)| byte)
    });
    let range = match start {
        Some(start) => start..start + name(&text[start..]),
        None => text.len() - text.trim_start().len()..text.len(),
    };
    Some(start_of_line + range.start..start_of_line + range.end)
}

/// Returns the length of the path or method name that `text` begins with, with any `&` before it.
/// The length is at least one character.
fn name(text: &str) -> usize {
    let borrowed = text.len() - text.trim_start_matches('&').len();
    let name = text[borrowed..]
        .find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
        .unwrap_or(text.len() - borrowed);
    let first = text.chars().next().map_or(0, char::len_utf8);
    (borrowed + name).max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carets_cover_the_name_that_the_column_points_at() {
        for (source, column, expected) in [
            ("    for k in map.keys() {", Some(18), "keys"),
            ("  let d = std::fs::read_dir(p)?;", Some(11), "std::fs::read_dir"),
            ("for x in &map {", Some(10), "&map"),
            ("  whole line  ", None, "whole line"),
            ("short", Some(99), "short"),
            ("  (x)", Some(3), "("),
            ("\"é\".keys()", Some(5), "keys"),
            ("", Some(1), ""),
        ] {
            let text = format!("first é\r\n{source}\r\nlast");
            let span = span(&text, 2, column).unwrap();
            assert_eq!(&text[span], expected, "{source}");
        }
        assert_eq!(span("one\n", 0, None), None);
        assert_eq!(span("one\n", 2, None), None);
    }
}
