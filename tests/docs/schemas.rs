//! JSON Schemas of the report, of events, and of the configuration file, which the code generates.
//! `INSTA_UPDATE=always cargo test -p cargo-nondex --test docs` regenerates them.

use std::collections::BTreeMap;
use std::fs;

use cargo_nondex::config::{KEYS, OVERRIDE_KEYS, SANITISE_KEYS};
use cargo_nondex::report::schema::NetworkMode;
use nondex_core::protocol::operation::{ERRORS, OPERATIONS};
use nondex_core::{Family, Level, Schedule};
use quote::ToTokens;
use serde_json::{Map, Value, json};

use crate::binary;
use crate::generated::{event_types, report_types};
use crate::page::{Page, repository};
use crate::source::Type;

/// Draft that editors support.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

const FOLDER: &str = "nondex-harness/cargo-nondex/src/command/schema";

/// Asserts that a schema equals the stored one. With `INSTA_UPDATE=always`, stores it first.
#[track_caller]
fn expect_kept(name: &str, schema: &Value) {
    let path = repository().join(FOLDER).join(format!("{name}.json"));
    let expected = serde_json::to_string_pretty(schema).unwrap() + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(&path, &expected).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == expected, "{} is not what the code has", path.display());
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Value {
    json!({ "type": "string", "enum": words.into_iter().collect::<Vec<_>>() })
}

/// Returns the schema of a field of this Rust type. The types in `known` have definitions.
fn of_type(kind: &str, known: &[&Type]) -> Value {
    let inside = |start: &str| kind.strip_prefix(start)?.strip_suffix('>');
    if let Some(inner) = inside("Option<") {
        return json!({ "anyOf": [of_type(inner, known), { "type": "null" }] });
    }
    if let Some(inner) = inside("Box<") {
        return of_type(inner, known);
    }
    if let Some(inner) = inside("Vec<") {
        return json!({ "type": "array", "items": of_type(inner, known) });
    }
    if let Some(inner) = inside("BTreeMap<") {
        let (_, value) = inner.split_once(',').expect("a map has two types");
        return json!({ "type": "object", "additionalProperties": of_type(value, known) });
    }
    if let Some((inner, _)) = kind.strip_prefix('[').and_then(|kind| kind.split_once(';')) {
        let items = of_type(inner, known);
        return json!({ "type": "array", "items": items, "minItems": 2, "maxItems": 2 });
    }
    match kind {
        "String" | "SanitisedLimit" | "Utf8PathBuf" => json!({ "type": "string" }),
        "bool" => json!({ "type": "boolean" }),
        "u8" | "u32" | "u64" | "usize" => json!({ "type": "integer", "minimum": 0 }),
        "f64" => json!({ "type": "number" }),
        "Level" => words(Level::ALL.map(Level::name)),
        "Family" => words(Family::ALL.map(Family::name)),
        "NetworkMode" => words(NetworkMode::ALL.map(NetworkMode::name)),
        "Kind" => words(nondex_core::Kind::ALL.map(nondex_core::Kind::name)),
        "Schedule" => words(["covering", "random", "systematic"]),
        "Outcome" => json!({ "anyOf": [
            words(["passed", "failed", "timed_out"]),
            { "type": "object", "required": ["exited"],
              "properties": { "exited": { "type": "integer" } } },
            { "type": "object", "required": ["signalled"],
              "properties": { "signalled": { "type": "integer" } } },
        ] }),
        _ if known.iter().any(|one| one.name == kind) => {
            json!({ "$ref": format!("#/definitions/{kind}") })
        }
        // The description of the field explains its structure.
        _ => json!({}),
    }
}

