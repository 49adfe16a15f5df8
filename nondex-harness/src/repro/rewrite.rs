//! The expression that creates a collection, with a capacity put in: a textual change of one line.

use regex::Regex;

/// A line in which the expression at `column` (from 1, when known) creates the collection with `capacity`, which is an
/// expression; `collection` is `HashMap` or `HashSet`. The number of lines stays. `None` when it is no such expression.
pub(super) fn with_capacity(
    line: &str,
    column: Option<u32>,
    collection: &str,
    capacity: &str,
) -> Option<String> {
    // Columns count characters.
    let start = column.map_or(0, |column| {
        let mut indices = line.char_indices();
        let index = indices.nth((column as usize).saturating_sub(1));
        index.map_or(line.len(), |(index, _)| index)
    });
    // From the column, or the only one of the line: a method's column is that of its name, not of what it is called on.
    rewrite(&line[start..], collection, capacity)
        .map(|rest| line[..start].to_owned() + &rest)
        .or_else(|| rewrite(line, collection, capacity))
}

fn rewrite(text: &str, collection: &str, capacity: &str) -> Option<String> {
    let pattern = Regex::new(
        r"(?x)
        (?<default>(?<path>[\w:<>,\ ]*[\w>])::default\(\))
        | (?<hasher>\bwith_hasher\()
        | (?<capacity>\bwith_capacity_and_hasher\()
        | (?<collect>\.?collect(::<(?<type>.+)>)?\(\))
        ",
    )
    .expect("the pattern is valid");
    let found = pattern.captures(text)?;
    let whole = found.get(0)?;
    let (before, after) = (&text[..whole.start()], &text[whole.end()..]);
    let made = |path: &str| {
        format!("{path}::with_capacity_and_hasher({capacity}, ::core::default::Default::default())")
    };
    if let Some(path) = found.name("path") {
        let (space, path) = split_path(path.as_str());
        let std = format!("::std::collections::{collection}");
        let path = if path == "Default" { &std } else { path };
        return Some(format!("{before}{space}{}{after}", made(path)));
    }
    if found.name("hasher").is_some() {
        return Some(format!(
            "{before}with_capacity_and_hasher({capacity}, {after}"
        ));
    }
    if let Some(name) = found.name("capacity") {
        let comma = top_level_comma(after)?;
        return Some(format!(
            "{before}{}{capacity}{}",
            name.as_str(),
            &after[comma..]
        ));
    }
    // What `collect` does, but for the capacity.
    let path = match found.name("type") {
        Some(given) => format!("<{}>", given.as_str()),
        None => format!("::std::collections::{collection}"),
    };
    let dot = if whole.as_str().starts_with('.') {
        "."
    } else {
        ""
    };
    Some(format!(
        "{before}{dot}fold({}, |mut made, element| {{ made.extend([element]); made }}){after}",
        made(&path)
    ))
}

/// What stands before a path, and the path: generic arguments belong to it, whatever else has spaces does not.
fn split_path(text: &str) -> (&str, &str) {
    let mut depth = 0;
    for (index, c) in text.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' => depth -= 1,
            ' ' | ',' if depth == 0 => return text.split_at(index + 1),
            _ => {}
        }
    }
    ("", text)
}

/// Where the first argument ends.
fn top_level_comma(arguments: &str) -> Option<usize> {
    let mut depth = 0;
    for (index, c) in arguments.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => return None,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => return Some(index),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(line: &str, column: u32) -> Option<String> {
        with_capacity(line, Some(column), "HashSet", "8")
    }

    #[test]
    fn what_creates_a_collection_is_given_a_capacity() {
        let default = "::core::default::Default::default()";
        for (line, column, expected) in [
            (
                "    let set = FxHashSet::default();",
                15,
                format!("    let set = FxHashSet::with_capacity_and_hasher(8, {default});"),
            ),
            (
                "let set: Fixed<u64> = Default::default();",
                23,
                format!(
                    "let set: Fixed<u64> = ::std::collections::HashSet::with_capacity_and_hasher(8, {default});"
                ),
            ),
            (
                "let a = HashSet::<u64, Hash<u8>>::default();",
                9,
                format!(
                    "let a = HashSet::<u64, Hash<u8>>::with_capacity_and_hasher(8, {default});"
                ),
            ),
            (
                "Set { a: 1, items: HashSet::with_hasher(Fixed::new(1, 2)) }",
                20,
                "Set { a: 1, items: HashSet::with_capacity_and_hasher(8, Fixed::new(1, 2)) }"
                    .to_owned(),
            ),
            (
                "HashSet::with_capacity_and_hasher(a.min(1, 2), Fixed)",
                1,
                "HashSet::with_capacity_and_hasher(8, Fixed)".to_owned(),
            ),
            (
                "    values.into_iter().collect()",
                24,
                format!(
                    "    values.into_iter().fold(::std::collections::HashSet::with_capacity_and_hasher(8, {default}), \
                     |mut made, element| {{ made.extend([element]); made }})"
                ),
            ),
            (
                "    values.collect::<Fixed<u64>>().len()",
                12,
                format!(
                    "    values.fold(<Fixed<u64>>::with_capacity_and_hasher(8, {default}), \
                     |mut made, element| {{ made.extend([element]); made }}).len()"
                ),
            ),
        ] {
            assert_eq!(rewritten(line, column), Some(expected), "{line}");
        }
    }

    #[test]
    fn anything_else_is_left_alone() {
        assert_eq!(rewritten("let set = make();", 11), None);
        assert_eq!(rewritten("HashSet::from_iter(values)", 1), None);
        assert_eq!(rewritten("", 9), None);
    }
}
