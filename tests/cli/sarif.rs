//! The SARIF report, checked against the part of the specification that it uses.

use std::collections::BTreeSet;

use cargo_nondex::report::sarif;
use serde_json::{Map, Value, json};

use crate::problems::all_kinds;
use crate::sample::sources;

/// Type of a property's value.
enum Type {
    Text,
    /// Relative or absolute reference of RFC 3986, in ASCII.
    Uri,
    Word(&'static [&'static str]),
    /// Integer with this minimum.
    Number(i64),
    Switch,
    Object(Object),
    List(Object),
    /// Objects or texts with any names.
    Map(Box<Type>),
    /// Property bag, which may have any properties.
    Bag,
}

/// Properties of an object: name, whether it is required, and type. Other properties are not
/// allowed, as in the specification's schema.
type Object = Vec<(&'static str, bool, Type)>;

fn message() -> Type {
    Type::Object(vec![("text", true, Type::Text)])
}

fn location() -> Object {
    let artifact = vec![("uri", true, Type::Uri), ("uriBaseId", true, Type::Word(&["%SRCROOT%"]))];
    let region =
        vec![("startLine", true, Type::Number(1)), ("startColumn", false, Type::Number(1))];
    let physical = vec![
        ("artifactLocation", true, Type::Object(artifact)),
        ("region", true, Type::Object(region)),
    ];
    let logical =
        vec![("fullyQualifiedName", true, Type::Text), ("kind", true, Type::Word(&["function"]))];
    vec![
        ("id", false, Type::Number(0)),
        ("physicalLocation", true, Type::Object(physical)),
        ("logicalLocations", false, Type::List(logical)),
        ("message", false, message()),
    ]
}

/// Returns the rules of SARIF 2.1.0, sections 3.13 to 3.49, for the properties that are written.
fn log() -> Type {
    let level = || Type::Word(&["error", "warning", "note"]);
    let rule = vec![
        ("id", true, Type::Text),
        ("shortDescription", true, message()),
        // The specification does not require these two, but GitHub's code scanning does.
        ("fullDescription", true, message()),
        ("help", true, message()),
        ("helpUri", false, Type::Uri),
        ("defaultConfiguration", true, Type::Object(vec![("level", true, level())])),
    ];
    let driver = vec![
        ("name", true, Type::Text),
        ("semanticVersion", true, Type::Text),
        ("informationUri", true, Type::Uri),
        ("rules", true, Type::List(rule)),
    ];
    let invocation = vec![
        ("commandLine", true, Type::Text),
        ("exitCode", true, Type::Number(0)),
        ("executionSuccessful", true, Type::Switch),
    ];
    let suppression = vec![
        ("kind", true, Type::Word(&["inSource", "external"])),
        ("status", true, Type::Word(&["accepted", "underReview", "rejected"])),
        ("justification", true, Type::Text),
    ];
    let result = vec![
        ("ruleId", true, Type::Text),
        ("ruleIndex", true, Type::Number(0)),
        ("level", true, level()),
        ("message", true, message()),
        ("locations", true, Type::List(location())),
        ("relatedLocations", false, Type::List(location())),
        ("partialFingerprints", true, Type::Map(Box::new(Type::Text))),
        ("suppressions", false, Type::List(suppression)),
        ("properties", true, Type::Bag),
    ];
    let base = Type::Object(vec![("description", true, message())]);
    let tool = vec![("driver", true, Type::Object(driver))];
    let run = vec![
        ("tool", true, Type::Object(tool)),
        ("invocations", true, Type::List(invocation)),
        ("originalUriBaseIds", true, Type::Map(Box::new(base))),
        ("results", true, Type::List(result)),
        ("columnKind", true, Type::Word(&["unicodeCodePoints"])),
    ];
    Type::Object(vec![
        ("$schema", true, Type::Uri),
        ("version", true, Type::Word(&["2.1.0"])),
        ("runs", true, Type::List(run)),
    ])
}

fn check(value: &Value, expected: &Type, at: &str) -> Result<(), String> {
    let wrong = || Err(format!("{at}: {value}"));
    let object = |value: &Value, known: &Object, at: &str| -> Result<(), String> {
        let Some(found) = value.as_object() else { return Err(format!("{at}: {value}")) };
        for name in found.keys() {
            if !known.iter().any(|(known, ..)| known == name) {
                return Err(format!("{at}.{name} is unknown"));
            }
        }
        known.iter().try_for_each(|(name, is_required, expected)| match found.get(*name) {
            Some(value) => check(value, expected, &format!("{at}.{name}")),
            None if *is_required => Err(format!("{at}.{name} is missing")),
            None => Ok(()),
        })
    };
    match expected {
        Type::Text => match value.as_str() {
            Some(text) if !text.is_empty() => Ok(()),
            _ => wrong(),
        },
        Type::Uri => match value.as_str() {
            Some(uri) if !uri.is_empty() && uri.bytes().all(|b| b.is_ascii_graphic()) => Ok(()),
            _ => wrong(),
        },
        Type::Word(words) => match value.as_str() {
            Some(word) if words.contains(&word) => Ok(()),
            _ => wrong(),
        },
        Type::Number(least) => match value.as_i64() {
            Some(number) if number >= *least => Ok(()),
            _ => wrong(),
        },
        Type::Switch if value.is_boolean() => Ok(()),
        Type::Switch => wrong(),
        Type::Object(known) => object(value, known, at),
        Type::List(known) => match value.as_array() {
            Some(list) => list.iter().try_for_each(|value| object(value, known, at)),
            None => wrong(),
        },
        Type::Map(expected) => match value.as_object() {
            Some(map) => map.values().try_for_each(|value| check(value, expected, at)),
            None => wrong(),
        },
        Type::Bag if value.is_object() => Ok(()),
        Type::Bag => wrong(),
    }
}

/// Checks what a schema cannot state: results refer to existing rules, and ids are unique.
fn check_references(log: &Value) -> Result<(), String> {
    for run in log["runs"].as_array().unwrap() {
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let ids: BTreeSet<&str> = rules.iter().filter_map(|rule| rule["id"].as_str()).collect();
        if ids.len() != rules.len() {
            return Err("two rules have one id".to_owned());
        }
        let mut fingerprints = BTreeSet::new();
        for result in run["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            if rules.get(index).map(|rule| &rule["id"]) != Some(&result["ruleId"]) {
                return Err(format!("{} is not rule {index}", result["ruleId"]));
            }
            let related = result["relatedLocations"].as_array();
            let related: Vec<Option<u64>> =
                related.into_iter().flatten().map(|place| place["id"].as_u64()).collect();
            let ids: BTreeSet<&Option<u64>> = related.iter().collect();
            if ids.len() != related.len() || ids.contains(&None) {
                return Err("related locations need an id each".to_owned());
            }
            if !fingerprints.insert(result["partialFingerprints"].to_string()) {
                return Err("two results have one fingerprint".to_owned());
            }
            let locations = result["locations"].as_array().unwrap();
            if locations.len() != 1 {
                return Err("a result has one location".to_owned());
            }
        }
    }
    Ok(())
}

