//! One diagnostic, drawn by rustc's renderer: a headline, source lines with carets, and notes.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::Range;

use annotate_snippets::renderer::DEFAULT_TERM_WIDTH;
use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level, Origin, Padding, Renderer, Snippet,
};
use anstream::adapter::strip_str;

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
    /// The marked lines, one entry for each label.
    marked: Vec<(String, u32)>,
    /// All places, including those that a brief finding does not show.
    marks: Vec<Mark>,
    severity: Severity,
    code: String,
    headline: String,
    /// Source files and unreadable places, in the order of their first mark.
    parts: Vec<Part>,
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

/// Annotations of places.
#[derive(Debug)]
enum Part {
    /// A source file with annotated lines.
    Source {
        path: String,
        source: String,
        annotations: Vec<Annotation<'static>>,
        /// Ranges and texts of the annotations, to avoid duplicates.
        labels: Vec<(Range<usize>, Option<String>)>,
    },
    /// The position of a place whose source is unreadable, and its annotation.
    Unreadable(Vec<Element<'static>>),
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
            marked: Vec::new(),
            marks: Vec::new(),
            severity,
            code: code.to_string(),
            headline,
            parts: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Marks the source line of a responsible call with carets and a label, which may be empty. The
    /// file of the first mark follows `-->`. If the line cannot be read, only its position is
    /// shown.
    pub(super) fn primary(&mut self, place: Location<'_>, label: String) {
        self.mark(AnnotationKind::Primary, place, label);
    }

    /// Marks a related source line in the same way.
    ///
    /// A brief finding shows only the first places and omits the others.
    pub(super) fn secondary(&mut self, place: Location<'_>, label: String) {
        self.mark(AnnotationKind::Context, place, label);
    }

    /// Returns whether a brief finding may have another label at this line.
    fn has_room_for(&self, file: &str, line: u32) -> bool {
        let lines: BTreeSet<(&str, u32)> =
            self.marked.iter().map(|(file, line)| (&**file, *line)).collect();
        let is_marked = lines.contains(&(file, line));
        self.marked.len() < MAX_LABELS && (is_marked || lines.len() < MAX_PLACES)
    }

    /// Returns whether this line is shown.
    pub(super) fn has_marked(&self, file: &str, line: u32) -> bool {
        self.marked.iter().any(|(marked, at)| (marked.as_str(), *at) == (file, line))
    }

    fn mark(&mut self, kind: AnnotationKind, place: Location<'_>, label: String) {
        let (file, line, column) = place;
        self.marks.push(Mark {
            file: file.to_owned(),
            line,
            column,
            label: strip_str(&label).to_string(),
            is_primary: matches!(kind, AnnotationKind::Primary),
        });
        if self.is_brief && !self.has_room_for(file, line) {
            return;
        }
        self.marked.push((file.to_owned(), line));
        let label = Some(label).filter(|label| !label.is_empty());
        let known = self.parts.iter_mut().find_map(|part| match part {
            Part::Source { path, source, annotations, labels } if path == file => {
                Some((source, annotations, labels))
            }
            _ => None,
        });
        if let Some((source, annotations, labels)) = known {
            if let Some(span) = span(source, line, column) {
                let remark = (span.clone(), label.clone());
                if !labels.contains(&remark) {
                    labels.push(remark);
                    annotations.push(kind.span(span).label(label));
                }
                return;
            }
        } else if let Some(source) = self.sources.read(file)
            && let Some(span) = span(&source, line, column)
        {
            self.parts.push(Part::Source {
                path: file.to_owned(),
                source,
                annotations: vec![kind.span(span.clone()).label(label.clone())],
                labels: vec![(span, label)],
            });
            return;
        }
        // The file is unreadable, or has changed since the run.
        let mut origin = Origin::path(file.to_owned()).line(line as usize);
        if let Some(column) = column {
            origin = origin.char_column(column as usize);
        }
        let mut elements = vec![origin.into()];
        if let Some(label) = label {
            elements.push(Padding.into());
            elements.push(Level::NOTE.no_name().message(label).into());
        }
        self.parts.push(Part::Unreadable(elements));
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

    /// Returns the marked places, in the order of the text.
    pub(in crate::report) fn marks(&self) -> &[Mark] {
        &self.marks
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
        let group = Group::with_title(level.primary_title(self.headline).id(self.code));
        let notes = self.notes.into_iter().map(|note| -> Element<'static> {
            Level::NOTE.with_name(note.label).message(note.text).into()
        });
        let places = self.parts.into_iter().flat_map(|part| match part {
            Part::Source { path, source, annotations, .. } => {
                let snippet = Snippet::source(source).path(path);
                vec![snippet.annotations(annotations).into()]
            }
            Part::Unreadable(elements) => elements,
        });
        let group = group.elements(places).elements(notes);
        let text = Renderer::styled().term_width(DEFAULT_TERM_WIDTH).render(&[group]);
        text.lines().map(str::trim_end).chain([""]).flat_map(|line| [line, "\n"]).collect()
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
