//! Parses a crate's rules for all its doctests: `#![doc(test(…))]`.

use proc_macro2::TokenStream;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Expr, Meta, Token, parenthesized, token};

/// Attributes that only set lint levels. They have no effect, because lints are capped.
const LINTS: [&str; 5] = ["allow", "deny", "expect", "forbid", "warn"];

/// Rules of a crate for its doctests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Whether a doctest that names the crate gets an `extern crate` for it.
    pub(super) makes_crate_known: bool,
}

impl Rules {
    /// Parses the rules in the root source file of a crate. Returns `None` if one is unknown.
    pub(super) fn read(root: &str) -> Option<Self> {
        let mut rules = Rules { makes_crate_known: true };
        let file = syn::parse_file(root).ok()?;
        let lists = file.attrs.iter().filter(|attribute| {
            attribute.path().is_ident("doc") && matches!(attribute.meta, Meta::List(_))
        });
        for list in lists {
            list.parse_nested_meta(|meta| {
                if meta.path.is_ident("test") {
                    meta.parse_nested_meta(|rule| rules.add(&rule))
                } else {
                    skip(&meta)
                }
            })
            .ok()?;
        }
        Some(rules)
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// Returns an error if the rule is unknown.
    fn add(&mut self, rule: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if rule.path.is_ident("no_crate_inject") {
            self.makes_crate_known = false;
            return Ok(());
        }
        if !rule.path.is_ident("attr") {
            return Err(rule.error("another rule"));
        }
        let content;
        parenthesized!(content in rule.input);
        let attributes = Punctuated::<Meta, Token![,]>::parse_terminated(&content)?;
        let is_lint = |meta: &Meta| LINTS.iter().any(|lint| meta.path().is_ident(lint));
        if attributes.iter().all(is_lint) { Ok(()) } else { Err(rule.error("another attribute")) }
    }
}

/// Skips the value of a part of an attribute.
fn skip(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        return meta.value()?.parse::<Expr>().map(drop);
    }
    if meta.input.peek(token::Paren) {
        let content;
        parenthesized!(content in meta.input);
        return content.parse::<TokenStream>().map(drop);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_a_crate_are_those_of_its_root() {
        let known = |makes_crate_known| Some(Rules { makes_crate_known });
        for (root, expected) in [
            ("//! Text.\nfn f() {}", known(true)),
            (
                "#![doc(html_root_url = \"x\", test(attr(deny(warnings), allow(unused))))]",
                known(true),
            ),
            ("#![doc(cfg(hide(a)), test(no_crate_inject, attr(warn(x))))]", known(false)),
            ("#![doc(test(attr(feature(x))))]", None),
            ("#![doc(test(another))]", None),
            ("fn", None),
        ] {
            assert_eq!(Rules::read(root), expected, "{root}");
        }
    }
}
