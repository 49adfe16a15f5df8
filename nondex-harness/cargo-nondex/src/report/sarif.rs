//! Renders the report as SARIF 2.1.0 for code scanning services, with a result for each finding.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::exit::exit_code;
use super::human::Sources;
use super::problem::{Problem, Rule, Severity, SourceLine, problems};
use super::schema::Report;

/// Name of the base of all paths, which is the root of the repository.
const ROOT: &str = "%SRCROOT%";

/// Key of the fingerprint, with the version of its algorithm.
const FINGERPRINT: &str = "nondexCause/v1";

/// Help of rules without advice of their own. Code scanning of GitHub requires a help text.
const HELP: &str = "The message of each result has the advice for its case, and the command that \
                    reproduces the failure.";

/// Renders the report as a SARIF log. File paths are relative to `%SRCROOT%`, the root of the
/// repository.
pub fn render(report: &Report, sources: &Sources) -> String {
    let problems = problems(report, sources);
    // Results refer to their rule by index.
    let mut rules: BTreeMap<&Rule, Severity> = BTreeMap::new();
    for problem in &problems {
        let severity = rules.entry(&problem.rule).or_insert(problem.severity);
        *severity = (*severity).min(problem.severity);
    }
    let index = |rule: &Rule| rules.keys().position(|known| *known == rule);
    let results =
        problems.iter().map(|problem| result(problem, index(&problem.rule).unwrap_or_default()));
    let descriptors = rules.iter().map(|(rule, severity)| descriptor(rule, *severity));
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/\
                    sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "cargo-nondex",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": descriptors.collect::<Vec<_>>(),
                },
            },
            "invocations": [{
                "commandLine": report.run.command,
                "exitCode": exit_code(report) as i32,
                "executionSuccessful": !report.partial,
            }],
            // The address is omitted, since it differs between machines.
            "originalUriBaseIds": { ROOT: { "description": text("The root of the repository") } },
            "results": results.collect::<Vec<_>>(),
            "columnKind": "unicodeCodePoints",
        }],
    });
    format!("{:#}\n", without_nulls(log))
}

fn descriptor(rule: &Rule, severity: Severity) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": text(&rule.title),
        "fullDescription": text(rule.promise.unwrap_or(&rule.title)),
        "help": text(rule.fix.unwrap_or(HELP)),
        "helpUri": rule.url,
        "defaultConfiguration": { "level": severity.name() },
    })
}

fn result(problem: &Problem<'_>, rule_index: usize) -> Value {
    let test = problem.first();
    let ids: Vec<&str> = problem.tests.iter().map(|test| test.id.as_str()).collect();
    let functions = ids.iter().map(|id| json!({ "fullyQualifiedName": id, "kind": "function" }));
    let mut location = location(&problem.place);
    location["logicalLocations"] = functions.collect();
    let numbered = |(place, number): (&SourceLine, u32)| {
        let mut related = self::location(place);
        related["id"] = json!(number);
        related
    };
    let related: Vec<Value> = problem.related.iter().zip(1..).map(numbered).collect();
    // The suppression is external, because it is in a file rather than in the source.
    let suppressions = test.known.as_ref().map(|known| {
        json!([{ "kind": "external", "status": "accepted", "justification": known.reason }])
    });
    json!({
        "ruleId": problem.rule.id,
        "ruleIndex": rule_index,
        "level": problem.severity.name(),
        "message": text(&problem.text()),
        "locations": [location],
        "relatedLocations": Some(related).filter(|related| !related.is_empty()),
        "partialFingerprints": { FINGERPRINT: problem.fingerprint },
        "suppressions": suppressions,
        // Custom properties, for which the specification has no standard ones.
        "properties": {
            "verdict": test.verdict,
            "weakestLevel": test.weakest_level,
            "reproduce": problem.reproduce,
            "tests": ids,
        },
    })
}

fn location(place: &SourceLine) -> Value {
    let label = Some(place.label.as_str()).filter(|label| !label.is_empty());
    json!({
        "message": label.map(text),
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&place.file), "uriBaseId": ROOT },
            "region": { "startLine": place.line, "startColumn": place.column },
        },
    })
}

/// Returns a SARIF message.
fn text(text: &str) -> Value {
    json!({ "text": text })
}

/// Removes null properties from a value, since SARIF expects them to be absent.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(properties) => properties
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        Value::Array(values) => values.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// Converts a path to a relative reference of RFC 3986.
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
        for (path, expected) in
            [("src/lib.rs", "src/lib.rs"), ("a b/é#1%.rs", "a%20b/%C3%A9%231%25.rs")]
        {
            assert_eq!(uri(path), expected);
        }
    }
}
