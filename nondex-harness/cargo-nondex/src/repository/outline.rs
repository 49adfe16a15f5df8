//! What of a source file acts on code that names it without running it: what functions take and
//! give, which arms a `match` has, and what is imported for others.

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens;
use syn::visit::{self, Visit};

/// The outline of a file.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// The functions, by where they are: all that are called so there.
    functions: BTreeMap<Vec<String>, Vec<Function>>,
    /// Path of each name that is re-exported, by module; of all that a module has, the name is `*`.
    exports: BTreeMap<(Vec<String>, String), BTreeSet<String>>,
    /// Where the visitor is.
    place: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Function {
    /// How many values it takes.
    count: usize,
    /// The types of these and of what it gives, and what these depend on.
    types: Vec<String>,
    /// The patterns and the conditions of its arms.
    arms: Vec<String>,
}

impl Outline {
    /// That of a source; nothing is known of one that cannot be parsed.
    pub(super) fn of(text: &str) -> Self {
        let file = syn::parse_file(text);
        file.map_or_else(|_| Outline::default(), |file| Outline::of_file(&file))
    }

    /// That of a source which is parsed.
    pub(super) fn of_file(file: &syn::File) -> Self {
        let mut outline = Outline::default();
        outline.visit_file(file);
        outline
    }

    /// Whether a function has the same arms as before. Not when there was none.
    pub(super) fn has_same_arms(&self, before: &Self, place: &[String]) -> bool {
        let arms = |outline: &Self| {
            let arms = outline.functions.get(place)?.iter().map(|function| function.arms.clone());
            Some(arms.collect::<Vec<_>>())
        };
        arms(self).is_some_and(|now| arms(before) == Some(now))
    }

    /// Whether a function gives something of another type than before, or takes it: then what names
    /// it may mean something else, also where it is not called. If it takes more or less, whatever
    /// calls it has changed, too.
    pub(super) fn has_other_types(&self, before: &Self, place: &[String]) -> bool {
        let (now, before) = (self.functions.get(place), before.functions.get(place));
        let Some((now, before)) = now.zip(before) else { return false };
        let is_other = |(now, before): (&Function, &Function)| {
            now.count == before.count && now.types != before.types
        };
        now.len() != before.len() || now.iter().zip(before).any(is_other)
    }

    /// The names that are imported for others and were not before; nothing when one that was means
    /// something else now.
    pub(super) fn new_exports(&self, before: &Self) -> Option<Vec<&str>> {
        let was = |(key, paths): (&(Vec<String>, String), &BTreeSet<String>)| {
            self.exports.get(key) == Some(paths)
        };
        let mut new = self.exports.keys();
        let mut names = Vec::new();
        if !before.exports.iter().all(was) {
            return None;
        }
        new.try_for_each(|key| match before.exports.contains_key(key) {
            true => Some(()),
            false if key.1 == "*" => None,
            false => {
                names.push(key.1.as_str());
                Some(())
            }
        })?;
        Some(names)
    }

    fn inside(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.place.push(name);
        visit(self);
        self.place.pop();
    }

    fn function(&mut self, signature: &syn::Signature, body: Option<&syn::Block>) {
        let types = signature.inputs.iter().map(|input| match input {
            syn::FnArg::Receiver(receiver) => text(receiver),
            syn::FnArg::Typed(typed) => text(&typed.ty),
        });
        let others = [
            text(&signature.generics),
            text(&signature.generics.where_clause),
            text(&signature.output),
            text(&signature.asyncness),
        ];
        let function = Function {
            count: signature.inputs.len(),
            types: types.chain(others).collect(),
            arms: body.map(arms).unwrap_or_default(),
        };
        let mut place = self.place.clone();
        place.push(signature.ident.to_string());
        self.functions.entry(place).or_default().push(function);
    }

    fn imported(&mut self, tree: &syn::UseTree, path: &str, of: &str) {
        let (name, path) = match tree {
            syn::UseTree::Path(part) => {
                return self.imported(&part.tree, &format!("{path}::{}", part.ident), of);
            }
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.imported(tree, path, of));
            }
            syn::UseTree::Name(name) => (name.ident.to_string(), format!("{path}::{}", name.ident)),
            syn::UseTree::Rename(name) => {
                (name.rename.to_string(), format!("{path}::{}", name.ident))
            }
            syn::UseTree::Glob(_) => ("*".to_owned(), path.to_owned()),
        };
        let key = (self.place.clone(), name);
        self.exports.entry(key).or_default().insert(format!("{of} {path}"));
    }
}