fn definition(found: &Type, known: &[&Type]) -> Value {
    if !found.is_struct {
        let is_word = |item: &&crate::source::Item| item.kind.is_empty();
        let plain = found.items.iter().filter(is_word).map(|item| item.name.as_str());
        let mut any = vec![words(plain)];
        any.extend(found.items.iter().filter(|item| !is_word(item)).map(|item| {
            json!({ "type": "object", "required": [item.name],
                "properties": { &item.name: of_type(&item.kind, known) } })
        }));
        return json!({ "description": found.doc, "anyOf": any });
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for field in &found.items {
        let mut schema = of_type(&field.kind, known);
        // In this draft, other keys next to a reference are ignored.
        if schema.get("$ref").is_some() {
            schema = json!({ "allOf": [schema] });
        }
        schema["description"] = field.doc.clone().into();
        properties.insert(field.name.clone(), schema);
        if !field.is_optional {
            required.push(field.name.clone());
        }
    }
    json!({
        "description": found.doc,
        "type": "object",
        "required": required,
        "properties": properties,
    })
}

fn definitions(types: &[&Type]) -> Value {
    let all = types.iter().map(|one| (one.name.clone(), definition(one, types)));
    Value::Object(all.collect())
}

#[test]
fn the_schema_of_the_report_is_that_of_its_types() {
    let types = report_types();
    let types: Vec<&Type> = types.iter().collect();
    let schema = json!({
        "$schema": DRAFT,
        "title": "Report of cargo nondex",
        "allOf": [{ "$ref": "#/definitions/Report" }],
        "definitions": definitions(&types),
    });
    expect_kept("report", &schema);
}

#[test]
fn the_schema_of_events_is_that_of_their_types() {
    let (report, events) = (report_types(), event_types());
    let is_needed = |found: &&Type| ["Summary", "Verdict"].contains(&found.name.as_str());
    let types: Vec<&Type> = report.iter().filter(is_needed).chain(&events).collect();
    let path = repository().join("nondex-harness/cargo-nondex/src/report/stream.rs");
    let file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
    let event = file.items.iter().find_map(|item| match item {
        syn::Item::Enum(found) if found.ident == "Event" => Some(found),
        _ => None,
    });
    let any = event.expect("there are events").variants.iter().map(|variant| {
        let name = crate::source::kebab(&variant.ident.to_string());
        let tag = json!({
            "type": "object",
            "required": ["event"],
            "properties": { "event": { "const": name } },
        });
        let fields = variant.fields.iter().next();
        match fields.map(|field| field.ty.to_token_stream().to_string().replace(' ', "")) {
            Some(kind) => json!({ "allOf": [tag, of_type(&kind, &types)] }),
            None => tag,
        }
    });
    let schema = json!({
        "$schema": DRAFT,
        "title": "Event of cargo nondex, a line of --message-format json-lines",
        "anyOf": any.collect::<Vec<_>>(),
        "definitions": definitions(&types),
    });
    expect_kept("events", &schema);
}

/// Returns the schema of a key's value of this Rust type.
fn of_value(kind: &str) -> Value {
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer", "minimum": 0 });
    let some =
        |one: Value| json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] });
    match kind {
        "bool" => json!({ "type": "boolean" }),
        "f64" | "Duration" => json!({ "type": ["number", "string"], "exclusiveMinimum": 0 }),
        "u64" | "usize" => number(),
        "NonZeroU32" => json!({ "type": "integer", "minimum": 1 }),
        // The number of parallel jobs. A negative one leaves processors free.
        "NonZeroUsize" => json!({
            "anyOf": [{ "type": "integer", "not": { "const": 0 } }, words(["num-cpus"])],
        }),
        "String" | "Utf8PathBuf" | "Expression" => text(),
        "Regex" => json!({ "type": "string", "format": "regex" }),
        "Vec<String>" | "Vec<Expression>" | "NameList" => some(text()),
        "ModelsOff" => some(json!({ "type": "string", "format": "regex" })),
        "SanitisedLimit" => json!({ "type": ["integer", "string"], "minimum": 0 }),
        "Seeds" => some(json!({ "type": ["integer", "string"], "minimum": 0 })),
        "Vec<Level>" => {
            let names = Level::ALL.map(Level::name).join("|");
            let list = json!({
                "type": "string",
                "pattern": format!("^ *({names}) *(, *({names}) *)*$"),
            });
            let items = words(Level::ALL.map(Level::name));
            json!({ "anyOf": [items, list, { "type": "array", "items": items, "minItems": 1 }] })
        }
        "Mode" => words(["program", "swap"]),
        "NetworkMode" => words(NetworkMode::ALL.map(NetworkMode::name)),
        "Schedule" => words(Schedule::DRAWN.map(Schedule::name)),
        other => panic!("no schema for a key of type {other}"),
    }
}

