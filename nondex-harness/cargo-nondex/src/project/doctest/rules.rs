//! Parses a crate's rules for all its doctests: `#![doc(test(…))]`.

use proc_macro2::TokenStream;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Expr, Meta, Token, parenthesized, token};

/// Attributes that only set lint levels. They have no effect, because lints are capped.
const LINTS: [&str; 5] = ["allow", "deny", "expect", "forbid", "warn"];

/// Returns whether a doctest that names the crate with this root source file gets an `extern crate`
/// for it. Returns `None` if the file has an unknown rule.
pub(super) fn make_crate_known(root: &str) -> Option<bool> {
    let mut is_known = true;
    let file = syn::parse_file(root).ok()?;
    let lists = file.attrs.iter().filter(|attribute| {
        attribute.path().is_ident("doc") && matches!(attribute.meta, Meta::List(_))
    });
    for list in lists {
        list.parse_nested_meta(|meta| {
            if !meta.path.is_ident("test") {
                return skip(&meta);
            }
            meta.parse_nested_meta(|rule| {
                if rule.path.is_ident("no_crate_inject") {
                    is_known = false;
                    return Ok(());
                }
                expect_lints(&rule)
            })
        })
        .ok()?;
    }
    Some(is_known)
}

/// Parses a rule that adds attributes.
///
/// # Errors
/// Returns an error if the rule is unknown, or the attributes do more than set lint levels.
fn expect_lints(rule: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if !rule.path.is_ident("attr") {
        return Err(rule.error("another rule"));
    }
    let content;
    parenthesized!(content in rule.input);
    let attributes = Punctuated::<Meta, Token![,]>::parse_terminated(&content)?;
    let is_lint = |meta: &Meta| LINTS.iter().any(|lint| meta.path().is_ident(lint));
    if attributes.iter().all(is_lint) { Ok(()) } else { Err(rule.error("another attribute")) }
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
        for (root, expected) in [
            ("//! Text.\nfn f() {}", Some(true)),
            (
                "#![doc(html_root_url = \"x\", test(attr(deny(warnings), allow(unused))))]",
                Some(true),
            ),
            ("#![doc(cfg(hide(a)), test(no_crate_inject, attr(warn(x))))]", Some(false)),
            ("#![doc(test(attr(feature(x))))]", None),
            ("#![doc(test(another))]", None),
            ("fn", None),
        ] {
            assert_eq!(make_crate_known(root), expected, "{root}");
        }
    }
}
