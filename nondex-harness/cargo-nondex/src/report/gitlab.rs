//! The findings as GitLab's code quality report, which a merge request shows at their lines.
//!
//! <https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format>

use serde::Serialize;

use super::human::Sources;
use super::problem::{Severity, problems};
use super::schema::Report;
use crate::error::{Error, Result};

/// A finding.
#[derive(Debug, Serialize)]
struct Violation {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Debug, Serialize)]
struct Lines {
    begin: u32,
}

/// The findings as JSON. Paths are relative to the root of the repository.
///
/// # Errors
/// When it cannot be serialised, which no report is known to cause.
pub fn render(report: &Report, sources: &Sources) -> Result<String> {
    let problems = problems(report, sources);
    let violations = problems.iter().map(|problem| Violation {
        description: problem.text(),
        check_name: problem.rule.id.clone(),
        fingerprint: problem.fingerprint.clone(),
        severity: match problem.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Note => "info",
        },
        location: Location {
            path: problem.place.file.to_string(),
            lines: Lines {
                begin: problem.place.line,
            },
        },
    });
    let violations: Vec<Violation> = violations.collect();
    let mut text = serde_json::to_string_pretty(&violations)
        .map_err(|e| Error::setup(format!("failed to write GitLab's JSON: {e}")))?;
    text.push('\n');
    Ok(text)
}
