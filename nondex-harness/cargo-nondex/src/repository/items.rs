//! The items of a source: how each acts on other code, its tokens, and where the code of functions
//! is.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;
use syn::visit::{self, Visit};

use super::attributes::{are_quiet, may_be_read};
use super::syntax::{Lines, lines, named, number};

/// How an item that is new or gone acts on code that stays as it is.
#[derive(Debug)]
pub(super) enum Kind {
    /// By this name, if that meant something else before.
    Named(String),
    /// By the name of a module, or by what the file of the module has.
    Module(String),
    /// By what it gives a type of this name, unless that is new or gone, too.
    Implementation(String),
    /// By its name, or by being run.
    Function(Function),
    /// By what is around it: an import, or what an implementation has besides functions.
    Inside,
    /// In no way: it only has other items.
    Block,
    /// In any way.
    Distant,
}

/// A function with a body.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) is_test: bool,
    /// Whether no attribute may make something else of it.
    pub(super) is_quiet: bool,
    /// Whether the compiler may call it.
    pub(super) is_const: bool,
    /// Whether it implements one of a trait, which may provide another one.
    pub(super) is_of_trait: bool,
    pub(super) body: Tokens,
    pub(super) lines: Lines,
    pub(super) inside: Inside,
}

/// The parts of a body.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// Statements, also those of the blocks in them.
    pub(super) statements: Vec<Lines>,
    /// Patterns and conditions of arms: what follows them runs only where these match.
    pub(super) heads: Vec<Lines>,
    /// Types, constants and the like.
    pub(super) items: Vec<Lines>,
}

/// An item, or the head of what has several.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// The key of what is around it, without which nobody can name it.
    pub(super) parent: String,
    /// Its tokens, but for the body of a function and for documentation that no macro may read.
    pub(super) head: Tokens,
}

impl Item {
    /// The lines that have a token of it.
    pub(super) fn code(&self) -> BTreeSet<u32> {
        let mut lines = self.head.lines();
        if let Kind::Function(function) = &self.kind {
            lines.extend(function.body.lines());
        }
        lines
    }
}

/// Items by where they are and what they are called. There may be several of a key, on different
/// conditions.
pub(super) type Items = BTreeMap<String, Vec<Item>>;

/// The items of a source; `None` if it cannot be parsed.
pub(super) fn items(text: &str) -> Option<Items> {
    let file = syn::parse_file(text).ok()?;
    let mut finder = Finder::default();
    let attributes = &file.attrs;
    finder.block("", Kind::Block, attributes, &quote!(#(#attributes)*), |finder| {
        file.items.iter().for_each(|item| finder.item(item));
    });
    Some(finder.found)
}

/// The functions of a source, with the lines of their bodies.
pub(super) fn functions(text: &str) -> Vec<(String, Lines)> {
    let items = items(text).unwrap_or_default().into_values().flatten();
    let functions = items.filter_map(|item| match item.kind {
        Kind::Function(function) => Some((function.name, function.lines)),
        _ => None,
    });
    functions.collect()
}

#[derive(Default)]
struct Finder {
    found: Items,
    /// The key of what is around.
    place: String,
    /// The same, or of a type's own implementation, which has no name, the type.
    parent: String,
    /// Whether a macro that is around may read documentation.
    is_read: bool,
}

impl Finder {
    fn add(&mut self, name: &str, kind: Kind, of: &[syn::Attribute], tokens: &TokenStream) {
        let item = Item {
            kind,
            parent: self.parent.clone(),
            head: Tokens::of(tokens, self.is_read || may_be_read(of)),
        };
        self.found.entry(format!("{}::{name}", self.place)).or_default().push(item);
    }

    /// Adds what has other items, and those by `inside`.
    fn block(
        &mut self,
        name: &str,
        kind: Kind,
        of: &[syn::Attribute],
        head: &TokenStream,
        inside: impl FnOnce(&mut Self),
    ) {
        self.add(name, kind, of, head);
        let around = (self.place.clone(), self.parent.clone(), self.is_read);
        self.place = format!("{}::{name}", self.place);
        self.parent.clone_from(&self.place);
        self.is_read |= may_be_read(of);
        inside(self);
        (self.place, self.parent, self.is_read) = around;
    }

