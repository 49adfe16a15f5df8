//! Declarations in one spelling: bounds in one place, lifetimes numbered, and without the unstable
//! allocator.

use std::collections::BTreeSet;
use std::fmt;

/// Bound of the unstable allocator parameter of std's collections.
const ALLOCATOR: &str = "A: Allocator";

/// Parsed declaration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Signature {
    /// Declaration without the parameters of `impl` or `fn`, and without the bounds.
    pub(crate) subject: String,
    /// Names and kinds of the generic parameters, in order.
    parameters: Vec<String>,
    /// Separate bounds: `K: Eq`, `K: Hash`.
    bounds: BTreeSet<String>,
}

impl Signature {
    /// Parses a declaration as rustdoc prints it, with white space joined.
    pub(crate) fn parse(declaration: &str) -> Signature {
        let declaration =
            declaration.split(" /* ").next().unwrap_or_default().trim_end_matches('{').trim();
        let (head, clause) = match declaration.find(" where ") {
            Some(at) => (&declaration[..at], &declaration[at + " where ".len()..]),
            None => (declaration, ""),
        };
        let mut signature =
            Signature { subject: String::new(), parameters: Vec::new(), bounds: BTreeSet::new() };
        signature.subject = match generics(head) {
            Some((before, list, after)) => {
                split(list, ',')
                    .into_iter()
                    .for_each(|parameter| signature.add_parameter(parameter));
                format!("{before}{after}")
            }
            None => head.to_owned(),
        };
        for bound in split(clause, ',') {
            signature.add_bounds(bound);
        }
        signature.subject = spaced(&signature.subject);
        signature.without_allocator()
    }

    /// Returns this method or associated type as part of `implementation`: with the parameters and
    /// bounds of both.
    pub(crate) fn within(mut self, implementation: Option<&Signature>) -> Signature {
        if let Some(implementation) = implementation {
            self.subject = format!("{}: {}", implementation.subject, self.subject);
            self.parameters.splice(0..0, implementation.parameters.iter().cloned());
            self.bounds.extend(implementation.bounds.iter().cloned());
        }
        self
    }

    fn add_parameter(&mut self, parameter: &str) {
        // A default is part of the declaration, but the bounds before it are not.
        let (parameter, default) = match parameter.split_once(" = ") {
            Some((parameter, default)) => (parameter, format!(" = {default}")),
            None => (parameter, String::new()),
        };
        if parameter.starts_with("const ") {
            self.parameters.push(parameter.to_owned());
            return;
        }
        let name = parameter.split(':').next().unwrap_or_default().trim();
        self.parameters.push(format!("{name}{default}"));
        self.add_bounds(parameter);
    }

    fn add_bounds(&mut self, predicate: &str) {
        let Some((subject, bounds)) = predicate.split_once(": ") else { return };
        // The binder of `for<'a> F: …` stays with its subject.
        for bound in split(bounds, '+') {
            self.bounds.insert(format!("{}: {bound}", subject.trim()));
        }
    }

    /// Removes the allocator of a collection, which no stable program can name.
    fn without_allocator(mut self) -> Signature {
        let has_allocator = self.bounds.contains(ALLOCATOR)
            || self.parameters.iter().any(|parameter| parameter == "A = Global")
            || self.parameters.last().is_some_and(|last| last == "A")
                && self.subject.contains(", A>");
        self.subject = self.subject.replace(", A>", ">");
        if has_allocator {
            self.parameters.retain(|parameter| parameter != "A" && parameter != "A = Global");
            self.bounds.retain(|bound| !bound.starts_with("A: "));
        }
        self
    }
}

impl fmt::Display for Signature {
    /// Writes one line. Two declarations with the same meaning give the same line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A lifetime without bounds may be elided, and its name does not matter.
        let types: Vec<&str> = self
            .parameters
            .iter()
            .map(String::as_str)
            .filter(|name| !name.starts_with('\''))
            .collect();
        let mut line = self.subject.clone();
        if !types.is_empty() {
            line.push_str(&format!(" for {}", types.join(", ")));
        }
        if !self.bounds.is_empty() {
            let bounds: Vec<&str> = self.bounds.iter().map(String::as_str).collect();
            line.push_str(&format!(" where {}", bounds.join(", ")));
        }
        f.write_str(&numbered(&line))
    }
}

