//! What a changed line of a source file acts on: the statement, the function, the file or the crate that it is in.
//!
//! The rules are those of DeFlaker's hybrid tracking (Bell, Legunsen, Hilton, Eloussi, Yung, Marinov, "DeFlaker: automatically detecting flaky
//! tests", ICSE 2018), for Rust: what is in a function is tracked by its statement, a new or changed function by its body, an import by its
//! file, and what acts at a distance, such as a type, a constant or a derive, by its crate.

pub(super) mod documentation;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::changes::FileChange;

/// What a test must run so that it may have met a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// One of these lines of the file, the first to the last, from 1.
    Lines(u32, u32),
    /// One of these lines; where the compiler made nothing of any of them, one of the body of the function that they are in, which come second.
    Statement((u32, u32), (u32, u32)),
    /// Anything in the file.
    File,
    /// What names this: as the crate if that meant something else before.
    Named(String),
    /// Anything in the crate, or in one that depends on it.
    Crate,
}

/// A change: the line, from 1, and what must be run to meet it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tracked {
    /// The changed line, or the one before what was deleted.
    pub line: u32,
    /// What must be run.
    pub reach: Reach,
}

/// What is different in a source file acts on. A file that cannot be parsed acts on its crate. Blank lines and comments act on nothing, unless they
/// are in a text of several lines, or are documentation that a macro may read.
#[must_use]
pub fn tracked(text: &str, change: &FileChange) -> Vec<Tracked> {
    let FileChange {
        lines: changed,
        added,
        deletions,
        blanks,
    } = change;
    let lines: Vec<&str> = text.lines().collect();
    let trimmed = |line: u32| {
        let line = lines.get((line as usize).wrapping_sub(1));
        line.map_or("", |line| line.trim())
    };
    let texts = texts(text);
    let is_code = |line: &u32| {
        let trimmed = trimmed(*line);
        !(trimmed.is_empty() || trimmed.starts_with("//"))
            || texts.iter().any(|range| range.contains(line))
    };
    let in_texts = blanks.iter().filter(|line| {
        let inside = |range: &Lines| range.contains(*line) && range.contains(&(*line + 1));
        texts.iter().any(inside)
    });
    let deleted: BTreeSet<u32> = deletions.iter().chain(in_texts).copied().collect();
    let code: BTreeSet<u32> = changed.iter().copied().filter(is_code).collect();
    let Ok(file) = syn::parse_file(text) else {
        let lines = code.iter().chain(&deleted);
        let of_crate = |line: &u32| Tracked {
            line: *line,
            reach: Reach::Crate,
        };
        return lines.map(of_crate).collect();
    };
    let mut items = Items::default();
    items.visit_file(&file);
    let of_changed = code.iter().filter_map(|line| {
        let reach = items.reach(*line, added, &deleted)?;
        Some(Tracked { line: *line, reach })
    });
    let is_documentation = |line: &&u32| {
        let trimmed = trimmed(**line);
        trimmed.starts_with("///") || trimmed.starts_with("//!")
    };
    let of_documentation = changed.iter().filter(is_documentation).chain(blanks);
    let of_documentation = of_documentation.filter_map(|line| {
        let reach = items.of_documentation(*line, added)?;
        Some(Tracked { line: *line, reach })
    });
    let of_deleted = deleted.iter().map(|line| {
        // What was there ran between the lines around it, if these are in one function.
        let function = items
            .innermost(*line)
            .filter(|function| function.body.contains(&(line + 1)));
        let reach = function.map_or(Reach::Crate, Function::whole_body);
        Tracked { line: *line, reach }
    });
    let mut tracked: Vec<Tracked> = of_changed
        .chain(of_documentation)
        .chain(of_deleted)
        .collect();
    tracked.sort();
    tracked.dedup();
    tracked
}

type Lines = RangeInclusive<u32>;

