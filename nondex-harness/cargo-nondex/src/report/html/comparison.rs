//! Two runs side by side: the elements whose order differs in the failing run, and the outputs.

use nondex_core::Kind;

use super::markup::Markup;
use crate::report::human::called;
use crate::report::schema::{Culprit, TestReport};

/// Draws the canonical choice and the decisive one of each call for which both are known.
pub(super) fn choices(markup: &mut Markup, test: &TestReport) {
    // A test that fails in canonical order passes with the other choice.
    let (canonical, other) =
        if test.fails_in_canonical_order() { ("fails", "passes") } else { ("passes", "fails") };
    for culprit in &test.culprits {
        let Some([first, second]) = elements(culprit) else { continue };
        markup.element("h4", &[], |markup| {
            markup.rich(&format!("Two orders of `{}`", called(culprit)));
        });
        markup.element("div", &[("class", "two")], |markup| {
            // In canonical order, the first of the two elements comes first.
            for (title, outcome, items) in [
                ("Canonical order", canonical, [&first, &second]),
                ("The order that decides", other, [&second, &first]),
            ] {
                side(markup, title, outcome, |markup| {
                    markup.element("ol", &[], |markup| {
                        for item in items {
                            markup.element("li", &[], |markup| markup.rich(item));
                        }
                    });
                });
            }
        });
    }
}

/// Returns the two elements whose order decides, in canonical order, if they are known.
fn elements(culprit: &Culprit) -> Option<[String; 2]> {
    if culprit.kind != Kind::Permute {
        return None;
    }
    Some(culprit.elements?.map(|index| {
        let detail = culprit.element_details.iter().find(|element| element.index == index);
        match detail.map(|element| (&element.name, &element.file, element.line)) {
            Some((Some(name), _, _)) => format!("`{name}`"),
            Some((None, Some(file), Some(line))) => {
                format!("element {index}, inserted at `{file}:{line}`")
            }
            _ => format!("element {index}"),
        }
    }))
}

/// Draws one of two runs, with its outcome.
pub(super) fn side(
    markup: &mut Markup,
    title: &str,
    outcome: &'static str,
    content: impl FnOnce(&mut Markup),
) {
    markup.element("div", &[("class", outcome)], |markup| {
        markup.element("h5", &[], |markup| {
            markup.text(title);
            markup.leaf("span", &[("class", "outcome")], &format!(": the test {outcome}"));
        });
        content(markup);
    });
}

/// Draws the outputs of a passing and a failing run, from their difference.
pub(super) fn outputs(markup: &mut Markup, difference: &str) {
    markup.leaf("h4", &[], "Output of a passing and of the failing run");
    markup.element("div", &[("class", "two")], |markup| {
        for (title, class, other) in [("Passing run", "passes", '+'), ("Failing run", "fails", '-')]
        {
            markup.element("div", &[("class", class)], |markup| {
                markup.leaf("h5", &[], title);
                markup.element("pre", &[("class", "diff"), ("tabindex", "0")], |markup| {
                    for line in difference.lines().filter(|line| !line.starts_with(other)) {
                        self::line(markup, line);
                    }
                });
            });
        }
    });
}

fn line(markup: &mut Markup, line: &str) {
    match line.chars().next() {
        Some('-') => markup.leaf("mark", &[("class", "less")], &line[1..]),
        Some('+') => markup.leaf("mark", &[("class", "more")], &line[1..]),
        Some('@') => markup.leaf("span", &[("class", "at")], "⋯"),
        _ => markup.text(line.strip_prefix(' ').unwrap_or(line)),
    }
    markup.text("\n");
}
