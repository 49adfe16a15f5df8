//! The functions of a source file, by its token trees, and how alike two of them are.
//!
//! Token trees are found in whatever can be split into tokens at all, also in the arguments of a
//! macro.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    /// The modules of the file that it is in, from outside.
    pub(super) modules: Vec<String>,
    /// What it is called.
    pub(super) name: String,
    /// The tokens of its body.
    body: Vec<String>,
}

impl Function {
    /// How many tokens its body has.
    pub(super) const fn len(&self) -> usize {
        self.body.len()
    }

    /// How much two bodies have in common, from 0 to 1: twice the pairs of adjacent tokens that
    /// both have, of all that they have (Dice's coefficient).
    pub(super) fn likeness(&self, other: &Self) -> f64 {
        if self.body == other.body {
            return 1.0;
        }
        let mut pairs: BTreeMap<&[String], i64> = BTreeMap::new();
        for pair in self.body.windows(2) {
            *pairs.entry(pair).or_default() += 1;
        }
        let mut common = 0;
        for pair in other.body.windows(2) {
            if let Some(left) = pairs.get_mut(pair).filter(|left| **left > 0) {
                *left -= 1;
                common += 2;
            }
        }
        let all = (self.body.len() + other.body.len()).saturating_sub(2).max(1);
        f64::from(common) / all as f64
    }
}

/// The functions with a body; `None` of a text that cannot be split into tokens.
pub(super) fn functions(text: &str) -> Option<Vec<Function>> {
    let tokens: TokenStream = text.parse().ok()?;
    let mut found = Vec::new();
    collect(tokens, &mut Vec::new(), &mut found);
    Some(found)
}

fn collect(tokens: TokenStream, modules: &mut Vec<String>, found: &mut Vec<Function>) {
    let is_word = |token: Option<&TokenTree>, word: &str| {
        matches!(token,
        Some(TokenTree::Ident(ident)) if *ident == word)
    };
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    // The function whose body comes.
    let mut head: Option<String> = None;
    for (index, token) in tokens.iter().enumerate() {
        let before = |back: usize| index.checked_sub(back).and_then(|index| tokens.get(index));
        match token {
            TokenTree::Ident(name) if is_word(before(1), "fn") => head = Some(name.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == ';' => head = None,
            TokenTree::Group(group) => {
                let is_block = group.delimiter() == Delimiter::Brace;
                if let Some(name) = head.take_if(|_| is_block) {
                    let mut body = Vec::new();
                    flatten(group.stream(), &mut body);
                    found.push(Function { modules: modules.clone(), name, body });
                }
                let module = match before(1) {
                    Some(TokenTree::Ident(name)) if is_block && is_word(before(2), "mod") => {
                        Some(name.to_string())
                    }
                    _ => None,
                };
                let is_module = module.is_some();
                modules.extend(module);
                collect(group.stream(), modules, found);
                if is_module {
                    modules.pop();
                }
            }
            _ => {}
        }
    }
}

fn flatten(tokens: TokenStream, into: &mut Vec<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let marks = match group.delimiter() {
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::None => ["", ""],
                };
                into.push(marks[0].to_owned());
                flatten(group.stream(), into);
                into.push(marks[1].to_owned());
            }
            token => into.push(token.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_in_modules_and_in_macros() {
        let text = "fn a<T>(f: fn(T) -> T) -> [u8; { 2 }] where T: Copy { 1 }\n\
            trait T { fn without(&self); }\n\
            mod m { mod n { #[test] async fn b() { fn inner() {} } } fn c() {} }\n\
            macro! { #[test] fn d(x in 0..9) { assert!(x < 9) } }\n";
        let found = functions(text).unwrap();
        let names: Vec<(String, &str)> = found
            .iter()
            .map(|function| (function.modules.join("::"), function.name.as_str()))
            .collect();
        let expected = [("", "a"), ("m::n", "b"), ("m::n", "inner"), ("m", "c"), ("", "d")];
        assert_eq!(names, expected.map(|(modules, name)| (modules.to_owned(), name)));
        assert_eq!(functions("fn a() {"), None);
    }

    #[test]
    fn likeness_is_one_for_the_same_tokens_and_falls_with_each_that_differs() {
        let of = |body: &str| functions(&format!("fn a() {{ {body} }}")).unwrap().remove(0);
        let first = of("let x = f(1); assert_eq!(x, 2);");
        assert_eq!(first.likeness(&of("let x = f(1);\n // why\n assert_eq!(x, 2);")), 1.0);
        let near = first.likeness(&of("let x = f(1); assert_eq!(x, 3);"));
        let far = first.likeness(&of("for y in [3] { g(y) }"));
        assert!((0.8..1.0).contains(&near), "{near}");
        assert!(far < 0.3, "{far}");
        assert_eq!(of("").likeness(&of("")), 1.0);
        assert_eq!(of("").likeness(&first), 0.0);
    }
}
