//! The report as SARIF 2.1.0, which code scanning services read: a result for each finding.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>

mod format;

use std::collections::BTreeMap;

use self::format::{
    ArtifactLocation, Configuration, Driver, Invocation, Location, Log, LogicalLocation, Message,
    PhysicalLocation, Properties, Region, ReportingDescriptor, Result as Finding, Run, Suppression,
    Tool,
};
use super::exit::exit_code;
use super::human::Sources;
use super::problem::{Place, Problem, Rule, Severity, problems};
use super::schema::Report;
use crate::error::{Error, Result};

/// Name of the base of all paths: the root of the repository.
const ROOT: &str = "%SRCROOT%";

/// Key of the fingerprint, with the version of how it is made.
const FINGERPRINT: &str = "nondexCause/v1";

/// The report as a SARIF log. The files that it names are relative to `%SRCROOT%`, the root of the
/// repository.
///
/// # Errors
/// When it cannot be serialised, which no report is known to cause.
pub fn render(report: &Report, sources: &Sources) -> Result<String> {
    let problems = problems(report, sources);
    // Results name their rule by its index.
    let mut rules: BTreeMap<&Rule, Severity> = BTreeMap::new();
    for problem in &problems {
        let gravest = rules.entry(&problem.rule).or_insert(problem.severity);
        *gravest = (*gravest).min(problem.severity);
    }
    let index = |rule: &Rule| rules.keys().position(|known| *known == rule);
    let results = problems
        .iter()
        .map(|problem| result(problem, index(&problem.rule).unwrap_or_default()));
    let root = Message::new("The root of the repository");
    let code = exit_code(report);
    let run = Run {
        tool: Tool {
            driver: Driver {
                name: "cargo-nondex",
                semantic_version: env!("CARGO_PKG_VERSION"),
                information_uri: env!("CARGO_PKG_REPOSITORY"),
                rules: rules
                    .iter()
                    .map(|(rule, severity)| descriptor(rule, *severity))
                    .collect(),
            },
        },
        invocations: vec![Invocation {
            command_line: report.run.command.clone(),
            exit_code: code as i32,
            execution_successful: !report.partial,
        }],
        original_uri_base_ids: BTreeMap::from([(ROOT, BTreeMap::from([("description", root)]))]),
        results: results.collect(),
        column_kind: "unicodeCodePoints",
    };
    let log = Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/\
                 sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: vec![run],
    };
    let mut text = serde_json::to_string_pretty(&log)
        .map_err(|e| Error::setup(format!("failed to write SARIF: {e}")))?;
    text.push('\n');
    Ok(text)
}

fn descriptor(rule: &Rule, severity: Severity) -> ReportingDescriptor {
    ReportingDescriptor {
        id: rule.id.clone(),
        short_description: Message::new(&rule.title),
        full_description: rule.promise.map(Message::new),
        help: rule.fix.map(Message::new),
        help_uri: rule.url.clone(),
        default_configuration: Configuration {
            level: severity.name(),
        },
    }
}

fn result(problem: &Problem<'_>, rule_index: usize) -> Finding {
    let test = problem.first();
    let ids = problem.tests.iter().map(|test| test.id.clone());
    let ids: Vec<String> = ids.collect();
    let related = problem.related.iter().enumerate();
    let related = related.map(|(index, place)| Location {
        id: Some(index + 1),
        message: label(place),
        physical_location: physical(place),
        logical_locations: Vec::new(),
    });
    let accepted = test.known.as_ref().map(|known| known.reason.clone());
    Finding {
        rule_id: problem.rule.id.clone(),
        rule_index,
        level: problem.severity.name(),
        message: Message::new(&problem.text()),
        locations: vec![Location {
            id: None,
            message: label(&problem.place),
            physical_location: physical(&problem.place),
            logical_locations: ids.iter().cloned().map(LogicalLocation::function).collect(),
        }],
        related_locations: related.collect(),
        partial_fingerprints: BTreeMap::from([(FINGERPRINT, problem.fingerprint.clone())]),
        suppressions: accepted.map(Suppression::accepted).into_iter().collect(),
        properties: Properties {
            verdict: test.verdict,
            weakest_level: test.weakest_level,
            reproduce: problem.reproduce.map(str::to_owned),
            tests: ids,
        },
    }
}

fn label(place: &Place) -> Option<Message> {
    (!place.label.is_empty()).then(|| Message::new(&place.label))
}

fn physical(place: &Place) -> PhysicalLocation {
    PhysicalLocation {
        artifact_location: ArtifactLocation {
            uri: uri(place.file.as_str()),
            uri_base_id: ROOT,
        },
        region: Region {
            start_line: place.line,
            start_column: place.column,
        },
    }
}

/// A path as a relative reference of RFC 3986.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_so_that_it_is_a_uri() {
        for (path, expected) in [
            ("src/lib.rs", "src/lib.rs"),
            ("a b/é#1%.rs", "a%20b/%C3%A9%231%25.rs"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }
}
