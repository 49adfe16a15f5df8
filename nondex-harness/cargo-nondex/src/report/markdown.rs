//! Renders the report as Markdown, for a job summary or a comment on a pull request.
//!
//! The first line is a summary for readers who stop there.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::human::{self, Sources};
use super::listing;
use super::problem::{Problem, Severity, problems};
use super::schema::Report;

/// Maximum number of rows of a table: GitHub refuses a summary of more than a mebibyte.
const ROWS: usize = 100;

/// Renders the report as Markdown.
pub fn render(report: &Report, sources: &Sources) -> String {
    let problems = problems(report, sources);
    let mut text = format!("**{}**\n\n{}\n", headline(&problems), human::counts(report));
    if !report.run.seeds.is_empty() {
        let _ = writeln!(text, "\nSeeds: {}", listing::seeds(&report.run.seeds));
    }
    if report.partial {
        text.push_str("\nThe run did not finish: unfinished tests are not-run.\n");
    }
    for overdue in &report.overdue {
        let _ = writeln!(text, "\n{}", escaped(&overdue.to_string()));
    }
    for (severity, title) in [
        (Severity::Error, "Findings"),
        (Severity::Warning, "Advice"),
        (Severity::Note, "Known, not caused by the change, or without a prerequisite"),
    ] {
        let rows: Vec<&Problem<'_>> =
            problems.iter().filter(|problem| problem.severity == severity).collect();
        if !rows.is_empty() {
            table(&mut text, title, &rows);
        }
    }
    text
}

/// Returns how many tests failed, and how many of them need attention: `4 failed; 1 needs you`.
pub fn headline(problems: &[Problem<'_>]) -> String {
    let failed = problems.iter().filter(|problem| problem.severity != Severity::Warning);
    let needy = problems.iter().filter(|problem| problem.needs_attention());
    match (tests(failed), tests(needy)) {
        (0, _) => "No test failed".to_owned(),
        (failed, 0) => format!("{failed} failed; none needs you"),
        (failed, 1) => format!("{failed} failed; 1 needs you"),
        (failed, needy) => format!("{failed} failed; {needy} need you"),
    }
}

/// Returns the number of tests that these findings are about.
fn tests<'p>(problems: impl Iterator<Item = &'p Problem<'p>>) -> usize {
    problems.flat_map(|problem| &problem.tests).map(|test| &test.id).collect::<BTreeSet<_>>().len()
}

fn table(text: &mut String, title: &str, rows: &[&Problem<'_>]) {
    let _ =
        write!(text, "\n### {title}\n\n| test | cause | line | reproduce |\n|---|---|---|---|\n");
    for problem in rows.iter().take(ROWS) {
        let more = match problem.tests.len() - 1 {
            0 => String::new(),
            1 => " and one other".to_owned(),
            more => format!(" and {more} others"),
        };
        let test = problem.first();
        let place = format!("{}:{}", problem.place.file, problem.place.line);
        let reproduce = problem.reproduce.map_or(String::new(), code);
        let texts = [
            format!("{}{more}", code(&test.id)),
            format!("**{}** {}", test.verdict, escaped(&problem.cause)),
            code(&place),
            reproduce,
        ];
        let cells = texts.map(|cell| cell.replace(['\r', '\n'], " ").replace('|', "\\|"));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    if let Some(more) = rows.len().checked_sub(ROWS).filter(|more| *more > 0) {
        let _ = writeln!(text, "\nand {more} more in the report");
    }
}

/// Formats text as code, inside more backticks than it contains in a row.
fn code(text: &str) -> String {
    let runs = text.split(|c| c != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or_default() + 1);
    if text.starts_with('`') || text.ends_with('`') {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

/// Escapes all markup except code between single backticks.
fn escaped(text: &str) -> String {
    let is_closed = text.matches('`').count().is_multiple_of(2);
    let mut is_code = false;
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '`' if is_closed => is_code = !is_code,
            '\\' | '*' | '_' | '<' | '[' | ']' | '~' | '`' | '&' if !is_code => escaped.push('\\'),
            _ => {}
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_its_code_or_begin_markup() {
        for (text, expected) in [("a b", "`a b`"), ("a`b", "``a`b``"), ("``a", "``` ``a ```")] {
            assert_eq!(code(text), expected);
        }
        assert_eq!(escaped("on `Vec<u8>` <b> a_b"), "on `Vec<u8>` \\<b> a\\_b");
        assert_eq!(escaped("one ` only *"), "one \\` only \\*");
    }
}
