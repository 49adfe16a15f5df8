//! What lines that are new add to a source, for code that was there before and did not change.
//!
//! Whoever names what is new has changed itself, unless the name meant something else until now. So
//! what matters is which names are new, and what acts without being named: a trait that a type has
//! now, an import, a macro that is called.

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::spanned::Spanned;

use super::changes::FileChange;
use super::syntax::{lines, named, number};

/// What is added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// Whether some of it acts without being named.
    pub is_distant: bool,
    /// Whether the file imports something else.
    pub has_imports: bool,
    /// The names.
    pub names: BTreeSet<String>,
    /// Those of modules that have files.
    pub modules: BTreeSet<String>,
}

/// What the lines of a change add. Nothing is known of a source that cannot be parsed: that is
/// distant. What is inside of a function that was there before is not looked at, but for lines that
/// its head has now and did not have.
pub fn additions(text: &str, change: &FileChange) -> Additions {
    let all: Vec<&str> = text.lines().collect();
    let is_code = |line: &u32| {
        let line = all.get((*line as usize).wrapping_sub(1));
        line.is_some_and(|line| !line.trim().is_empty() && !line.trim().starts_with("//"))
    };
    let mut found = Finder {
        lines: change.lines.iter().copied().filter(is_code).collect(),
        added: change.added.iter().copied().filter(is_code).collect(),
        code: (1..=number(all.len())).filter(is_code).collect(),
        found: Additions::default(),
    };
    match syn::parse_file(text) {
        Ok(file) => {
            found.attributes(&file.attrs);
            found.items(&file.items);
        }
        Err(_) => found.found.is_distant = true,
    }
    found.found
}

struct Finder {
    /// The lines that are new.
    lines: BTreeSet<u32>,
    /// Those of them that are in the place of nothing.
    added: BTreeSet<u32>,
    /// All that say something.
    code: BTreeSet<u32>,
    found: Additions,
}

/// How much of an item is new.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    None,
    Some,
    All,
}

/// Attributes that change nothing but what they are on.
const QUIET: [&str; 14] = [
    "allow",
    "cfg",
    "cold",
    "derive",
    "doc",
    "expect",
    "ignore",
    "inline",
    "must_use",
    "repr",
    "rstest",
    "should_panic",
    "test",
    "track_caller",
];

fn are_quiet(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().all(|attribute| {
        let last = attribute.path().segments.last();
        last.is_some_and(|last| QUIET.iter().any(|quiet| last.ident == quiet))
    })
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident("test"))
}

impl Finder {
    fn share(&self, of: Span) -> Share {
        let range = lines(&of);
        let new = self.lines.range(range.clone()).count();
        match new {
            0 => Share::None,
            new if new == self.code.range(range).count() => Share::All,
            _ => Share::Some,
        }
    }

    fn name(&mut self, name: &syn::Ident) {
        self.found.names.insert(name.to_string());
    }

    fn distant(&mut self) {
        self.found.is_distant = true;
    }

    fn attributes(&mut self, attributes: &[syn::Attribute]) {
        let mut others = attributes.iter().filter(|attribute| !attribute.path().is_ident("doc"));
        self.found.is_distant |=
            others.any(|attribute| self.share(attribute.span()) != Share::None);
    }

    fn items(&mut self, items: &[syn::Item]) {
        for item in items {
            match self.share(item.span()) {
                Share::None => {}
                Share::All => self.new_item(item),
                Share::Some => self.old_item(item),
            }
        }
    }

    fn function(&mut self, attributes: &[syn::Attribute], signature: &syn::Signature) {
        if !are_quiet(attributes) {
            self.distant();
        }
        // Nobody calls a test.
        if !is_test(attributes) {
            self.name(&signature.ident);
        }
    }

    fn named(&mut self, attributes: &[syn::Attribute], name: &syn::Ident) {
        if are_quiet(attributes) { self.name(name) } else { self.distant() }
    }

    fn new_item(&mut self, item: &syn::Item) {
        use syn::Item;
        match item {
            Item::Fn(item) => self.function(&item.attrs, &item.sig),
            Item::Mod(item) => {
                self.named(&item.attrs, &item.ident);
                if item.content.is_none() {
                    self.found.modules.insert(item.ident.to_string());
                }
                // Whatever its text, what it has inside may affect others; its names do not.
                let names = self.found.names.clone();
                let imports = self.found.has_imports;
                self.items(item.content.as_ref().map_or(&[][..], |(_, items)| items));
                self.found.names = names;
                self.found.has_imports = imports;
            }
            Item::Use(item) => self.import(item),
            Item::Impl(item) if item.trait_.is_none() => self.members(item),
            _ => match named(item) {
                Some((name, attributes)) => self.named(attributes, name),
                None => self.distant(),
            },
        }
    }

    fn import(&mut self, item: &syn::ItemUse) {
        self.found.has_imports = true;
        if !matches!(item.vis, syn::Visibility::Inherited) {
            self.distant();
        }
        self.imported(&item.tree);
    }

