//! The documentation of public types, read from their source.

use std::fs;
use std::path::Path;

use nondex_harness::report::schema::{MAX_FAILURES, SCHEMA};

/// A struct or an enumeration.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) is_struct: bool,
    /// The public fields, or the variants as they are serialised.
    pub(crate) items: Vec<Item>,
}

/// A field or a variant.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) doc: String,
    /// The type of a field.
    pub(crate) kind: String,
}

/// The public types of a file, formatted by rustfmt, that are serialised.
pub(crate) fn types(file: &Path) -> Vec<Type> {
    let text = fs::read_to_string(file).unwrap();
    // A long list of traits is on a line of its own.
    let text = text
        .replace("#[derive(\n    ", "#[derive(")
        .replace(",\n)]", ")]");
    let mut types: Vec<Type> = Vec::new();
    let mut doc = String::new();
    let mut serialised = false;
    let mut rename = None;
    let mut open = false;
    let mut derives = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(part) = trimmed.strip_prefix("///") {
            doc += part;
        } else if trimmed.starts_with("#[derive(") || derives {
            // One that is long has its traits on the next line.
            serialised = trimmed.contains("Serialize") || derives && serialised;
            derives = !trimmed.ends_with(")]");
        } else if let Some(rest) = trimmed.strip_prefix("#[serde(rename = \"") {
            rename = rest.split('"').next().map(str::to_owned);
        } else if trimmed.starts_with("#[") {
        } else if open && line == "}" {
            open = false;
            doc.clear();
        } else if open && line.starts_with("    ") && !line.starts_with("     ") {
            let found = types.last_mut().expect("it is open");
            let item = trimmed.trim_end_matches(',');
            let item = if found.is_struct {
                item.strip_prefix("pub ")
                    .and_then(|item| item.split_once(": "))
            } else {
                Some((item, ""))
            };
            if let Some((name, kind)) = item {
                let snake = || name.split('(').next().unwrap_or(name).to_lowercase();
                let name = if found.is_struct {
                    name.to_owned()
                } else {
                    rename.take().unwrap_or_else(snake)
                };
                found.items.push(Item {
                    name,
                    kind: kind.to_owned(),
                    doc: plain(&doc),
                });
            }
            doc.clear();
        } else {
            let declared = ["pub struct ", "pub enum "];
            let start = declared
                .iter()
                .find(|start| line.starts_with(**start) && line.ends_with('{'));
            if let Some(start) = start.filter(|_| serialised) {
                let name = line[start.len()..].trim_end_matches(['{', ' ']).to_owned();
                let is_struct = *start == declared[0];
                types.push(Type {
                    name,
                    doc: plain(&doc),
                    is_struct,
                    items: Vec::new(),
                });
                open = true;
            }
            doc.clear();
            serialised = false;
        }
    }
    types
}

/// A doc comment as a reader of JSON needs it: without links, which lead to items of the source, and with the values of constants.
fn plain(doc: &str) -> String {
    let text = without_links(doc);
    let text = text.replace("`SCHEMA`", &format!("`{SCHEMA}`"));
    let text = text.replace("`MAX_FAILURES`", &MAX_FAILURES.to_string());
    text.replace("`TestReport::", "`")
}

fn without_links(doc: &str) -> String {
    let mut text = String::new();
    let mut rest = doc.trim();
    while let Some(start) = rest.find('[') {
        let (before, link) = rest.split_at(start);
        text += before;
        let Some(end) = link.find(']') else { break };
        text += &link[1..end];
        rest = &link[end + 1..];
        if rest.starts_with('(') {
            rest = rest.split_once(')').map_or("", |(_, after)| after);
        }
    }
    text + rest
}

/// The type of a field as JSON has it. Other types keep their names.
pub(crate) fn json_type(kind: &str) -> String {
    let inside = |start: &str| kind.strip_prefix(start)?.strip_suffix('>');
    if let Some(inner) = inside("Option<") {
        return format!("{} or null", json_type(inner));
    }
    if let Some(inner) = inside("Vec<") {
        return format!("list of {}", json_type(inner));
    }
    if let Some(inner) = inside("BTreeMap<") {
        let (key, value) = inner.split_once(", ").expect("a map has two types");
        return format!("object, {} to {}", json_type(key), json_type(value));
    }
    if let Some((inner, _)) = kind
        .strip_prefix('[')
        .and_then(|kind| kind.split_once("; "))
    {
        return format!("two of {}", json_type(inner));
    }
    match kind {
        "String" => "string",
        "bool" => "boolean",
        "u8" | "u32" | "u64" => "number",
        "Level" => "level",
        "Family" => "family",
        "Outcome" => "outcome",
        "Kind" | "Limit" | "NetworkMode" | "Schedule" => "string",
        other => other,
    }
    .to_owned()
}

/// Replaces a word, not a part of one.
pub(crate) fn replace_word(text: &str, word: &str, by: &str) -> String {
    let words = text
        .split(' ')
        .map(|found| if found == word { by } else { found });
    words.collect::<Vec<_>>().join(" ")
}
