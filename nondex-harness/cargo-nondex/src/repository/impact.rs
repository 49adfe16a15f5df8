//! Determines what a difference between two texts of a source affects: a statement, a function or
//! the crate.
//!
//! The rules are a coarser form of DeFlaker's hybrid tracking (Bell, Legunsen, Hilton, Eloussi,
//! Yung, Marinov, "DeFlaker: automatically detecting flaky tests", ICSE 2018), for Rust. Code in a
//! function is tracked by its statement, and a new function as a whole. Everything else affects the
//! crate, unless it is new and has a name that nothing had before. Items are compared by their
//! tokens, so changes of comments, documentation and layout do not count.

use std::collections::BTreeSet;

use super::changes::FileChange;
use super::items::{Function, Item, ItemKind, Items, items};
use super::syntax::length;

/// Code that a test must run to be affected by a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// One of these lines of the file, the first to the last, from 1. If the compiler generated no
    /// code for them, one of the lines of their function, which come second.
    Lines((u32, u32), (u32, u32)),
    /// Any code in the crate, or in a crate that depends on it.
    Crate,
}

/// Changed line, with the code that must run to reach it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tracked {
    /// Changed line, from 1, or the line before deleted ones.
    pub line: u32,
    /// Code that must run.
    pub reach: Reach,
}

/// One of two states of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// State whose lines the tests run.
    Ran,
    /// State that it is compared with.
    Other,
}

/// Returns what the difference between two texts of a file affects. A text is `None` if that state
/// has no such file. `change` has the lines of `ran`. `is_used` returns whether a state of the
/// sources uses a name, which may be the name of a module with a file.
pub fn tracked(
    ran: Option<&str>,
    other: Option<&str>,
    change: &FileChange,
    is_used: &dyn Fn(Side, &str, bool) -> bool,
) -> Vec<Tracked> {
    let [ran, other] = [ran, other].map(|text| text.map_or(Some(Items::new()), items));
    let mut found = Finder { change, is_used, found: BTreeSet::new() };
    let Some((ran, other)) = ran.zip(other) else {
        found.add(change.first(), Reach::Crate);
        return found.found.into_iter().collect();
    };
    for (key, items) in &ran {
        match other.get(key) {
            None => items.iter().for_each(|item| found.only(Side::Ran, item, [&ran, &other])),
            Some(others) if items.len() == others.len() => {
                items.iter().zip(others).for_each(|(item, other)| found.both(item, other));
            }
            Some(_) => items.iter().for_each(|item| found.of_crate(item)),
        }
    }
    for (_, items) in other.iter().filter(|(key, _)| !ran.contains_key(*key)) {
        items.iter().for_each(|item| found.only(Side::Other, item, [&other, &ran]));
    }
    found.found.into_iter().collect()
}

/// Collects the effects of a difference.
struct Finder<'a> {
    change: &'a FileChange,
    is_used: &'a dyn Fn(Side, &str, bool) -> bool,
    found: BTreeSet<Tracked>,
}