fn text(of: &impl ToTokens) -> String {
    of.to_token_stream().to_string()
}

/// The patterns and the conditions of the arms in a body, in the order in which they stand.
fn arms(body: &syn::Block) -> Vec<String> {
    #[derive(Default)]
    struct Arms(Vec<String>);
    impl<'a> Visit<'a> for Arms {
        fn visit_arm(&mut self, arm: &'a syn::Arm) {
            let attributes: String = arm.attrs.iter().map(text).collect();
            // A condition is a part of the pattern.
            self.0.push(format!("{attributes} {}", text(&arm.pat)));
            visit::visit_arm(self, arm);
        }
    }
    let mut arms = Arms::default();
    arms.visit_block(body);
    arms.0
}

/// What an `impl` is called in paths of functions.
pub(super) fn name_of_impl(item: &syn::ItemImpl) -> String {
    let of_trait = item.trait_.as_ref().map(|(path, _)| text(path));
    format!("{of_trait:?} for {}", text(&item.self_ty))
}

impl<'a> Visit<'a> for Outline {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        self.inside(item.ident.to_string(), |outline| {
            visit::visit_item_mod(outline, item);
        });
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        self.inside(name_of_impl(item), |outline| {
            visit::visit_item_impl(outline, item);
        });
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.inside(item.ident.to_string(), |outline| {
            visit::visit_item_trait(outline, item);
        });
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(&item.sig, Some(&item.block));
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(&item.sig, Some(&item.block));
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.function(&item.sig, item.default.as_ref());
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        if !matches!(item.vis, syn::Visibility::Inherited) {
            let attributes: String = item.attrs.iter().map(text).collect();
            let of = format!("{attributes} {}", text(&item.vis));
            self.imported(&item.tree, "", &of);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "pub use a::{b, c as d};\nimpl A {\n    \
        fn one(&self, b: u8) -> u8 { match b { 1 => 2, n if n > 3 => 4, _ => 5 } }\n}\n";

    fn place() -> Vec<String> {
        ["None for A", "one"].map(str::to_owned).to_vec()
    }

    #[test]
    fn arms_are_their_patterns_and_conditions() {
        let before = Outline::of(BEFORE);
        for (old, new, expected) in [
            ("1 => 2", "1 => 7", true),
            ("1 => 2", "3 => 2", false),
            ("n > 3", "n > 2", false),
            (", _ => 5", ", 9 => 9, _ => 5", false),
            ("fn one", "fn other", false),
        ] {
            let now = Outline::of(&BEFORE.replace(old, new));
            assert_eq!(now.has_same_arms(&before, &place()), expected, "{new}");
        }
    }

    #[test]
    fn types_of_a_function_are_what_it_takes_and_gives() {
        let before = Outline::of(BEFORE);
        for (old, new, expected) in [
            ("b: u8", "c: u8", false),
            ("b: u8", "b: u16", true),
            ("b: u8", "b: u8, c: u8", false),
            ("-> u8", "-> u16", true),
            ("one(", "one<T>(", true),
            ("&self", "self", true),
        ] {
            let now = Outline::of(&BEFORE.replace(old, new));
            assert_eq!(now.has_other_types(&before, &place()), expected, "{new}");
        }
    }

    #[test]
    fn an_export_that_stays_what_it_is_makes_room_for_new_names() {
        let before = Outline::of(BEFORE);
        for (new, expected) in [
            ("pub use a::{b, c as d};", Some(&[][..])),
            ("pub use a::{b, c as d, e};", Some(&["e"])),
            ("pub use a::b;\npub use a::c as d;", Some(&[])),
            ("pub use a::{b, e as d};", None),
            ("pub use a::b;", None),
            ("pub use a::{b, c as d, e::*};", None),
            ("pub(crate) use a::{b, c as d};", None),
            ("#[cfg(x)]\npub use a::{b, c as d};", None),
        ] {
            let now = Outline::of(new);
            let names = now.new_exports(&before);
            assert_eq!(names.as_deref(), expected, "{new}");
        }
    }
}
