//! One diagnostic, drawn by rustc's renderer: a headline, source lines with carets, notes.

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

/// The number of lines of source code that a brief finding has: the call and the failing assertion,
/// or the two sides of a race.
const MAX_PLACES: usize = 2;

/// The number of labels on these.
const MAX_LABELS: usize = 4;

/// A place in a source file: file, line from 1 and, when known, column from 1.
pub(super) type Location<'p> = (&'p str, u32, Option<u32>);

/// How grave a finding is, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It fails the run.
    Error,
    /// Advice, or a test that was not judged.
    Warning,
    /// It does not fail the run: it is known, or a prerequisite is missing.
    Note,
}

nondex_core::words!(Severity { Error = "error", Warning = "warning", Note = "note" });

/// One diagnostic while it is put together.
#[derive(Debug)]
pub(in crate::report) struct Diagnostic<'s> {
    sources: &'s Sources,
    is_brief: bool,
    /// The lines that were marked, and how often.
    marked: Vec<(String, u32)>,
    /// All places, those that a brief finding has no room for among them.
    marks: Vec<Mark>,
    severity: Severity,
    code: String,
    headline: String,
    /// In the order in which they were first named.
    parts: Vec<Part>,
    notes: Vec<Note>,
}

/// A place that a diagnostic is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::report) struct Mark {
    /// Source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, if known.
    pub column: Option<u32>,
    /// What is to be seen there; may be empty.
    pub label: String,
    /// Whether it is a guilty call, not only related to one.
    pub is_primary: bool,
}

/// A remark under the source lines.
#[derive(Debug)]
pub(in crate::report) struct Note {
    /// What it is about, such as `help`, `message` or `reproduce`.
    pub label: String,
    /// Text of one or more lines, without escape sequences.
    pub text: String,
}

/// Annotations of places.
#[derive(Debug)]
enum Part {
    /// A source file with lines of it.
    Source {
        path: String,
        source: String,
        annotations: Vec<Annotation<'static>>,
        /// Their texts, each once per place.
        said: Vec<(Range<usize>, Option<String>)>,
    },
    /// A place that cannot be read, and its annotation.
    Unreadable(Vec<Element<'static>>),
}

impl<'s> Diagnostic<'s> {
    /// Begins with `severity[code]: message`.
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

    /// The source line of a guilty call, with carets and a label, which may be empty. The file of
    /// the first one is that of `-->`. Of a line that cannot be read there is only the place.
    pub(super) fn primary(&mut self, place: Location<'_>, label: String) {
        self.mark(AnnotationKind::Primary, place, label);
    }

    /// The same for what else has to do with it.
    ///
    /// A brief finding has the first places only, those after them are left out.
    pub(super) fn secondary(&mut self, place: Location<'_>, label: String) {
        self.mark(AnnotationKind::Context, place, label);
    }

    /// Whether a brief finding may have another label at this line.
    fn has_room_for(&self, file: &str, line: u32) -> bool {
        let marked = self.marked.iter();
        let lines: BTreeSet<(&str, u32)> = marked.map(|(file, line)| (&**file, *line)).collect();
        let is_marked = lines.contains(&(file, line));
        self.marked.len() < MAX_LABELS && (is_marked || lines.len() < MAX_PLACES)
    }

    /// Whether this line is shown.
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
            Part::Source { path, source, annotations, said } if path == file => {
                Some((source, annotations, said))
            }
            _ => None,
        });
        if let Some((source, annotations, said)) = known {
            if let Some(span) = span(source, line, column) {
                let remark = (span.clone(), label.clone());
                if !said.contains(&remark) {
                    said.push(remark);
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
                said: vec![(span, label)],
            });
            return;
        }
        // Not to be read, or changed since.
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

    /// ` = label: message`, further lines of the message under its first. Escape sequences in it
    /// are left out.
    pub(super) fn note(&mut self, label: &str, message: &str) {
        let text = strip_str(message).to_string();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        self.notes.push(Note { label: label.to_owned(), text: lines.join("\n") });
    }

    /// A note that a brief finding does not have.
    pub(super) fn detail(&mut self, label: &str, message: &str) {
        if !self.is_brief {
            self.note(label, message);
        }
    }

    /// A place that a brief finding does not show.
    pub(super) fn context(&mut self, place: Location<'_>, label: String) {
        if !self.is_brief {
            self.secondary(place, label);
        }
    }

    /// How grave it is.
    pub(in crate::report) const fn severity(&self) -> Severity {
        self.severity
    }

    /// Makes it one that fails no run.
    pub(super) const fn soften(&mut self) {
        self.severity = Severity::Note;
    }

    /// Its first line, without severity and code.
    pub(in crate::report) fn headline(&self) -> &str {
        &self.headline
    }

    /// The places that it is about, in the order in which they are shown.
    pub(in crate::report) fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The remarks, in the order in which they are shown.
    pub(in crate::report) fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The text of the first remark with this label.
    pub(in crate::report) fn remark(&self, label: &str) -> Option<&str> {
        let note = self.notes.iter().find(|note| note.label == label)?;
        Some(&note.text)
    }

    /// The diagnostic as styled text, and an empty line.
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

/// The bytes that a place points at: a path or method name; without a column the line's text.
/// `None` when there is no such line.
pub(in crate::report) fn span(
    source: &str,
    line: u32,
    column: Option<u32>,
) -> Option<Range<usize>> {
    let index = (line as usize).checked_sub(1)?;
    let text = source.split_inclusive('\n').nth(index)?;
    let start_of_line = text.as_ptr() as usize - source.as_ptr() as usize;
    let text = text.trim_end();
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

/// The length of the path or method name that `text` begins with, borrowed or not; at least one
/// character.
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