impl Finder<'_> {
    fn add(&mut self, line: u32, reach: Reach) {
        self.found.insert(Tracked { line, reach });
    }

    /// Adds the changed lines of an item, or else its first line.
    fn all(&mut self, item: &Item, reach: &Reach) {
        let code = item.code();
        let mut lines: Vec<u32> = self.change.lines.intersection(&code).copied().collect();
        if lines.is_empty() {
            lines.extend(code.first());
        }
        lines.into_iter().for_each(|line| self.add(line, reach.clone()));
    }

    /// Adds an item that affects the crate, unless it only contains others.
    fn of_crate(&mut self, item: &Item) {
        if !matches!(item.kind, ItemKind::Block) {
            self.all(item, &Reach::Crate);
        }
    }

    /// Adds an item that only one side has. `own` has all items of that side, and `others` those of
    /// the other side.
    fn only(&mut self, side: Side, item: &Item, [own, others]: [&Items; 2]) {
        let is_known = || self.found.iter().any(|known| known.reach == Reach::Crate);
        if side == Side::Other && is_known() {
            return;
        }
        let is_used = |name: &str, is_module| {
            let searched = if side == Side::Ran { Side::Other } else { Side::Ran };
            (self.is_used)(searched, name, is_module)
        };
        // Only items that are new or removed together with it can name it.
        let is_inside = own.contains_key(&item.parent) && !others.contains_key(&item.parent);
        let acts = match &item.kind {
            ItemKind::Block => false,
            ItemKind::WholeCrate => true,
            ItemKind::Inside => !is_inside,
            ItemKind::Named(name) => !is_inside && is_used(name, false),
            ItemKind::Module(name) => !is_inside && is_used(name, true),
            // Code that used the type before may now use what the trait provides.
            ItemKind::Implementation(of) => {
                let is_it = |item: &Item| matches!(&item.kind, ItemKind::Named(name) if name == of);
                let is_new = own.values().flatten().any(is_it);
                !is_new || others.values().flatten().any(is_it) || is_used(of, false)
            }
            ItemKind::Function(function) if !function.has_harmless_attributes => true,
            ItemKind::Function(function) if function.is_test || is_inside => false,
            ItemKind::Function(function) => match side {
                // Callers of the function run its lines, except when the compiler evaluates it.
                Side::Ran => function.is_const && is_used(&function.name, false),
                // Calls now reach the trait's default function.
                Side::Other => function.is_of_trait || is_used(&function.name, false),
            },
        };
        match (side, &item.kind) {
            (Side::Ran, _) if acts => self.all(item, &Reach::Crate),
            (Side::Ran, ItemKind::Function(function)) => {
                let whole = whole(item, function);
                self.all(item, &Reach::Lines(whole, whole));
            }
            (Side::Other, _) if acts => {
                let gone = self.change.deletions.first().copied();
                self.add(gone.unwrap_or_else(|| self.change.first()), Reach::Crate);
            }
            _ => {}
        }
    }

    /// Adds the differences in an item that both sides have.
    fn both(&mut self, item: &Item, other: &Item) {
        let is_same = item.head.are_same(&other.head);
        match (&item.kind, &other.kind) {
            // No other code depends on the signature and the attributes of a test.
            (ItemKind::Function(function), ItemKind::Function(other))
                if !is_same && function.is_test && other.is_test =>
            {
                let whole = whole(item, function);
                self.all(item, &Reach::Lines(whole, whole));
            }
            _ if !is_same => self.all(item, &Reach::Crate),
            (ItemKind::Function(function), ItemKind::Function(other))
                if !function.body.are_same(&other.body) =>
            {
                if function.is_const {
                    self.all(item, &Reach::Crate);
                } else {
                    self.body(item, function, other);
                }
            }
            _ => {}
        }
    }

    /// Adds the differences in the body of a function.
    fn body(&mut self, item: &Item, function: &Function, other: &Function) {
        let whole = whole(item, function);
        let before = self.found.len();
        let code = function.body.lines();
        let is_in_item = |lines: &[u32]| {
            let mut items = function.inside.items.iter();
            items.any(|item| lines.iter().all(|line| item.contains(line)))
        };
        let changed = self.change.lines.intersection(&code).copied();
        for line in changed.chain(function.body.new_texts(&other.body)) {
            let reach = if is_in_item(&[line]) {
                Reach::Crate
            } else {
                Reach::Lines(statement(function, line).unwrap_or(whole), whole)
            };
            self.found.insert(Tracked { line, reach });
        }
        for &line in &self.change.deletions {
            // The deleted code ran between these two lines.
            if [line, line + 1].iter().all(|line| function.lines.contains(line)) {
                let is_in_item = is_in_item(&[line, line + 1]);
                let reach = if is_in_item { Reach::Crate } else { Reach::Lines(whole, whole) };
                self.found.insert(Tracked { line, reach });
            }
        }
        if self.found.len() == before {
            self.all(item, &Reach::Lines(whole, whole));
        }
    }
}

/// Returns the lines of a function with its head, in which attributes may change its meaning.
fn whole(item: &Item, function: &Function) -> (u32, u32) {
    let last = *function.lines.end();
    (item.head.lines().first().copied().unwrap_or(last), last)
}

/// Returns the innermost statement that runs whenever code on this line of it does.
fn statement(function: &Function, line: u32) -> Option<(u32, u32)> {
    let is_head = function.inside.heads.iter().any(|head| head.contains(&line));
    let around = function
        .inside
        .statements
        .iter()
        // A pattern or a guard may run without the body of its arm.
        .filter(|range| range.contains(&line) && !(is_head && *range.start() >= line));
    let innermost = around.min_by_key(|range| length(range))?;
    Some((*innermost.start(), *innermost.end()))
}

#[cfg(test)]
mod tests;
