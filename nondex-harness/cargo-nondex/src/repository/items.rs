//! What a changed line of a source file acts on: the statement, the function, the file or the crate
//! that it is in.
//!
//! The rules are those of DeFlaker's hybrid tracking (Bell, Legunsen, Hilton, Eloussi, Yung,
//! Marinov, "DeFlaker: automatically detecting flaky tests", ICSE 2018), for Rust: code in a
//! function is tracked by its statement, a new or changed function as a whole. An import is tracked
//! by its file and the modules below it, and what affects the whole crate, such as a type, a
//! constant or a derive, by its crate.

pub(super) mod documentation;
mod new_impl;
mod scope;
mod visitor;

use std::collections::BTreeSet;
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

use self::scope::Scope;
use super::changes::FileChange;
use super::outline::Outline;
use super::syntax::{Lines, length, lines, number};

/// What a test must run so that it may have met a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// One of these lines of the file, the first to the last, from 1.
    Lines(u32, u32),
    /// One of these lines; where the compiler made nothing of any of them, one of the function that
    /// they are in, which come second.
    Statement((u32, u32), (u32, u32)),
    /// Anything in the file, or in a module below it.
    File,
    /// What names this: as the crate if that meant something else before.
    Named(String),
    /// What a module of this name has: as the crate if its file was there before.
    Module(String),
    /// Anything in the crate, or in one that depends on it.
    Crate,
}

impl Reach {
    /// Whether it acts on what runs none of its lines.
    pub const fn is_beyond_lines(&self) -> bool {
        matches!(self, Reach::Crate | Reach::Named(_) | Reach::Module(_))
    }
}

/// A change: the line, from 1, and what must run to reach it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tracked {
    /// The changed line, or the one before what was deleted.
    pub line: u32,
    /// What must be run.
    pub reach: Reach,
}

/// What is different in a source file acts on; `before` is the text that it is different from. A
/// file that cannot be parsed acts on its crate. Blank lines and comments act on nothing, unless
/// they are in a text of several lines, or are documentation that a macro may read.
pub fn tracked(text: &str, before: &str, change: &FileChange) -> Vec<Tracked> {
    let FileChange { lines: changed, added, deletions, blanks, moved: _ } = change;
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
        let of_crate = |line: &u32| Tracked { line: *line, reach: Reach::Crate };
        return lines.map(of_crate).collect();
    };
    let mut items =
        Items { now: Outline::of_file(&file), before: Outline::of(before), ..Items::default() };
    items.visit_file(&file);
    let of_changed = code.iter().flat_map(|line| {
        let reaches = items.reaches(*line, added, &deleted).into_iter();
        reaches.map(|reach| Tracked { line: *line, reach })
    });
    let is_documentation = |line: &&u32| {
        let trimmed = trimmed(**line);
        trimmed.starts_with("///") || trimmed.starts_with("//!")
    };
    let of_documentation =
        changed.iter().filter(is_documentation).chain(blanks).filter_map(|line| {
            let reach = items.of_documentation(*line, added)?;
            Some(Tracked { line: *line, reach })
        });
    let of_deleted = deleted.iter().map(|line| {
        // What was there ran between the lines around it, if these are in one function.
        let around = |range: &Lines| range.contains(line) && range.contains(&(line + 1));
        let function = items
            .innermost(*line)
            .filter(|function| function.body.contains(&(line + 1)))
            .filter(|_| !items.always_distant.iter().any(around));
        let reach = function.map_or(Reach::Crate, Function::whole);
        Tracked { line: *line, reach }
    });
    let mut tracked: Vec<Tracked> = of_changed.chain(of_documentation).chain(of_deleted).collect();
    tracked.sort();
    tracked.dedup();
    tracked
}

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
                let is_comment = matches!(
                    &*tokens,
                    [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(_)]
                        if name == "doc"
                );
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

#[derive(Debug)]
struct Function {
    all: Lines,
    body: Lines,
    /// Where it is, as outlines have it.
    place: Vec<String>,
}

impl Function {
    /// With its head, because what an attribute makes of it is there.
    fn whole(&self) -> Reach {
        Reach::Lines(*self.all.start(), *self.all.end())
    }
}

/// An arm of a `match`.
#[derive(Debug)]
struct Arm {
    all: Lines,
    /// Its pattern, with its guard.
    head: Lines,
}

/// Whether these attributes make no difference to anything but what names the item.
fn are_quiet(attributes: &[syn::Attribute]) -> bool {
    const QUIET: [&str; 7] = ["allow", "cfg", "derive", "doc", "expect", "must_use", "repr"];
    attributes.iter().all(|attribute| QUIET.iter().any(|quiet| attribute.path().is_ident(quiet)))
}

/// The items of a file, by their lines.
#[derive(Debug, Default)]
struct Items {
    functions: Vec<Function>,
    /// Statements and arms: what runs as a whole, or is made of such.
    statements: Vec<Lines>,
    /// The arms among them: one whose pattern is another one acts on who goes into the others.
    arms: Vec<Arm>,
    /// Attributes in functions.
    attributes: Vec<Lines>,
    /// Conditions of compilation, and the items that are there on these conditions.
    conditions: Vec<(Lines, Lines)>,
    /// What affects the whole crate when it is changed, and only on what names it when it is new:
    /// with its name.
    distant: Vec<(Lines, String)>,
    /// What affects the whole crate, new or not.
    always_distant: Vec<Lines>,
    /// Imports, and whether they are for others, too.
    imports: Vec<(Lines, bool)>,
    /// `mod name;`, with the name.
    modules: Vec<(Lines, String)>,
    /// Items whose documentation a macro may read.
    documented: Vec<Lines>,
    /// The end of a block whose content is tracked by itself.
    silent: Vec<Lines>,
    /// The heads of such blocks, these blocks, and what they act on when they are new.
    heads: Vec<(Lines, Lines, Option<Reach>)>,
    /// Where the visitor is.
    place: Vec<String>,
    /// The names of the module that it is in.
    scope: Scope,
    now: Outline,
    before: Outline,
}