    fn item(&mut self, item: &syn::Item) {
        use syn::Item;
        match item {
            Item::Fn(syn::ItemFn { attrs, vis, sig, block, .. }) => {
                self.function(attrs, &quote!(#(#attrs)* #vis #sig), sig, block, false);
            }
            Item::Mod(syn::ItemMod { attrs, vis, ident, content: Some((_, items)), .. }) => {
                let head = quote!(#(#attrs)* #vis mod #ident);
                self.block(&format!("mod {ident}"), Kind::Block, attrs, &head, |finder| {
                    items.iter().for_each(|item| finder.item(item));
                });
            }
            Item::Impl(item) => self.implementation(item),
            Item::Trait(item) => self.of_trait(item),
            _ => {
                let tokens = quote!(#item);
                let (name, attributes) = named(item);
                let name = name.filter(|name| are_quiet(attributes) && *name != "_");
                let (key, kind) = match (item, name.map(ToString::to_string)) {
                    (Item::Use(_), _) => (tokens.to_string(), Kind::Inside),
                    (_, None) => (tokens.to_string(), Kind::Distant),
                    (Item::Mod(_), Some(name)) => (format!("mod {name}"), Kind::Module(name)),
                    (_, Some(name)) => (name.clone(), Kind::Named(name)),
                };
                let around = self.is_read;
                self.is_read |= matches!(item, Item::Macro(_));
                self.add(&key, kind, attributes, &tokens);
                self.is_read = around;
            }
        }
    }

    fn implementation(&mut self, item: &syn::ItemImpl) {
        let syn::ItemImpl { attrs, generics, trait_, self_ty, .. } = item;
        let of_trait = trait_.as_ref().map(|(path, _)| quote!(#path for));
        let (is_of_trait, condition) = (of_trait.is_some(), &generics.where_clause);
        let head = quote!(impl #generics #of_trait #self_ty #condition);
        let is_parameter =
            |path: &syn::Path| generics.type_params().any(|own| path.is_ident(&own.ident));
        let of = match &**self_ty {
            syn::Type::Path(of) if !is_parameter(&of.path) => of.path.segments.last(),
            _ => None,
        };
        let of = of.map(|last| last.ident.to_string());
        // Nobody names what a type has but by the type.
        let parent = format!("{}::{}", self.place, of.as_deref().unwrap_or_default());
        let kind = match of {
            _ if !are_quiet(attrs) => Kind::Distant,
            _ if !is_of_trait => Kind::Block,
            Some(of) => Kind::Implementation(of),
            None => Kind::Distant,
        };
        self.block(&head.to_string(), kind, attrs, &quote!(#(#attrs)* #head), |finder| {
            if !is_of_trait {
                finder.parent = parent;
            }
            for item in &item.items {
                if let syn::ImplItem::Fn(item) = item {
                    let syn::ImplItemFn { attrs, vis, sig, block, .. } = item;
                    let head = quote!(#(#attrs)* #vis #sig);
                    finder.function(attrs, &head, sig, block, is_of_trait);
                } else {
                    let tokens = quote!(#item);
                    finder.add(&tokens.to_string(), Kind::Inside, &[], &tokens);
                }
            }
        });
    }

    fn of_trait(&mut self, item: &syn::ItemTrait) {
        let syn::ItemTrait { attrs, vis, ident, generics, supertraits, .. } = item;
        let condition = &generics.where_clause;
        let head = quote!(#(#attrs)* #vis trait #ident #generics: #supertraits #condition);
        let name = ident.to_string();
        let kind = if are_quiet(attrs) { Kind::Named(name.clone()) } else { Kind::Distant };
        self.block(&name, kind, attrs, &head, |finder| {
            for item in &item.items {
                use syn::TraitItem;
                let tokens = quote!(#item);
                let name = match item {
                    TraitItem::Fn(syn::TraitItemFn { attrs, sig, default: Some(body), .. }) => {
                        finder.function(attrs, &quote!(#(#attrs)* #sig), sig, body, false);
                        continue;
                    }
                    TraitItem::Fn(item) => &item.sig.ident,
                    TraitItem::Const(item) => &item.ident,
                    TraitItem::Type(item) => &item.ident,
                    _ => {
                        finder.add(&tokens.to_string(), Kind::Distant, &[], &tokens);
                        continue;
                    }
                };
                finder.add(&name.to_string(), Kind::Named(name.to_string()), &[], &tokens);
            }
        });
    }

    fn function(
        &mut self,
        of: &[syn::Attribute],
        head: &TokenStream,
        signature: &syn::Signature,
        block: &syn::Block,
        is_of_trait: bool,
    ) {
        let mut function = Function {
            is_test: of.iter().any(|attribute| attribute.path().is_ident("test")),
            is_quiet: are_quiet(of),
            is_const: signature.constness.is_some(),
            is_of_trait,
            body: Tokens::of(&quote!(#block), true),
            lines: lines(block),
            inside: Inside::default(),
            name: signature.ident.to_string(),
        };
        function.inside.visit_block(block);
        self.add(&format!("fn {}", function.name), Kind::Function(function), of, head);
    }
}

impl<'a> Visit<'a> for Inside {
    fn visit_stmt(&mut self, statement: &'a syn::Stmt) {
        match statement {
            syn::Stmt::Item(syn::Item::Fn(_) | syn::Item::Use(_)) => {}
            syn::Stmt::Item(item) => self.items.push(lines(item)),
            _ => self.statements.push(lines(statement)),
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        self.heads.push(*lines(arm).start()..=*lines(&arm.fat_arrow_token).end());
        visit::visit_arm(self, arm);
    }
}

/// Tokens, and the lines that each is on.
#[derive(Debug, Default)]
pub(super) struct Tokens(Vec<(String, Lines)>);

impl Tokens {
    /// The tokens, with what is documentation or without it.
    fn of(tokens: &TokenStream, with_documentation: bool) -> Self {
        let mut found = Tokens::default();
        found.add(tokens.clone(), with_documentation);
        found
    }

    fn add(&mut self, tokens: TokenStream, with_documentation: bool) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let is_documentation = |next: &TokenTree| {
                let TokenTree::Group(group) = next else { return false };
                let first = group.stream().into_iter().next();
                matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
            };
            match token {
                TokenTree::Punct(sign) if sign.as_char() == '#' && !with_documentation => {
                    tokens.next_if(
                        |next| matches!(next, TokenTree::Punct(sign) if sign.as_char() == '!'),
                    );
                    if tokens.next_if(is_documentation).is_none() {
                        self.push("#", sign.span());
                    }
                }
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        Delimiter::Parenthesis => ("(", ")"),
                        Delimiter::Brace => ("{", "}"),
                        Delimiter::Bracket => ("[", "]"),
                        Delimiter::None => ("", ""),
                    };
                    self.push(open, group.span_open());
                    self.add(group.stream(), with_documentation);
                    self.push(close, group.span_close());
                }
                token => self.push(&token.to_string(), token.span()),
            }
        }
    }

    fn push(&mut self, text: &str, span: Span) {
        let lines = number(span.start().line)..=number(span.end().line);
        self.0.push((text.to_owned(), lines));
    }

    /// Whether both are the same, wherever they are.
    pub(super) fn are_same(&self, other: &Self) -> bool {
        self.0.iter().map(|(text, _)| text).eq(other.0.iter().map(|(text, _)| text))
    }

    /// The lines that have a token.
    pub(super) fn lines(&self) -> BTreeSet<u32> {
        self.0.iter().flat_map(|(_, lines)| lines.clone()).collect()
    }

    /// The first lines of texts that are on several lines, which another one has not.
    pub(super) fn new_texts(&self, other: &Self) -> impl Iterator<Item = u32> {
        let is_new = |text: &String| !other.0.iter().any(|(known, _)| known == text);
        let texts =
            self.0.iter().filter(move |(text, lines)| lines.start() < lines.end() && is_new(text));
        texts.map(|(_, lines)| *lines.start())
    }
}
