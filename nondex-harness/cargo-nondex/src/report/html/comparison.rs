//! Two runs side by side: the elements whose order differs in the failing run, and the outputs.

use nondex_core::Kind;

use super::markup::Markup;
use crate::report::human::called;
use crate::report::schema::{Culprit, TestReport};

/// Draws the canonical choice and the decisive one of each call for which both are known.
pub(super) fn choices(markup: &mut Markup, test: &TestReport) {
    let known = test.culprits.iter().filter_map(|culprit| {
        let [first, second] = two(culprit)?;
        Some((culprit, first, second))
    });
    // A test that fails in canonical order passes with the other choice.
    let (canonical, other) =
        if test.fails_in_canonical_order() { ("fails", "passes") } else { ("passes", "fails") };
    for (culprit, first, second) in known {
        markup.element("h4", &[], |markup| {
            markup.rich(&format!("Two orders of `{}`", called(culprit)));
        });
        markup.element("div", &[("class", "two")], |markup| {
            for (title, outcome, items) in
                [("Canonical order", canonical, &first), ("The order that decides", other, &second)]
            {
                side(markup, title, outcome, items);
            }
        });
    }
}

/// Returns the elements in canonical order and in the other one, if they are known.
fn two(culprit: &Culprit) -> Option<[Vec<String>; 2]> {
    if culprit.kind != Kind::Permute {
        return None;
    }
    let [first, second] = culprit.elements?.map(|index| {
        let detail = culprit.element_details.iter().find(|element| element.index == index);
        match detail {
            Some(element) => match (&element.name, &element.file, element.line) {
                (Some(name), _, _) => format!("`{name}`"),
                (None, Some(file), Some(line)) => {
                    format!("element {index}, inserted at `{file}:{line}`")
                }
                _ => format!("element {index}"),
            },
            None => format!("element {index}"),
        }
    });
    // In canonical order, the first of the two elements comes first.
    let canonical = vec![first.clone(), second.clone()];
    Some([canonical, vec![second, first]])
}

fn side(markup: &mut Markup, title: &str, outcome: &'static str, items: &[String]) {
    markup.element("div", &[("class", outcome)], |markup| {
        markup.element("h5", &[], |markup| {
            markup.text(title);
            markup.leaf("span", &[("class", "outcome")], &format!(": the test {outcome}"));
        });
        markup.element("ol", &[], |markup| {
            for item in items {
                markup.element("li", &[], |markup| markup.rich(item));
            }
        });
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
    let class = match line.chars().next() {
        Some('-') => "less",
        Some('+') => "more",
        Some('@') => "at",
        _ => "",
    };
    match class {
        "" => markup.text(line.strip_prefix(' ').unwrap_or(line)),
        "at" => markup.leaf("span", &[("class", class)], "⋯"),
        _ => markup.leaf("mark", &[("class", class)], &line[1..]),
    }
    markup.text("\n");
}
