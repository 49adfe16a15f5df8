//! Renders findings as annotations of GitHub Actions, which a pull request shows at their lines.
//!
//! <https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands>

use super::human::Sources;
use super::problem::{Problem, Severity, problems};
use super::schema::Report;

/// Returns one workflow command for each finding, a line each: `::error` if it fails the run,
/// `::warning` for advice. Known flakes and sanitised tests have none.
pub fn annotations(report: &Report, sources: &Sources) -> String {
    problems(report, sources).iter().filter_map(annotation).collect()
}

fn annotation(problem: &Problem<'_>) -> Option<String> {
    let command = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => return None,
    };
    let place = &problem.place;
    let column = place.column.map_or(String::new(), |column| format!(",col={column}"));
    let title = format!("nondex[{}]: {}", problem.first().verdict, problem.cause);
    Some(format!(
        "::{command} file={},line={}{column},title={}::{}\n",
        property(&place.file),
        place.line,
        property(&title),
        data(&problem.text()),
    ))
}

/// Escapes a message, since a command ends at the end of the line.
fn data(text: &str) -> String {
    // The percent sign comes first, because it begins the other escapes.
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property, which ends at a comma or two colons.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_a_command_or_a_property() {
        assert_eq!(data("50 %\r\n::x"), "50 %25%0D%0A::x");
        assert_eq!(property("a::b, 5 %\n"), "a%3A%3Ab%2C 5 %25%0A");
    }
}
