//! Items of a source: how each affects other code, its tokens, and the lines of functions.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::quote;
use syn::visit::{self, Visit};

use super::syntax::{LineRange, are_harmless, lines, may_read_documentation, named, number};

/// Effect of a new or removed item on code that stays unchanged.
#[derive(Debug)]
pub(super) enum ItemKind {
    /// Effect by this name, if the name meant something else before.
    Named(String),
    /// Effect by the name of a module, or by the contents of the module's file.
    Module(String),
    /// Effect by what the item gives a type of this name, unless the type is new or removed too.
    Implementation(String),
    /// Effect by the function's name, or by running it.
    Function(Function),
    /// Effect by the item's parent. The item is an import, or anything but a function in an
    /// implementation.
    Inside,
    /// No effect: it only contains other items.
    Block,
    /// Any effect on the whole crate.
    WholeCrate,
}

/// Function with a body.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) is_test: bool,
    /// Whether no attribute may give it another meaning.
    pub(super) has_harmless_attributes: bool,
    /// Whether the compiler may call it.
    pub(super) is_const: bool,
    /// Whether it implements a function of a trait, which may have a default.
    pub(super) is_of_trait: bool,
    pub(super) body: Tokens,
    pub(super) lines: LineRange,
    pub(super) inside: Inside,
}

/// Parts of a function's body.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// Statements, including those in nested blocks.
    pub(super) statements: Vec<LineRange>,
    /// Patterns and guards of match arms. The code after them runs only if they match.
    pub(super) heads: Vec<LineRange>,
    /// Types, constants and other items, except for functions and imports.
    pub(super) items: Vec<LineRange>,
}

/// Item, or the head of an item that contains others.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    /// Key of the enclosing item. Other code cannot name the item without it.
    pub(super) parent: String,
    /// Tokens, without the body of a function and without documentation that no macro may read.
    pub(super) head: Tokens,
}

impl Item {
    /// Returns the lines that have a token of the item.
    pub(super) fn code(&self) -> BTreeSet<u32> {
        let mut lines = self.head.lines();
        if let ItemKind::Function(function) = &self.kind {
            lines.extend(function.body.lines());
        }
        lines
    }
}

/// Items by their place and name. A key has several items if they are compiled under different
/// conditions.
pub(super) type Items = BTreeMap<String, Vec<Item>>;

/// Returns the items of a source, or `None` if it cannot be parsed.
pub(super) fn items(text: &str) -> Option<Items> {
    let file = syn::parse_file(text).ok()?;
    let mut finder = Finder::default();
    let attributes = &file.attrs;
    finder.block("", ItemKind::Block, attributes, &quote!(#(#attributes)*), |finder| {
        file.items.iter().for_each(|item| finder.item(item));
    });
    Some(finder.found)
}

/// Returns the names of the functions of a source, with the lines of their bodies.
pub(super) fn functions(text: &str) -> Vec<(String, LineRange)> {
    let items = items(text).unwrap_or_default().into_values().flatten();
    let functions = items.filter_map(|item| match item.kind {
        ItemKind::Function(function) => Some((function.name, function.lines)),
        _ => None,
    });
    functions.collect()
}

/// Collects the items of a source.
#[derive(Default)]
struct Finder {
    found: Items,
    /// Key of the enclosing item.
    place: String,
    /// The same key, or that of the type for an inherent implementation, which has no name.
    parent: String,
    /// Whether an enclosing macro may read documentation.
    is_documentation_read: bool,
}

impl Finder {
    fn add(&mut self, name: &str, kind: ItemKind, of: &[syn::Attribute], tokens: &TokenStream) {
        let item = Item {
            kind,
            parent: self.parent.clone(),
            head: Tokens::of(tokens, self.is_documentation_read || may_read_documentation(of)),
        };
        self.found.entry(format!("{}::{name}", self.place)).or_default().push(item);
    }

    /// Adds an item that contains others, and those by calling `inside`.
    fn block(
        &mut self,
        name: &str,
        kind: ItemKind,
        of: &[syn::Attribute],
        head: &TokenStream,
        inside: impl FnOnce(&mut Self),
    ) {
        self.add(name, kind, of, head);
        let around = (self.place.clone(), self.parent.clone(), self.is_documentation_read);
        self.place = format!("{}::{name}", self.place);
        self.parent.clone_from(&self.place);
        self.is_documentation_read |= may_read_documentation(of);
        inside(self);
        (self.place, self.parent, self.is_documentation_read) = around;
    }

