//! Threads: the lanes of a race, step by step, and what each thread of a deadlock waits for.

use super::markup::Markup;
use crate::report::html::snippet;
use crate::report::human::{Mark, Sources, ThreadWait, Walkthrough, waiting_threads};
use crate::report::schema::TestReport;

/// Draws the lanes of a race. The script steps through them.
pub(super) fn lanes(markup: &mut Markup, walk: &Walkthrough, sources: &Sources) {
    markup.leaf("h4", &[], "The threads, step by step");
    markup.element("div", &[("class", "walk")], |markup| {
        markup.element("p", &[("class", "hint")], |markup| {
            markup.rich(&walk.title());
        });
        markup.element("div", &[("class", "steps js"), ("role", "group")], |markup| {
            let button = |markup: &mut Markup, action: &str, text: &str| {
                let attributes = [("type", "button"), ("data-walk", action)];
                markup.leaf("button", &attributes, text);
            };
            button(markup, "back", "← Back");
            markup.leaf("span", &[("class", "at"), ("aria-live", "polite")], "");
            button(markup, "on", "Next →");
            button(markup, "all", "Show all");
        });
        let attributes =
            [("tabindex", "0"), ("aria-label", "Steps of the threads: use the arrow keys")];
        markup.element("table", &attributes, |markup| {
            markup.columns(["#"].into_iter().chain(walk.threads.iter().map(String::as_str)));
            markup.element("tbody", &[], |markup| {
                for at in 0..walk.steps.len() {
                    step(markup, walk, at, sources);
                }
                let span = (walk.threads.len() + 1).to_string();
                markup.element("tr", &[("class", "end")], |markup| {
                    markup.element("td", &[("colspan", &span)], |markup| {
                        markup.rich(&walk.end);
                    });
                });
            });
        });
    });
}

fn step(markup: &mut Markup, walk: &Walkthrough, at: usize, sources: &Sources) {
    let step = &walk.steps[at];
    let class = match (step.is_delay, &step.conflict) {
        (true, _) => "step delay",
        (false, Some(_)) => "step conflict",
        (false, None) => "step",
    };
    markup.element("tr", &[("class", class)], |markup| {
        markup.leaf("th", &[("scope", "row")], &(at + 1).to_string());
        for lane in 0..walk.threads.len() {
            if lane != step.lane {
                markup.leaf("td", &[("class", "idle")], "");
                continue;
            }
            let number = (lane % 4).to_string();
            let attributes = [("data-lane", number.as_str())];
            markup.element("td", &attributes, |markup| {
                markup.leaf("span", &[("class", "who")], &walk.threads[lane]);
                if step.skipped > 0 {
                    let text = format!("after {} more steps", step.skipped);
                    markup.leaf("small", &[], &text);
                }
                markup.leaf("b", &[], &step.what);
                if let Some((file, line)) = step.place.as_ref().filter(|_| !step.is_delay) {
                    snippet::line(markup, file, *line, sources);
                }
                if let Some(object) = &step.conflict {
                    markup.element("small", &[("class", "object")], |markup| {
                        markup.text("uses ");
                        markup.rich(object);
                    });
                }
            });
        }
    });
}

/// Draws what each thread waited for, if the scheduler ended the process.
pub(super) fn waits(markup: &mut Markup, test: &TestReport, sources: &Sources) {
    let Some((how, waits)) = waiting_threads(test) else { return };
    markup.leaf("h4", &[], "What the threads wait for");
    markup.leaf("p", &[("class", "hint")], how);
    markup.element("ul", &[("class", "waits")], |markup| {
        for wait in &waits {
            markup.element("li", &[], |markup| one(markup, wait, sources));
        }
    });
}

fn one(markup: &mut Markup, wait: &ThreadWait, sources: &Sources) {
    let ThreadWait { thread, operation, place, why, other_place, other } = wait;
    markup.element("p", &[], |markup| {
        markup.element("b", &[], |markup| markup.rich(thread));
        markup.text(" in ");
        markup.leaf("code", &[], operation);
        markup.rich(why);
    });
    let marked = |place: &Option<(String, u32)>, label: &str, is_primary| {
        place.clone().map(|(file, line)| Mark {
            file,
            line,
            column: None,
            label: label.to_owned(),
            is_primary,
        })
    };
    let marks = [marked(place, "waits here", true), marked(other_place, other, false)];
    let places: Vec<Mark> = marks.into_iter().flatten().collect();
    snippet::places(markup, &places, sources);
}