/// The texts of several lines that are no comments.
fn texts(text: &str) -> Vec<Lines> {
    let mut found = Vec::new();
    let mut open: Vec<TokenTree> = match TokenStream::from_str(text) {
        Ok(tokens) => tokens.into_iter().collect(),
        Err(_) => return found,
    };
    while let Some(token) = open.pop() {
        match token {
            TokenTree::Group(group) => {
                let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
                // A comment that documents is such an attribute.
                let is_comment = matches!(&*tokens, [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(_)] if name == "doc");
                if !is_comment {
                    open.extend(tokens);
                }
            }
            TokenTree::Literal(literal) => {
                let lines = lines(&literal);
                if lines.start() < lines.end() {
                    found.push(lines);
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
    found
}

fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

fn lines(of: &impl Spanned) -> Lines {
    let span = of.span();
    number(span.start().line)..=number(span.end().line)
}

fn length(lines: &Lines) -> u32 {
    lines.end().saturating_sub(*lines.start())
}

#[derive(Debug)]
struct Function {
    all: Lines,
    body: Lines,
}

impl Function {
    fn whole_body(&self) -> Reach {
        Reach::Lines(*self.body.start(), *self.body.end())
    }
}

/// Whether these attributes make no difference to anything but what names the item.
fn are_quiet(attributes: &[syn::Attribute]) -> bool {
    const QUIET: [&str; 7] = [
        "allow", "cfg", "derive", "doc", "expect", "must_use", "repr",
    ];
    let mut attributes = attributes.iter();
    attributes.all(|attribute| QUIET.iter().any(|quiet| attribute.path().is_ident(quiet)))
}

/// The items of a file, by their lines.
#[derive(Debug, Default)]
struct Items {
    functions: Vec<Function>,
    /// Statements and arms: what runs as a whole, or is made of such.
    statements: Vec<Lines>,
    /// What acts at a distance when it is changed, and only on what names it when it is new: with its name.
    distant: Vec<(Lines, String)>,
    /// What acts at a distance, new or not.
    always_distant: Vec<Lines>,
    imports: Vec<Lines>,
    /// Items whose documentation a macro may read.
    documented: Vec<Lines>,
    /// `mod name;`, and the end of a block whose content is tracked by itself.
    silent: Vec<Lines>,
    /// The heads of such blocks, and these blocks.
    heads: Vec<(Lines, Lines)>,
}

impl Items {
    fn innermost(&self, line: u32) -> Option<&Function> {
        let around = self
            .functions
            .iter()
            .filter(|function| function.all.contains(&line));
        around.min_by_key(|function| length(&function.all))
    }

    fn reach(&self, line: u32, added: &BTreeSet<u32>, deleted: &BTreeSet<u32>) -> Option<Reach> {
        let has = |ranges: &[Lines]| ranges.iter().any(|range| range.contains(&line));
        let is_new = |range: &Lines| {
            let mut lines = range.clone();
            lines.all(|line| added.contains(&line))
                && !deleted.iter().any(|line| range.contains(line))
        };
        if has(&self.always_distant) {
            return Some(Reach::Crate);
        }
        if let Some(function) = self.innermost(line) {
            let is_signature = !function.body.contains(&line) || line == *function.body.start();
            let around = self
                .statements
                .iter()
                .filter(|range| range.contains(&line) && function.body.contains(range.start()));
            let statement = around
                .min_by_key(|range| length(range))
                .filter(|_| !is_signature);
            return Some(match statement {
                Some(range) => Reach::Statement(
                    (*range.start(), *range.end()),
                    (*function.body.start(), *function.body.end()),
                ),
                None => function.whole_body(),
            });
        }
        if has(&self.imports) {
            return Some(Reach::File);
        }
        if has(&self.silent) {
            return None;
        }
        let mut distant = self.distant.iter();
        if let Some((range, name)) = distant.find(|(range, _)| range.contains(&line)) {
            return Some(match is_new(range) {
                true => Reach::Named(name.clone()),
                false => Reach::Crate,
            });
        }
        let mut heads = self.heads.iter().filter(|(head, _)| head.contains(&line));
        let block = heads.next().map(|(_, block)| block);
        (!block.is_some_and(is_new)).then_some(Reach::Crate)
    }

    /// What the documentation on a line acts on.
    fn of_documentation(&self, line: u32, added: &BTreeSet<u32>) -> Option<Reach> {
        let mut items = self.documented.iter().filter(|item| item.contains(&line));
        let is_old = |item: &Lines| item.clone().any(|line| !added.contains(&line));
        items.any(is_old).then_some(Reach::Crate)
    }

    fn function(&mut self, all: Lines, signature: &syn::Signature, body: &syn::Block) {
        if signature.constness.is_some() {
            // The compiler may have called it.
            self.always_distant.push(all.clone());
        }
        self.functions.push(Function {
            all,
            body: lines(body),
        });
    }

    /// What acts at a distance; one with an attribute that nobody knows, such as `#[global_allocator]`, also when it is new.
    fn distant(&mut self, all: Lines, name: &syn::Ident, attributes: &[syn::Attribute]) {
        match are_quiet(attributes) {
            true => self.distant.push((all, name.to_string())),
            false => self.always_distant.push(all),
        }
    }

    /// A block whose items are tracked by themselves.
    fn block(&mut self, all: Lines, braces: proc_macro2::extra::DelimSpan) {
        let [open, close] = [braces.open(), braces.close()].map(|brace| number(brace.start().line));
        self.silent.push(close..=close);
        self.heads.push((*all.start()..=open, all));
    }
}

impl<'a> Visit<'a> for Items {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(lines(item), &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(lines(item), &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        match &item.default {
            Some(body) => self.function(lines(item), &item.sig, body),
            None => self.distant.push((lines(item), item.sig.ident.to_string())),
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        let is_function = |item: &syn::ImplItem| matches!(item, syn::ImplItem::Fn(_));
        if item.items.iter().any(is_function) {
            let others = item.items.iter().filter(|item| !is_function(item));
            self.always_distant.extend(others.map(lines));
            self.block(lines(item), item.brace_token.span);
        } else {
            // A trait that a type has now makes a difference to what is there already.
            self.always_distant.push(lines(item));
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.block(lines(item), item.brace_token.span);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        match &item.content {
            Some((braces, _)) => self.block(lines(item), braces.span),
            None if are_quiet(&item.attrs) => self.silent.push(lines(item)),
            None => self.always_distant.push(lines(item)),
        }
        visit::visit_item_mod(self, item);
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        self.imports.push(lines(item));
    }

    fn visit_item(&mut self, item: &'a syn::Item) {
        use syn::{Item, ItemMacro};
        let is_call = matches!(item, Item::Macro(item) if item.ident.is_none());
        if is_call || documentation::may_be_read(documentation::attributes(item)) {
            self.documented.push(lines(item));
        }
        let attributes = match item {
            Item::Fn(_) | Item::Impl(_) | Item::Trait(_) | Item::Mod(_) | Item::Use(_) => None,
            Item::Const(item) => Some((&item.ident, &item.attrs)),
            Item::Static(item) => Some((&item.ident, &item.attrs)),
            Item::Struct(item) => Some((&item.ident, &item.attrs)),
            Item::Enum(item) => Some((&item.ident, &item.attrs)),
            Item::Type(item) => Some((&item.ident, &item.attrs)),
            Item::Macro(ItemMacro {
                ident: Some(ident),
                attrs,
                ..
            }) => Some((ident, attrs)),
            // A macro that is called may add anything.
            _ => {
                self.always_distant.push(lines(item));
                None
            }
        };
        if let Some((name, attributes)) = attributes {
            self.distant(lines(item), name, attributes);
        }
        visit::visit_item(self, item);
    }

    fn visit_stmt(&mut self, statement: &'a syn::Stmt) {
        match statement {
            syn::Stmt::Item(syn::Item::Fn(_) | syn::Item::Use(_)) => {}
            syn::Stmt::Item(item) => self.always_distant.push(lines(item)),
            _ => self.statements.push(lines(statement)),
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        self.statements.push(lines(arm));
        visit::visit_arm(self, arm);
    }
}

#[cfg(test)]
mod tests;
