//! Renders the report as a page: one file that loads nothing and is readable without its scripts.

mod comparison;
mod finding;
mod grid;
mod listing;
mod markup;
mod order;
mod past;
mod snippet;
mod walk;

use std::time::Duration;

use self::finding::class;
use self::markup::Markup;
pub use self::past::{EarlierResult, Histories};
use super::human::{self, View};
use super::schema::Report;

/// Forbids the page to load anything, whatever text the report contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      img-src data:; base-uri 'none'; form-action 'none'";

const STYLE: &str = include_str!("html/style.css");
const FILTER: &str = include_str!("html/filter.js");
const WALK: &str = include_str!("html/walk.js");

/// What a page shows in addition to the report.
#[derive(Clone, Copy, Debug)]
pub struct PageContext<'a> {
    /// Name of the project.
    pub name: &'a str,
    /// Earlier runs of the tests.
    pub past: &'a Histories,
}

/// Renders the report as a page.
pub fn render(report: &Report, view: &View<'_>, page: &PageContext<'_>) -> String {
    let view = View { brief: false, verbose: 0, quiet: false, ..*view };
    let mut markup = Markup::default();
    markup.literal("<!DOCTYPE html>\n");
    markup.element("html", &[("lang", "en")], |markup| {
        head(markup, page);
        markup.element("body", &[], |markup| {
            markup.literal("<a class=\"skip\" href=\"#tests\">Skip to the tests</a>");
            markup.element("header", &[], |markup| header(markup, report, page));
            toolbar(markup, report);
            markup.element("main", &[("id", "tests"), ("tabindex", "-1")], |markup| {
                markup.literal("<p class=\"none js\" role=\"status\" hidden>No test matches.</p>");
                listing::draw(markup, report, &view, page);
            });
            markup.element("footer", &[], |markup| about(markup, report, &view));
            markup.element("script", &[], |markup| {
                markup.literal(FILTER);
                markup.literal(WALK);
            });
        });
    });
    markup.line();
    markup.finish()
}

fn head(markup: &mut Markup, page: &PageContext<'_>) {
    markup.element("head", &[], |markup| {
        markup.open("meta", &[("charset", "utf-8")]);
        let policy = [("http-equiv", "Content-Security-Policy"), ("content", POLICY)];
        markup.open("meta", &policy);
        markup.literal(
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\">\
             <meta name=\"referrer\" content=\"no-referrer\">\
             <link rel=\"icon\" href=\"data:,\">",
        );
        markup.leaf("title", &[], &format!("{}: cargo nondex", page.name));
        markup.element("style", &[], |markup| markup.literal(STYLE));
        // Runs before the page is drawn. Without scripts, the elements that need them stay hidden.
        markup.literal("<script>document.documentElement.className = 'scripted';</script>");
    });
}

fn header(markup: &mut Markup, report: &Report, page: &PageContext<'_>) {
    markup.element("h1", &[], |markup| {
        markup.text(page.name);
        markup.literal(" <small>cargo nondex</small>");
    });
    let seconds = Duration::from_millis(report.run.elapsed_ms).as_secs_f64();
    markup.element("p", &[("class", "hint")], |markup| {
        markup.leaf("code", &[], &report.run.command);
        markup.text(&format!(" took {seconds:.1} s"));
    });
    if report.partial {
        markup.literal("<p class=\"partial\">The run did not finish.</p>");
    }
    markup.element("nav", &[("aria-label", "Verdicts")], |markup| {
        let all = report.tests.len().to_string();
        chip(markup, "", "#tests", "all", &all, "all tests");
        for (verdict, count) in listing::verdicts(report) {
            let address = format!("#verdict-{}", verdict.name());
            let tone = class(listing::tone(report, verdict));
            let count = count.to_string();
            chip(markup, tone, &address, verdict.name(), &count, verdict.meaning());
        }
    });
}

fn chip(markup: &mut Markup, tone: &str, address: &str, name: &str, count: &str, gloss: &str) {
    let class = format!("chip {tone}");
    let attributes =
        [("class", class.as_str()), ("href", address), ("data-chip", name), ("title", gloss)];
    markup.element("a", &attributes, |markup| {
        markup.leaf("b", &[], count);
        markup.text(" ");
        markup.text(name);
    });
}

/// Draws the search bar, which needs the script.
fn toolbar(markup: &mut Markup, report: &Report) {
    let attributes = [("class", "toolbar js"), ("role", "search")];
    markup.element("div", &attributes, |markup| {
        markup.literal(
            "<input id=\"search\" type=\"search\" aria-label=\"Search tests\" \
             placeholder=\"Search tests ( / )\" autocomplete=\"off\" spellcheck=\"false\">",
        );
        let packages = listing::packages(report);
        if packages.len() > 1 {
            markup.element("select", &[("id", "package"), ("aria-label", "Package")], |markup| {
                markup.literal("<option value=\"\">all packages</option>");
                for package in packages {
                    markup.leaf("option", &[("value", package)], package);
                }
            });
        }
        markup.literal("<output id=\"shown\" aria-live=\"polite\"></output>");
    });
}

/// Draws what was run, under which conditions, and the summary.
fn about(markup: &mut Markup, report: &Report, view: &View<'_>) {
    let run = &report.run;
    markup.leaf("h2", &[], "About this run");
    let seeds: Vec<String> = run.seeds.iter().map(u64::to_string).collect();
    let levels: Vec<&str> = run.levels.iter().map(|level| level.name()).collect();
    let commit = run
        .commit
        .as_deref()
        .map(|commit| if run.modified { format!("{commit}, modified") } else { commit.to_owned() });
    markup.element("dl", &[("class", "notes")], |markup| {
        for (name, text) in [
            ("Levels", levels.join(", ").as_str()),
            ("Seeds", &seeds.join(", ")),
            ("Toolchain", run.toolchain.lines().next().unwrap_or_default()),
            ("Commit", commit.as_deref().unwrap_or_default()),
            ("cargo nondex", &run.tool),
            ("Run", &run.id),
        ] {
            if !text.is_empty() {
                markup.leaf("dt", &[], name);
                markup.leaf("dd", &[], text);
            }
        }
    });
    let whole = View { verbose: 1, report: None, ..*view };
    markup.element("ul", &[("class", "summary")], |markup| {
        for row in human::summary(report, &whole) {
            markup.element("li", &[], |markup| {
                if !row.word.is_empty() {
                    markup.leaf("b", &[], row.word);
                    markup.text(" ");
                }
                markup.rich(&row.plain());
            });
        }
    });
}
