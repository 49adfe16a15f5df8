//! The documentation of public types, read from their source.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cargo_nondex::report::schema::{MAX_FAILURES, SCHEMA};
use quote::ToTokens;

/// Struct or enumeration.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) is_struct: bool,
    /// Public fields, or serialised variants.
    pub(crate) items: Vec<Item>,
}

/// Field or variant.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) doc: String,
    /// Type of a field, or of a variant's content.
    pub(crate) kind: String,
    /// Whether a field may be absent.
    pub(crate) is_optional: bool,
}

/// Returns the public serialised types of a file.
pub(crate) fn types(file: &Path) -> Vec<Type> {
    let text = fs::read_to_string(file).unwrap();
    let found = syn::parse_file(&text).unwrap().items;
    let tables: BTreeMap<String, Names> = found.iter().filter_map(table).collect();
    let types = found.into_iter().filter_map(|item| match item {
        syn::Item::Struct(found) if is_public_and_serialised(&found.vis, &found.attrs) => {
            Some(Type {
                name: found.ident.to_string(),
                doc: doc(&found.attrs),
                is_struct: true,
                items: found.fields.iter().map(field).collect(),
            })
        }
        syn::Item::Enum(found)
            if tables.contains_key(&found.ident.to_string())
                || is_public_and_serialised(&found.vis, &found.attrs) =>
        {
            let names = tables.get(&found.ident.to_string());
            let is_kebab = serde(&found.attrs, "rename_all").is_some_and(|all| all == "kebab-case");
            Some(Type {
                name: found.ident.to_string(),
                doc: doc(&found.attrs),
                is_struct: false,
                items: found.variants.iter().map(|one| variant(one, is_kebab, names)).collect(),
            })
        }
        _ => None,
    });
    types.collect()
}

/// Serialised names of an enumeration's variants.
type Names = BTreeMap<String, String>;

/// Returns the enumeration that `words!` names, with these names.
fn table(item: &syn::Item) -> Option<(String, Names)> {
    let syn::Item::Macro(found) = item else {
        return None;
    };
    if found.mac.path.segments.last()?.ident != "words" {
        return None;
    }
    let tokens = found.mac.tokens.to_string();
    let (name, rows) = tokens.trim_end_matches('}').split_once('{')?;
    let rows = rows.split(',').filter_map(|row| row.split_once('='));
    let names = rows.map(|(variant, name)| {
        let name = name.trim().trim_matches('"');
        (variant.trim().to_owned(), name.to_owned())
    });
    Some((name.trim().to_owned(), names.collect()))
}

/// Returns whether a type is public and serialised.
fn is_public_and_serialised(visibility: &syn::Visibility, attributes: &[syn::Attribute]) -> bool {
    let mut derives = attributes.iter().filter(|one| one.path().is_ident("derive"));
    matches!(visibility, syn::Visibility::Public(_))
        && derives.any(|one| one.to_token_stream().to_string().contains("Serialize"))
}

fn field(field: &syn::Field) -> Item {
    Item {
        name: field.ident.as_ref().map_or_else(String::new, ToString::to_string),
        doc: doc(&field.attrs),
        kind: field.ty.to_token_stream().to_string().replace(' ', ""),
        is_optional: field.attrs.iter().any(|one| {
            let text = one.to_token_stream().to_string();
            one.path().is_ident("serde") && text.contains("skip_serializing_if")
        }),
    }
}

fn variant(variant: &syn::Variant, is_kebab: bool, names: Option<&Names>) -> Item {
    let name = variant.ident.to_string();
    let named = names.map(|names| names[&name].clone());
    let words = if is_kebab { kebab(&name) } else { name.to_lowercase() };
    Item {
        name: named.unwrap_or(words),
        doc: doc(&variant.attrs),
        kind: variant.fields.iter().next().map_or_else(String::new, |field| {
            field.ty.to_token_stream().to_string().replace(' ', "")
        }),
        is_optional: false,
    }
}

/// Converts `SameProcess` to `same-process`.
pub(crate) fn kebab(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push('-');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// Returns the doc comment of an item.
fn doc(attributes: &[syn::Attribute]) -> String {
    let lines = attributes.iter().filter_map(|one| match &one.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => text(&pair.value),
        _ => None,
    });
    plain(&lines.collect::<String>())
}

/// Returns the value of `#[serde(key = "…")]`.
fn serde(attributes: &[syn::Attribute], key: &str) -> Option<String> {
    let mut found = None;
    for one in attributes.iter().filter(|one| one.path().is_ident("serde")) {
        // Another key of the attribute ends the parser with an error. Such keys come after the one
        // that renames.
        let _ = one.parse_nested_meta(|meta| {
            if meta.path.is_ident(key) {
                found = text(&meta.value()?.parse()?);
            }
            Ok(())
        });
    }
    found
}

/// Returns the value of a string literal.
fn text(expression: &syn::Expr) -> Option<String> {
    match expression {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Adapts a doc comment for readers of JSON: removes links, which lead to items of the source, and
/// inserts the values of constants.
fn plain(doc: &str) -> String {
    without_links(doc)
        .replace("`SCHEMA`", &format!("`{SCHEMA}`"))
        .replace("`MAX_FAILURES`", &MAX_FAILURES.to_string())
        .replace("`TestReport::", "`")
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

/// Returns the JSON name of a field's type. Other types keep their names.
pub(crate) fn json_type(kind: &str) -> String {
    let inside = |start: &str| kind.strip_prefix(start)?.strip_suffix('>');
    if let Some(inner) = inside("Option<") {
        return format!("{} or null", json_type(inner));
    }
    if let Some(inner) = inside("Vec<") {
        return format!("list of {}", json_type(inner));
    }
    if let Some(inner) = inside("BTreeMap<") {
        let (key, value) = inner.split_once(',').expect("a map has two types");
        return format!("object, {} to {}", json_type(key), json_type(value));
    }
    if let Some((inner, _)) = kind.strip_prefix('[').and_then(|kind| kind.split_once(';')) {
        return format!("two of {}", json_type(inner));
    }
    match kind {
        "String" => "string",
        "bool" => "boolean",
        "u8" | "u32" | "u64" | "usize" | "f64" => "number",
        "Level" => "level",
        "Family" => "family",
        "Outcome" => "outcome",
        "Kind" | "SanitisedLimit" | "NetworkMode" | "Schedule" => "string",
        other => other,
    }
    .to_owned()
}

/// Replaces whole words.
pub(crate) fn replace_word(text: &str, word: &str, by: &str) -> String {
    let words = text.split(' ').map(|found| if found == word { by } else { found });
    words.collect::<Vec<_>>().join(" ")
}