impl Items {
    fn innermost(&self, line: u32) -> Option<&Function> {
        let around = self.functions.iter().filter(|function| function.all.contains(&line));
        around.min_by_key(|function| length(&function.all))
    }

    /// What a changed line acts on.
    fn reaches(&self, line: u32, added: &BTreeSet<u32>, deleted: &BTreeSet<u32>) -> Vec<Reach> {
        let has = |ranges: &[Lines]| ranges.iter().any(|range| range.contains(&line));
        let is_new = |range: &Lines| {
            range.clone().all(|line| added.contains(&line))
                && !deleted.iter().any(|line| range.contains(line))
        };
        let mut conditions = self.conditions.iter();
        if has(&self.always_distant)
            || conditions.any(|(condition, item)| condition.contains(&line) && !is_new(item))
        {
            return vec![Reach::Crate];
        }
        if let Some(function) = self.innermost(line) {
            return vec![self.in_function(function, line)];
        }
        let mut imports = self.imports.iter();
        if let Some((_, is_export)) = imports.find(|(import, _)| import.contains(&line)) {
            return match (is_export, self.now.new_exports(&self.before)) {
                (false, _) => vec![Reach::File],
                (true, None) => vec![Reach::Crate],
                (true, Some(names)) => {
                    names.into_iter().map(str::to_owned).map(Reach::Named).collect()
                }
            };
        }
        if has(&self.silent) {
            return Vec::new();
        }
        let by_name = |named: &[(Lines, String)], reach: fn(String) -> Reach| {
            let (range, name) = named.iter().find(|(range, _)| range.contains(&line))?;
            Some(if is_new(range) { reach(name.clone()) } else { Reach::Crate })
        };
        let by_name =
            by_name(&self.modules, Reach::Module).or_else(|| by_name(&self.distant, Reach::Named));
        if let Some(reach) = by_name {
            return vec![reach];
        }
        let head = self.heads.iter().find(|(head, block, _)| head.contains(&line) && is_new(block));
        head.map_or(vec![Reach::Crate], |(_, _, reach)| reach.iter().cloned().collect())
    }

    /// What a changed line of a function acts on.
    fn in_function(&self, function: &Function, line: u32) -> Reach {
        if !function.body.contains(&line) || line == *function.body.start() {
            return if self.now.has_other_types(&self.before, &function.place) {
                Reach::Crate
            } else {
                function.whole()
            };
        }
        if self.attributes.iter().any(|range| range.contains(&line)) {
            return function.whole();
        }
        let is_same = self.now.has_same_arms(&self.before, &function.place);
        let arms = self.arms.iter();
        let arms: Vec<&Arm> = arms.filter(|arm| !is_same && arm.head.contains(&line)).collect();
        let is_inside = |range: &Lines, arm: &Arm| {
            arm.all.contains(range.start()) && arm.all.contains(range.end())
        };
        let around = self.statements.iter().filter(|range| {
            range.contains(&line)
                && function.body.contains(range.start())
                && !arms.iter().any(|arm| is_inside(range, arm))
        });
        around.min_by_key(|range| length(range)).map_or(function.whole(), |range| {
            Reach::Statement(
                (*range.start(), *range.end()),
                (*function.all.start(), *function.all.end()),
            )
        })
    }

    /// What the documentation on a line acts on.
    fn of_documentation(&self, line: u32, added: &BTreeSet<u32>) -> Option<Reach> {
        let mut items = self.documented.iter().filter(|item| item.contains(&line));
        let is_old = |item: &Lines| item.clone().any(|line| !added.contains(&line));
        items.any(is_old).then_some(Reach::Crate)
    }

    fn function(
        &mut self,
        all: Lines,
        attributes: &[syn::Attribute],
        signature: &syn::Signature,
        body: &syn::Block,
    ) {
        if signature.constness.is_some() {
            // The compiler may have called it.
            self.always_distant.push(all.clone());
        }
        // What a macro makes of it may act without being called.
        let others = attributes
            .iter()
            .filter(|attribute| documentation::may_be_read(std::slice::from_ref(attribute)));
        self.always_distant.extend(others.map(lines));
        self.conditions(&all, attributes);
        let mut place = self.place.clone();
        place.push(signature.ident.to_string());
        self.functions.push(Function { all, body: lines(body), place });
    }

    /// The attributes of an item that say when it is there.
    fn conditions(&mut self, item: &Lines, attributes: &[syn::Attribute]) {
        let conditions = attributes.iter().filter(|attribute| {
            attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr")
        });
        let conditions = conditions.map(|attribute| (lines(attribute), item.clone()));
        self.conditions.extend(conditions);
    }

    fn inside(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.place.push(name);
        visit(self);
        self.place.pop();
    }

    /// What affects the whole crate; one with an attribute that nobody knows, such as
    /// `#[global_allocator]`, also when it is new.
    fn distant(&mut self, all: Lines, name: &syn::Ident, attributes: &[syn::Attribute]) {
        if are_quiet(attributes) {
            self.distant.push((all, name.to_string()));
        } else {
            self.always_distant.push(all);
        }
    }

    /// A block whose items are tracked by themselves.
    fn block(&mut self, all: Lines, braces: proc_macro2::extra::DelimSpan, new: Option<Reach>) {
        let [open, close] = [braces.open(), braces.close()].map(|brace| number(brace.start().line));
        self.silent.push(close..=close);
        self.heads.push((*all.start()..=open, all, new));
    }
}

#[cfg(test)]
mod tests;
