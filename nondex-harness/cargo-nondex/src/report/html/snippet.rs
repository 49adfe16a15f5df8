//! Draws source lines with marks.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::markup::Markup;
use crate::report::human::{Mark, Sources, span};

/// Number of lines shown before and after a marked one.
const CONTEXT: u32 = 2;

/// Draws a place and its line of the source.
pub(super) fn line(markup: &mut Markup, file: &str, line: u32, sources: &Sources) {
    markup.leaf("small", &[], &format!("{file}:{line}"));
    if let Some(text) = sources.line(file, line) {
        markup.leaf("code", &[("class", "src")], text.trim());
    }
}

/// Draws the places of a finding by file, in the order in which the files first occur.
pub(super) fn places(markup: &mut Markup, places: &[Mark], sources: &Sources) {
    let mut files: IndexMap<&str, Vec<&Mark>> = IndexMap::new();
    for place in places {
        files.entry(&place.file).or_default().push(place);
    }
    for (file, places) in files {
        let content = sources.read(file);
        let source = content.as_deref().unwrap_or_default();
        let (shown, hidden): (Vec<&Mark>, Vec<&Mark>) =
            places.into_iter().partition(|place| span(source, place.line, place.column).is_some());
        if !shown.is_empty() {
            lines(markup, file, source, &shown);
        }
        // The file is unreadable, or has changed since the run.
        for place in hidden {
            markup.element("p", &[("class", "unread")], |markup| {
                markup.leaf("code", &[], &format!("{file}:{}", place.line));
                markup.text(" ");
                markup.rich(&place.label);
            });
        }
    }
}

/// Draws the marked lines of a file and the lines around them.
fn lines(markup: &mut Markup, file: &str, source: &str, places: &[&Mark]) {
    let mut marks: BTreeMap<u32, Vec<&Mark>> = BTreeMap::new();
    for place in places {
        let marked = marks.entry(place.line).or_default();
        let is_known = marked.iter().any(|known| known.label == place.label);
        if !is_known {
            marked.push(place);
        }
    }
    let line = places.iter().find(|place| place.is_primary).unwrap_or(&places[0]).line;
    markup.element("figure", &[("class", "source")], |markup| {
        markup.element("figcaption", &[], |markup| {
            markup.leaf("code", &[], &format!("{file}:{line}"));
        });
        let label = format!("Source of {file}");
        let attributes =
            [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", &label)];
        markup.element("div", &attributes, |markup| {
            let mut last = 0;
            for (number, text) in (1_u32..).zip(source.lines()) {
                let near = number.saturating_sub(CONTEXT)..=number + CONTEXT;
                if marks.range(near).next().is_none() {
                    continue;
                }
                if last > 0 && last + 1 < number {
                    markup.leaf("div", &[("class", "gap"), ("aria-hidden", "true")], "…");
                }
                last = number;
                row(markup, number, text, source, marks.get(&number));
            }
        });
    });
}

/// Draws one line, its marks, and their labels below it.
fn row(markup: &mut Markup, number: u32, text: &str, source: &str, places: Option<&Vec<&Mark>>) {
    let places = places.map_or(&[][..], Vec::as_slice);
    let is_primary = places.iter().any(|place| place.is_primary);
    let class = match (places.is_empty(), is_primary) {
        (true, _) => "ln",
        (false, true) => "ln hit",
        (false, false) => "ln also",
    };
    markup.element("div", &[("class", class)], |markup| {
        markup.leaf("span", &[("class", "no")], &number.to_string());
        markup.element("code", &[], |markup| {
            // If several marks overlap, the primary one is drawn.
            let mark = places.iter().find(|place| place.is_primary == is_primary);
            let start = text.as_ptr() as usize - source.as_ptr() as usize;
            let marked = mark.and_then(|place| span(source, number, place.column)).map(|range| {
                let end = (range.end - start).min(text.len());
                (range.start - start).min(end)..end
            });
            match marked {
                Some(range) => {
                    markup.text(&text[..range.start]);
                    markup.leaf("mark", &[], &text[range.clone()]);
                    markup.text(&text[range.end..]);
                }
                None => markup.text(text),
            }
        });
    });
    for place in places.iter().filter(|place| !place.label.is_empty()) {
        let class = if place.is_primary { "why hit" } else { "why also" };
        markup.element("div", &[("class", class)], |markup| markup.rich(&place.label));
    }
}
