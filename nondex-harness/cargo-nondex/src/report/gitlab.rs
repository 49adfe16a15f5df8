//! Renders findings as GitLab's code quality report, which a merge request shows at their lines.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>

use serde_json::{Value, json};

use super::human::Sources;
use super::problem::{Severity, problems};
use super::schema::Report;

/// Renders the findings as JSON. Paths are relative to the root of the repository.
pub fn render(report: &Report, sources: &Sources) -> String {
    let problems = problems(report, sources);
    let violations = problems.iter().map(|problem| {
        let severity = match problem.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Note => "info",
        };
        json!({
            "description": problem.text(),
            "check_name": problem.rule.id,
            "fingerprint": problem.fingerprint,
            "severity": severity,
            "location": {
                "path": problem.place.file,
                "lines": { "begin": problem.place.line },
            },
        })
    });
    format!("{:#}\n", violations.collect::<Value>())
}