    fn item(&mut self, item: &syn::Item) {
        use syn::Item;
        match item {
            Item::Fn(syn::ItemFn { attrs, vis, sig, block, .. }) => {
                self.function(attrs, &quote!(#(#attrs)* #vis #sig), sig, block, false);
            }
            Item::Mod(syn::ItemMod { attrs, vis, ident, content: Some((_, items)), .. }) => {
                let head = quote!(#(#attrs)* #vis mod #ident);
                self.block(&format!("mod {ident}"), ItemKind::Block, attrs, &head, |finder| {
                    items.iter().for_each(|item| finder.item(item));
                });
            }
            Item::Impl(item) => self.implementation(item),
            Item::Trait(item) => self.of_trait(item),
            _ => {
                let tokens = quote!(#item);
                let (ident, attributes) = named(item);
                let name = ident.filter(|name| are_harmless(attributes) && *name != "_");
                let (key, kind) = match (item, name.map(ToString::to_string)) {
                    (Item::Use(_), _) => (tokens.to_string(), ItemKind::Inside),
                    (_, None) => (tokens.to_string(), ItemKind::WholeCrate),
                    (Item::Mod(_), Some(name)) => (format!("mod {name}"), ItemKind::Module(name)),
                    (_, Some(name)) => (name.clone(), ItemKind::Named(name)),
                };
                let around = self.is_documentation_read;
                // A macro may read the documentation in its input.
                self.is_documentation_read |= matches!(item, Item::Macro(_));
                self.add(&key, kind, attributes, &tokens);
                self.is_documentation_read = around;
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
        let segment = match &**self_ty {
            syn::Type::Path(of) if !is_parameter(&of.path) => of.path.segments.last(),
            _ => None,
        };
        let of = segment.map(|last| last.ident.to_string());
        // Other code names the items of an inherent implementation by the type.
        let parent = format!("{}::{}", self.place, of.as_deref().unwrap_or_default());
        let kind = match of {
            _ if !are_harmless(attrs) => ItemKind::WholeCrate,
            _ if !is_of_trait => ItemKind::Block,
            Some(of) => ItemKind::Implementation(of),
            None => ItemKind::WholeCrate,
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
                    finder.add(&tokens.to_string(), ItemKind::Inside, &[], &tokens);
                }
            }
        });
    }

    fn of_trait(&mut self, item: &syn::ItemTrait) {
        let syn::ItemTrait { attrs, vis, ident, generics, supertraits, .. } = item;
        let condition = &generics.where_clause;
        let head = quote!(#(#attrs)* #vis trait #ident #generics: #supertraits #condition);
        let name = ident.to_string();
        let kind =
            if are_harmless(attrs) { ItemKind::Named(name.clone()) } else { ItemKind::WholeCrate };
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
                        finder.add(&tokens.to_string(), ItemKind::WholeCrate, &[], &tokens);
                        continue;
                    }
                };
                finder.add(&name.to_string(), ItemKind::Named(name.to_string()), &[], &tokens);
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
            has_harmless_attributes: are_harmless(of),
            is_const: signature.constness.is_some(),
            is_of_trait,
            body: Tokens::of(&quote!(#block), true),
            lines: lines(block),
            inside: Inside::default(),
            name: signature.ident.to_string(),
        };
        function.inside.visit_block(block);
        self.add(&format!("fn {}", function.name), ItemKind::Function(function), of, head);
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

/// Tokens, each with its lines.
#[derive(Debug, Default)]
pub(super) struct Tokens(Vec<(String, LineRange)>);

impl Tokens {
    /// Converts tokens, with or without documentation.
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

    /// Returns whether both have the same tokens, on whatever lines.
    pub(super) fn are_same(&self, other: &Self) -> bool {
        self.0.iter().map(|(text, _)| text).eq(other.0.iter().map(|(text, _)| text))
    }

    /// Returns the lines that have a token.
    pub(super) fn lines(&self) -> BTreeSet<u32> {
        self.0.iter().flat_map(|(_, lines)| lines.clone()).collect()
    }

    /// Returns the first lines of tokens that span several lines and are not in `other`.
    pub(super) fn new_texts(&self, other: &Self) -> impl Iterator<Item = u32> {
        let is_new = |text: &String| !other.0.iter().any(|(known, _)| known == text);
        let texts =
            self.0.iter().filter(move |(text, lines)| lines.start() < lines.end() && is_new(text));
        texts.map(|(_, lines)| *lines.start())
    }
}
