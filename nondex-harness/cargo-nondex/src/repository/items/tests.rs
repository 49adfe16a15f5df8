//! Tests of what a changed line acts on.

use super::*;

const TEXT: &str = "\
use std::fmt;

/// A type.
#[derive(Debug)]
struct A {
    b: u8,
}

const N: usize = 3;

impl A {
    const M: u8 = 1;

    fn b(
        &self,
    ) -> u8 {
        let x = self
            .b;
        if x > 3 {
            // Much.
            return 7;
        }
        match x {
            1 => 2,
            _ => 3,
        }
    }
}

impl Copy for A {}

const fn c() -> u8 {
    4
}

mod tests {
    #[test]
    fn t() {
        const K: u8 = 1;
        assert_eq!(A { b: 1 }.b(), 2);
    }
}

macro_rules! m { () => {} }
";

fn changed(lines: impl IntoIterator<Item = u32>) -> FileChange {
    FileChange { lines: lines.into_iter().collect(), ..FileChange::default() }
}

fn added(lines: Lines) -> FileChange {
    FileChange { added: lines.clone().collect(), ..changed(lines) }
}

fn of(line: u32) -> Option<Reach> {
    let found = tracked(TEXT, TEXT, &changed([line]));
    assert!(found.len() <= 1);
    found.into_iter().next().map(|tracked| tracked.reach)
}

#[test]
fn each_line_acts_on_what_it_is_in() {
    let whole = Reach::Lines(14, 27);
    for (line, expected) in [
        (1, Some(Reach::File)),
        (2, None),
        (3, None),
        (4, Some(Reach::Crate)),
        (6, Some(Reach::Crate)),
        (11, Some(Reach::Crate)),
        (12, Some(Reach::Crate)),
        (14, Some(whole.clone())),
        (15, Some(whole.clone())),
        (16, Some(whole.clone())),
        (17, Some(Reach::Statement((17, 18), (14, 27)))),
        (18, Some(Reach::Statement((17, 18), (14, 27)))),
        (20, None),
        (21, Some(Reach::Statement((21, 21), (14, 27)))),
        (24, Some(Reach::Statement((24, 24), (14, 27)))),
        (27, Some(whole)),
        (28, None),
        (30, Some(Reach::Crate)),
        (33, Some(Reach::Crate)),
        (36, Some(Reach::Crate)),
        (37, Some(Reach::Lines(37, 41))),
        (39, Some(Reach::Crate)),
        (40, Some(Reach::Statement((40, 40), (37, 41)))),
    ] {
        let text = TEXT.lines().nth(line as usize - 1);
        assert_eq!(of(line), expected, "{line}: {text:?}");
    }
}

#[test]
fn what_is_new_acts_only_on_what_names_it_and_what_is_deleted_on_its_function() {
    let new = |range: Lines| tracked(TEXT, TEXT, &added(range));
    for (range, name) in [(3..=7, "A"), (9..=9, "N"), (44..=44, "m")] {
        let is_named = |tracked: &Tracked| tracked.reach == Reach::Named(name.to_owned());
        let found = new(range.clone());
        assert!(!found.is_empty() && found.iter().all(is_named), "{found:?}");
    }
    assert_eq!(new(30..=30)[0].reach, Reach::Crate);
    let module = tracked("mod a;\n", "", &added(1..=1));
    assert_eq!(module[0].reach, Reach::Module("a".to_owned()));
    for text in [
        "m!();\n\n",
        "#[ctor]\nfn a() {}\n",
        "impl T for (A, B) {\nfn t(&self) {} }\n",
        "impl<A> T for A {\nfn t(&self) {} }\n",
        "#[global_allocator]\nstatic A: B = B;\n",
        "#[macro_use]\nmod a;\n",
    ] {
        let found = tracked(text, text, &added(1..=2));
        assert_eq!(found[0].reach, Reach::Crate, "{text}");
    }
    let of_method = |tracked: &Tracked| tracked.line == 12 || tracked.reach != Reach::Crate;
    assert!(new(11..=28).iter().all(of_method));
    assert_eq!(tracked(TEXT, TEXT, &changed([9]))[0].reach, Reach::Crate);
    let deleted = |line| {
        let deletions = BTreeSet::from([line]);
        let change = FileChange { deletions, ..FileChange::default() };
        tracked(TEXT, TEXT, &change)[0].reach.clone()
    };
    assert_eq!(deleted(18), Reach::Lines(14, 27));
    assert_eq!(deleted(8), Reach::Crate);
    let unreadable = tracked("fn {", "", &changed([1]));
    assert_eq!(unreadable[0].reach, Reach::Crate);
}