/// Returns the keys of a configuration struct with their value types.
fn keys(file: &str, name: &str) -> BTreeMap<String, String> {
    let path = repository().join("nondex-harness/cargo-nondex/src/config").join(file);
    let file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
    let found = file.items.into_iter().find_map(|item| match item {
        syn::Item::Struct(found) if found.ident == name => Some(found),
        _ => None,
    });
    let fields = found.expect("it is there").fields.into_iter();
    let typed = fields.map(|field| {
        let kind = field.ty.to_token_stream().to_string().replace(' ', "");
        let inner = kind.strip_prefix("Option<").and_then(|kind| kind.strip_suffix('>'));
        let name = field.ident.unwrap().to_string().replace('_', "-");
        (name, inner.unwrap_or(&kind).to_owned())
    });
    typed.collect()
}

/// Returns the keys of a profile with their value types, from the lines of the macro that declares
/// them.
fn settings() -> BTreeMap<String, String> {
    let path = repository().join("nondex-harness/cargo-nondex/src/config/settings.rs");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter_map(|line| {
        let (key, rest) = line.trim().strip_prefix('"')?.split_once("\" ")?;
        let (_, kind) = rest.trim_end_matches(';').split_once(": ")?;
        let kind = kind.split_once(',').map_or(kind, |(kind, _)| kind);
        Some((key.to_owned(), kind.to_owned()))
    });
    rows.collect()
}

/// Returns the schema of an object with these keys and no others. Each key has its description.
fn object<'a>(
    keys: impl IntoIterator<Item = &'a str>,
    schema: impl Fn(&str) -> Value,
    meaning: impl Fn(&str) -> String,
) -> Value {
    let properties: Map<String, Value> = keys
        .into_iter()
        .map(|key| {
            let mut schema = schema(key);
            schema["description"] = meaning(key).into();
            (key.to_owned(), schema)
        })
        .collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

/// Returns the description of a key in a table of a page, without backquotes.
fn meaning(page: &Page, key: &str) -> String {
    let start = format!("| `{key}` | ");
    let mut rows = page.text.lines().filter_map(|line| line.strip_prefix(&start));
    let row = rows.next().unwrap_or_else(|| panic!("{} has no row `{key}`", page.name));
    row.trim_end_matches(" |").replace('`', "")
}

#[test]
fn the_schema_of_the_configuration_has_every_key() {
    let types = settings();
    let options = binary::options("run");
    let mut profile = object(
        KEYS,
        |key| of_value(&types[key]),
        |key| {
            let mut options = options.iter();
            let option = options.find(|option| option.name.trim_start_matches('-') == key);
            option.expect("a key is an option").meaning.clone()
        },
    );
    let types = keys("overrides.rs", "Override");
    let page = Page::of_book("configuration");
    let mut overrides =
        object(OVERRIDE_KEYS, |key| of_value(&types[key]), |key| meaning(&page, key));
    overrides["required"] = json!(["filter"]);
    profile["properties"]["overrides"] = json!({
        "description": "Settings for single tests; the first that matches has precedence",
        "type": "array",
        "items": overrides,
    });
    let page = Page::of_book("prerequisites");
    let mut sanitise = object(
        SANITISE_KEYS,
        |key| match key {
            "error" => {
                let words = words(ERRORS);
                json!({ "anyOf": [words, { "type": "array", "items": words, "minItems": 1 }] })
            }
            "operation" => {
                let words = words(OPERATIONS);
                json!({ "anyOf": [words, { "type": "array", "items": words, "minItems": 1 }] })
            }
            "target" => json!({ "type": "string" }),
            _ => json!({ "type": "string", "minLength": 1 }),
        },
        |key| meaning(&page, key),
    );
    sanitise["required"] = json!(["error", "name", "operation", "reason"]);
    let sanitise = json!({
        "description": "Prerequisites of tests, whose absence explains failures",
        "type": "array",
        "items": sanitise,
    });
    let schema = json!({
        "$schema": DRAFT,
        "title": "Configuration of cargo nondex, .config/nondex.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "profile": {
                "description": "Profiles by name; missing keys come from `default`",
                "type": "object",
                "additionalProperties": profile,
            },
            "sanitise": sanitise,
            "sanitize": sanitise,
        },
    });
    expect_kept("configuration", &schema);
}