    fn imported(&mut self, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(path) => self.imported(&path.tree),
            syn::UseTree::Name(name) => self.name(&name.ident),
            syn::UseTree::Rename(rename) => self.name(&rename.rename),
            // In a separate file, it is an import like any other.
            syn::UseTree::Glob(_) => {}
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.imported(tree)),
        }
    }

    fn members(&mut self, item: &syn::ItemImpl) {
        for member in &item.items {
            match (self.share(member.span()), member) {
                (Share::None, _) => {}
                (Share::All, syn::ImplItem::Fn(member)) => {
                    self.function(&member.attrs, &member.sig);
                }
                (Share::All, syn::ImplItem::Const(member)) => {
                    self.named(&member.attrs, &member.ident);
                }
                (Share::Some, syn::ImplItem::Fn(member)) => {
                    self.old_function(member.span(), member.block.span());
                }
                _ => self.distant(),
            }
        }
    }

    /// A function that was there before: what is inside of it is looked at where it was.
    fn old_function(&mut self, all: Span, body: Span) {
        let head = number(all.start().line)..=number(body.start().line);
        self.found.is_distant |= self.added.range(head).next().is_some();
    }

    /// An item of which a part was there before.
    fn old_item(&mut self, item: &syn::Item) {
        use syn::Item;
        match item {
            Item::Fn(item) => self.old_function(item.span(), item.block.span()),
            Item::Use(item) => self.import(item),
            Item::Mod(item) => {
                self.attributes(&item.attrs);
                self.items(item.content.as_ref().map_or(&[][..], |(_, items)| items));
            }
            Item::Impl(item) if item.trait_.is_none() => {
                self.attributes(&item.attrs);
                self.head(item.impl_token.span(), item.brace_token.span.open());
                self.members(item);
            }
            Item::Impl(item) => {
                self.attributes(&item.attrs);
                self.head(item.impl_token.span(), item.brace_token.span.open());
                for member in &item.items {
                    match (self.share(member.span()), member) {
                        (Share::None, _) => {}
                        (Share::Some, syn::ImplItem::Fn(member)) => {
                            self.old_function(member.span(), member.block.span());
                        }
                        // What the trait provides otherwise is not what is called now.
                        _ => self.distant(),
                    }
                }
            }
            Item::Trait(item) => {
                self.attributes(&item.attrs);
                self.head(item.trait_token.span(), item.brace_token.span.open());
                for member in &item.items {
                    match (self.share(member.span()), member) {
                        (Share::None, _) => {}
                        (Share::All, syn::TraitItem::Fn(member)) if member.default.is_some() => {
                            self.function(&member.attrs, &member.sig);
                        }
                        (
                            Share::Some,
                            syn::TraitItem::Fn(syn::TraitItemFn { default: Some(body), .. }),
                        ) => self.old_function(member.span(), body.span()),
                        _ => self.distant(),
                    }
                }
            }
            _ => self.distant(),
        }
    }

    fn head(&mut self, from: Span, to: Span) {
        let range = number(from.start().line)..=number(to.start().line);
        self.found.is_distant |= self.lines.range(range).next().is_some();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the lines that end with `//+` add.
    fn added(text: &str) -> Additions {
        let lines = text.lines().zip(1..).filter(|(line, _)| line.ends_with("//+"));
        let lines: BTreeSet<u32> = lines.map(|(_, number)| number).collect();
        let change = FileChange { added: lines.clone(), lines, ..FileChange::default() };
        additions(text, &change)
    }

    #[test]
    fn what_is_new_is_known_by_its_names_unless_it_acts_without_them() {
        for (text, is_distant, names) in [
            ("fn a() {} //+", false, &["a"][..]),
            ("#[test] //+\nfn a() { //+\n    b(); //+\n} //+", false, &[]),
            ("#[ctor] //+\nfn a() {} //+", true, &["a"]),
            ("fn a() {\n    b(); //+\n}", false, &[]),
            ("struct A; //+\nconst B: u8 = 1; //+", false, &["A", "B"]),
            ("struct A {\n    b: u8, //+\n}", true, &[]),
            ("impl Drop for A { //+\n    fn drop(&mut self) {} //+\n} //+", true, &[]),
            ("impl T for A {\n    fn t(&self) {} //+\n}", true, &[]),
            ("impl T for A {\n    fn t(&self) {\n        a(); //+\n    }\n}", false, &[]),
            ("impl A {\n    fn t(&self) {} //+\n}", false, &["t"]),
            ("impl A { //+\n    fn t(&self) {} //+\n} //+", false, &["t"]),
            ("trait T {\n    fn t(&self) {} //+\n}", false, &["t"]),
            ("trait T {\n    fn t(&self); //+\n}", true, &[]),
            ("use a::{b as c, d}; //+", false, &["c", "d"]),
            ("pub use a::b; //+", true, &["b"]),
            (
                "#[cfg(test)] //+\nmod t { //+\n    use super::*; //+\n    fn a() {} //+\n} //+",
                false,
                &["t"],
            ),
            ("mod t { //+\n    impl Drop for A { fn drop(&mut self) {} } //+\n} //+", true, &["t"]),
            ("mod t {\n    fn a() {} //+\n}", false, &["a"]),
            ("m!(); //+", true, &[]),
            ("#![feature(a)] //+\nfn b() {}", true, &[]),
            ("fn a( { //+", true, &[]),
            ("mod a; //+", false, &["a"]),
            ("#[test]\n#[should_panic] //+\nfn a() {}", true, &[]),
            ("impl T for A {\n    #[cfg(x)] //+\n    fn t(&self) {}\n}", true, &[]),
            ("fn a(\n    b: u8, //+\n) {}", true, &[]),
        ] {
            let found = added(text);
            let names: BTreeSet<String> = names.iter().map(|&name| name.to_owned()).collect();
            assert_eq!((found.is_distant, found.names), (is_distant, names), "{text}");
        }
        assert!(added("use a::b; //+").has_imports);
        let modules = added("mod a; //+\nmod b {} //+").modules;
        assert_eq!(modules, BTreeSet::from(["a".to_owned()]));
    }
}