#[test]
fn what_looks_like_a_comment_is_none_in_a_text_of_several_lines() {
    let text = "fn a() -> &'static str {\n    \"a\n    // b\n\n    c\"\n}\n\n// d\nfn e() {}\n";
    let reach = |line| tracked(text, text, &changed([line])).pop().map(|tracked| tracked.reach);
    let body = (1, 6);
    for line in 2..=5 {
        assert_eq!(reach(line), Some(Reach::Statement((2, 5), body)), "{line}");
    }
    assert_eq!((reach(7), reach(8)), (None, None));
    let gone = |line| {
        let blanks = BTreeSet::from([line]);
        let change = FileChange { blanks, ..FileChange::default() };
        tracked(text, text, &change).len()
    };
    assert_eq!([1, 2, 4, 5, 7].map(gone), [0, 1, 1, 0, 0]);
}

#[test]
fn documentation_acts_on_what_a_macro_may_make_of_it() {
    let text = "/// A.\n#[derive(Debug, Clone)]\nstruct A {\n    /// B.\n    b: u8,\n}\n\n/// C.\n\
        #[derive(Debug, clap::Parser)]\nstruct C {\n    /// D.\n    // no\n    d: u8,\n}\n\n\
        /// E.\n#[test]\nfn e() {}\n\nm! {\n    /// F.\n    f\n}\n";
    let is_met = |line| !tracked(text, text, &changed([line])).is_empty();
    assert_eq!(
        [1, 4, 8, 11, 12, 16, 21].map(is_met),
        [false, false, true, true, false, false, true]
    );
    let new = tracked(text, text, &added(8..=14));
    assert!(new.iter().all(|tracked| tracked.reach == Reach::Named("C".to_owned())));
}

/// What the lines that are different in two texts of as many lines act on.
fn between(before: &str, after: &str) -> Vec<Reach> {
    let lines = before.lines().zip(after.lines()).zip(1..);
    let different = lines.filter(|((before, after), _)| before != after);
    let change = changed(different.map(|(_, line)| line));
    let tracked = tracked(after, before, &change).into_iter();
    tracked.map(|tracked| tracked.reach).collect()
}

#[test]
fn an_arm_with_another_pattern_acts_on_whoever_goes_into_the_others() {
    let text = "fn a(n: u8) -> u8 {\n    match n {\n        1 => 2,\n        \
        n if n > 5 => {\n            3\n        }\n\x20       _ => 4,\n    }\n}\n";
    let of = |old: &str, new: &str| between(text, &text.replace(old, new));
    let whole = (1, 9);
    let around = Reach::Statement((2, 8), whole);
    assert_eq!(of("1 => 2", "7 => 2"), std::slice::from_ref(&around));
    assert_eq!(of("n > 5", "n > 6"), [around]);
    assert_eq!(of("1 => 2", "1 => 7"), [Reach::Statement((3, 3), whole)]);
    assert_eq!(of(" 3\n", " 7\n"), [Reach::Statement((5, 5), whole)]);
}

#[test]
fn what_acts_without_being_run_acts_on_the_crate() {
    let text = "pub use a::b;\nuse c::d;\n#[cfg(e)]\nfn f(\n    g: u8,\n) -> u8 {\n    \
        #[cfg(h)]\n    i();\n    g\n}\n";
    let whole = Reach::Lines(3, 10);
    for (old, new, expected) in [
        ("a::b", "z::b", Reach::Crate),
        ("a::b", "a::{b, z}", Reach::Named("z".to_owned())),
        ("c::d", "z::d", Reach::File),
        ("cfg(e)", "cfg(z)", Reach::Crate),
        ("-> u8", "-> u16", Reach::Crate),
        ("g: u8", "g: u16", Reach::Crate),
        ("g: u8", "mut g: u8", whole.clone()),
        ("cfg(h)", "cfg(z)", whole),
    ] {
        assert_eq!(between(text, &text.replace(old, new)), [expected], "{new}");
    }
    let constant = "const fn a() -> u8 {\n    let b = 1;\n    b\n}\n";
    let gone = FileChange { deletions: BTreeSet::from([2]), ..FileChange::default() };
    assert_eq!(tracked(constant, "", &gone)[0].reach, Reach::Crate);
}

#[test]
fn a_trait_that_a_type_has_now_acts_on_what_knew_the_type_unless_it_gives_all_itself() {
    let reach = |head: &str| {
        let text = format!("impl {head} {{\n    fn t(&self) {{}}\n}}\n");
        let tracked = tracked(&text, "", &added(1..=3)).into_iter();
        let mut others = tracked.filter(|tracked| tracked.line == 1);
        others.next().map(|tracked| tracked.reach)
    };
    assert_eq!(reach("A"), None);
    assert_eq!(reach("T for A"), Some(Reach::Named("A".to_owned())));
    assert_eq!(reach("std::fmt::Display for A"), None);
    assert_eq!(reach("Clone for A"), None);
    // Another trait that is called so may give anything.
    assert_eq!(reach("own::Clone for A"), Some(Reach::Named("A".to_owned())));
    assert_eq!(reach("<B> T for B"), Some(Reach::Crate));
}