fn expect_valid(log_value: &Value) -> Result<(), String> {
    check(log_value, &log(), "")?;
    check_references(log_value)
}

fn rendered() -> Value {
    let (_folder, sources) = sources();
    let mut report = all_kinds();
    report.run.command = "cargo nondex check".to_owned();
    let text = sarif::render(&report, &sources);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_report_with_every_kind_of_finding_keeps_the_rules_of_sarif() {
    let log = rendered();
    expect_valid(&log).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 7);
    let of = |name: &str| {
        let id = format!("shop${name}");
        let mut results = results.iter();
        results.find(|one| one["properties"]["tests"][0] == *id).unwrap()
    };
    assert_eq!(of("names")["level"], "error");
    assert_eq!(of("listing")["level"], "warning");
    assert_eq!(of("known")["level"], "note");
    assert_eq!(of("known")["suppressions"][0]["justification"], "the clock is read twice");
    assert_eq!(of("names").get("suppressions"), None);
    let related = of("race")["relatedLocations"].as_array().unwrap();
    assert_eq!(related[0]["physicalLocation"]["region"], json!({"startLine": 8}));
}

/// Collects the objects that contain no other objects or lists.
fn innermost<'v>(value: &'v mut Value, found: &mut Vec<&'v mut Map<String, Value>>) {
    let is_inner = |value: &Value| value.is_object() || value.is_array();
    match value {
        Value::Object(map) => {
            if map.values().any(is_inner) {
                map.values_mut().for_each(|value| innermost(value, found));
            } else {
                found.push(map);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| innermost(value, found)),
        _ => {}
    }
}

#[test]
fn every_way_to_break_a_document_is_found() {
    let valid = rendered();
    expect_valid(&valid).unwrap();
    let count = {
        let mut value = valid.clone();
        let mut all = Vec::new();
        innermost(&mut value, &mut all);
        all.len()
    };
    assert!(count > 50, "{count}");
    // An unknown property in any of the innermost objects is an error.
    for index in 0..count {
        let mut broken = valid.clone();
        let mut all = Vec::new();
        innermost(&mut broken, &mut all);
        all[index].insert("unknown".to_owned(), Value::Null);
        drop(all);
        assert!(expect_valid(&broken).is_err(), "{index}");
    }
    let result = "/runs/0/results/0";
    for (pointer, value) in [
        ("/version".to_owned(), json!("2.0.0")),
        ("/runs".to_owned(), json!({})),
        (format!("{result}/level"), json!("fatal")),
        (format!("{result}/ruleIndex"), json!(99)),
        (format!("{result}/ruleId"), json!("other")),
        (format!("{result}/message"), json!({})),
        (format!("{result}/message/text"), json!("")),
        (format!("{result}/locations"), json!([])),
        (format!("{result}/locations/0/physicalLocation/region/startLine"), json!(0)),
        (format!("{result}/locations/0/physicalLocation/artifactLocation/uri"), json!("a b")),
        (format!("{result}/relatedLocations/0/id"), json!(2)),
        (
            format!("{result}/partialFingerprints"),
            valid["runs"][0]["results"][1]["partialFingerprints"].clone(),
        ),
        (
            "/runs/0/tool/driver/rules/0/id".to_owned(),
            valid["runs"][0]["tool"]["driver"]["rules"][1]["id"].clone(),
        ),
    ] {
        let mut broken = valid.clone();
        *broken.pointer_mut(&pointer).unwrap() = value;
        assert!(expect_valid(&broken).is_err(), "{pointer}");
    }
}
