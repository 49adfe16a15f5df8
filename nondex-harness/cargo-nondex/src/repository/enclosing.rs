//! What holds lines of a source file: functions, types and statics, by whose names they are found
//! again in what the compiler makes of them.

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::attributes::may_be_read;
use super::syntax::{Lines, attributes, length, lines, named};

/// What holds some lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enclosing {
    /// Items with these names, wherever they are.
    Named(BTreeSet<String>),
    /// What its source does not show, such as what a macro makes of it.
    Unknown,
}

/// Whether a name is found again in a symbol as it stands in the source: it is of ASCII letters,
/// digits and underscores.
pub fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// What holds these lines of a source.
pub fn enclosing(text: &str, lines: &BTreeSet<u32>) -> Enclosing {
    let Ok(file) = syn::parse_file(text) else { return Enclosing::Unknown };
    let mut items = Items::default();
    items.visit_file(&file);
    let mut names = BTreeSet::new();
    for line in lines {
        let around = || items.found.iter().filter(|item| item.lines.contains(line));
        if around().any(|item| item.name.is_none()) {
            return Enclosing::Unknown;
        }
        let held = around().min_by_key(|item| length(&item.lines));
        names.extend(held.and_then(|item| item.name.clone()));
    }
    Enclosing::Named(names)
}

#[derive(Debug)]
struct Item {
    lines: Lines,
    /// Nothing of one that may become anything.
    name: Option<String>,
}

#[derive(Debug, Default)]
struct Items {
    found: Vec<Item>,
}

impl Items {
    fn item(&mut self, item: &impl Spanned, attributes: &[syn::Attribute], name: &syn::Ident) {
        let name = name.to_string();
        let name = name.strip_prefix("r#").unwrap_or(&name);
        let is_known =
            is_plain(name) && !may_be_read(attributes) && !attributes.iter().any(is_folded);
        self.found.push(Item { lines: lines(item), name: is_known.then(|| name.to_owned()) });
    }

    fn unknown(&mut self, item: &impl Spanned) {
        self.found.push(Item { lines: lines(item), name: None });
    }
}

/// Whether an attribute puts a function into those that call it.
fn is_folded(attribute: &syn::Attribute) -> bool {
    let is_always = |list: &syn::MetaList| list.tokens.to_string() == "always";
    attribute.path().is_ident("inline") && attribute.meta.require_list().is_ok_and(is_always)
}

impl<'a> Visit<'a> for Items {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.item(item, &item.attrs, &item.sig.ident);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.item(item, &item.attrs, &item.sig.ident);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.item(item, &item.attrs, &item.sig.ident);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item(&mut self, item: &'a syn::Item) {
        use syn::Item;
        match (item, named(item)) {
            (Item::Impl(_) | Item::Trait(_) | Item::Mod(_), _) if may_be_read(attributes(item)) => {
                self.unknown(item);
            }
            (Item::Trait(_) | Item::Type(_) | Item::Macro(_), Some(_)) => {}
            (_, Some((name, attributes))) => self.item(item, attributes, name),
            // A macro that is called may make anything.
            (Item::Macro(_) | Item::Verbatim(_), None) => self.unknown(item),
            _ => {}
        }
        visit::visit_item(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "use a::b;\n\
        #[derive(Clone)]\nstruct S(u8);\n\
        impl S {\n    fn one(&self) {\n        two();\n        fn two() {}\n    }\n}\n\
        #[other]\nmod m {\n    fn three() {}\n}\n\
        #[inline(always)]\nfn four() {}\n\
        static FIVE: u8 = 5;\n\
        fn r#six() {}\n";

    fn held(text: &str, lines: &[u32]) -> Option<Vec<String>> {
        match enclosing(text, &lines.iter().copied().collect()) {
            Enclosing::Named(names) => Some(names.into_iter().collect()),
            Enclosing::Unknown => None,
        }
    }

    #[test]
    fn lines_are_held_by_the_innermost_item_that_has_a_name() {
        for (lines, expected) in [
            (&[][..], Some(&[][..])),
            (&[2], Some(&["S"])),
            (&[4], Some(&[])),
            (&[5], Some(&["one"])),
            (&[6, 7], Some(&["one", "two"])),
            (&[12], None),
            (&[15], None),
            (&[16], Some(&["FIVE"])),
            (&[17], Some(&["six"])),
            (&[1], Some(&[])),
        ] {
            let expected =
                expected.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
            assert_eq!(held(TEXT, lines), expected, "{lines:?}");
        }
        assert_eq!(held("make! { fn one() {} }\n", &[1]), None);
        assert_eq!(held("fn ö() {}\n", &[1]), None);
        assert_eq!(held("fn one( {}\n", &[1]), None);
    }
}