/// Returns the generic parameters directly after `impl` or the declared name, with the text before
/// and after them.
fn generics(head: &str) -> Option<(&str, &str, &str)> {
    let start = head.find('<')?;
    // In `fn f(x: Vec<T>)` and `impl Tr for Vec<T>`, the first bracket belongs to a type.
    let before = &head[..start];
    let declares = if before.contains("impl") {
        before.ends_with("impl")
    } else {
        !before.contains(['(', '='])
    };
    if !declares {
        return None;
    }
    let end = start + close(&head[start..])?;
    Some((&head[..start], &head[start + 1..end], &head[end + 1..]))
}

/// Returns the index of the bracket that closes the one at the start of `text`.
fn close(text: &str) -> Option<usize> {
    let (mut depth, mut previous) = (0_usize, ' ');
    for (at, letter) in text.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if previous != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        previous = letter;
    }
    None
}

/// Splits `text` at a separator outside of all brackets. Omits empty pieces.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut pieces, mut depth, mut start, mut previous) = (Vec::new(), 0_i32, 0, ' ');
    for (at, letter) in text.char_indices() {
        match letter {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if previous == '-' => {}
            '>' | ')' | ']' | '}' => depth -= 1,
            _ if letter == separator && depth == 0 => {
                pieces.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
        previous = letter;
    }
    pieces.push(&text[start..]);
    pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty()).collect()
}

/// Removes the white space and the comma of a list that is broken over lines.
fn spaced(text: &str) -> String {
    text.replace("( ", "(").replace(", )", ")").replace("{ ", "{").replace(", }", "}")
}

/// Numbers the lifetimes of `line` in order of appearance. `'static` stays, and each `'_` has a
/// separate number.
fn numbered(line: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut result = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\'') {
        let (before, from) = rest.split_at(at);
        result.push_str(before);
        let end = from[1..]
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(from.len(), |end| end + 1);
        let name = &from[..end];
        if name == "'static" {
            result.push_str(name);
        } else {
            let known = names.iter().position(|known| *known == name && name != "'_");
            let index = known.unwrap_or_else(|| {
                names.push(name);
                names.len() - 1
            });
            result.push_str(&format!("'{index}"));
        }
        rest = &from[end..];
    }
    result.push_str(rest);
    result
}

#[test]
fn declarations_that_mean_the_same_are_spelt_the_same() {
    let same = |one: &str, other: &str| {
        assert_eq!(Signature::parse(one).to_string(), Signature::parse(other).to_string());
    };
    same("impl<K: Eq + Hash, V> X for M<K, V>", "impl<K, V> X for M<K, V> where K: Hash + Eq,");
    same("impl<'a, K> X for M<'a, K>", "impl<K> X for M<'_, K>");
    same("impl<K, A: Allocator> X for M<K, A>", "impl<K> X for M<K>");
    same("impl<K, A> X for M<K, A> where A: Allocator + Clone,", "impl<K> X for M<K>");
    same("impl<K, A = Global> !X for M<K, A>", "impl<K> !X for M<K>");
    same(
        "pub fn f<F: FnOnce(&K) -> V>( self, f: F, ) -> V",
        "pub fn f<F>(self, f: F) -> V where F: FnOnce(&K) -> V,",
    );
    same(
        "pub struct M<K, A: Allocator = Global> { /* private fields */ }",
        "pub struct M<K> { /* private fields */ }",
    );
}

#[test]
fn declarations_that_differ_stay_different() {
    let differ = |one: &str, other: &str| {
        assert_ne!(Signature::parse(one).to_string(), Signature::parse(other).to_string());
    };
    differ("impl<K: Eq, V> X for M<K, V>", "impl<K, V> X for M<K, V>");
    differ("impl Send for M", "impl !Send for M");
    differ("pub const fn f() -> M", "pub fn f() -> M");
    differ("pub struct M<K, S = RandomState>", "pub struct M<K, S>");
    differ("pub fn f<'a>(x: &'a K, y: &K) -> &'a V", "pub fn f<'a>(x: &K, y: &'a K) -> &'a V");
    differ("impl<'a, K: 'a> X for M<'a, K>", "impl<'a, K> X for M<'a, K>");
}
