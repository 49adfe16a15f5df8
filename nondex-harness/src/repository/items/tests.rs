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
    FileChange {
        lines: lines.into_iter().collect(),
        ..FileChange::default()
    }
}

fn added(lines: Lines) -> FileChange {
    FileChange {
        added: lines.clone().collect(),
        ..changed(lines)
    }
}

fn of(line: u32) -> Option<Reach> {
    let found = tracked(TEXT, &changed([line]));
    assert!(found.len() <= 1);
    found.into_iter().next().map(|tracked| tracked.reach)
}

#[test]
fn each_line_acts_on_what_it_is_in() {
    let body = Reach::Lines(16, 27);
    for (line, expected) in [
        (1, Some(Reach::File)),
        (2, None),
        (3, None),
        (4, Some(Reach::Crate)),
        (6, Some(Reach::Crate)),
        (11, Some(Reach::Crate)),
        (12, Some(Reach::Crate)),
        (14, Some(body.clone())),
        (15, Some(body.clone())),
        (16, Some(body.clone())),
        (17, Some(Reach::Statement((17, 18), (16, 27)))),
        (18, Some(Reach::Statement((17, 18), (16, 27)))),
        (20, None),
        (21, Some(Reach::Statement((21, 21), (16, 27)))),
        (24, Some(Reach::Statement((24, 24), (16, 27)))),
        (27, Some(body)),
        (28, None),
        (30, Some(Reach::Crate)),
        (33, Some(Reach::Crate)),
        (36, Some(Reach::Crate)),
        (37, Some(Reach::Lines(38, 41))),
        (39, Some(Reach::Crate)),
        (40, Some(Reach::Statement((40, 40), (38, 41)))),
    ] {
        let text = TEXT.lines().nth(line as usize - 1);
        assert_eq!(of(line), expected, "{line}: {text:?}");
    }
}

#[test]
fn what_is_new_acts_only_on_what_names_it_and_what_is_deleted_on_its_function() {
    let new = |range: Lines| tracked(TEXT, &added(range));
    for (range, name) in [(3..=7, "A"), (9..=9, "N"), (44..=44, "m")] {
        let is_named = |tracked: &Tracked| tracked.reach == Reach::Named(name.to_owned());
        let found = new(range.clone());
        assert!(!found.is_empty() && found.iter().all(is_named), "{found:?}");
    }
    assert_eq!(new(30..=30)[0].reach, Reach::Crate);
    for text in [
        "m!();\n\n",
        "#[global_allocator]\nstatic A: B = B;\n",
        "#[macro_use]\nmod a;\n",
    ] {
        let found = tracked(text, &added(1..=2));
        assert_eq!(found[0].reach, Reach::Crate, "{text}");
    }
    let of_method = |tracked: &Tracked| tracked.line == 12 || tracked.reach != Reach::Crate;
    assert!(new(11..=28).iter().all(of_method));
    assert_eq!(tracked(TEXT, &changed([9]))[0].reach, Reach::Crate);
    let deleted = |line| {
        let deletions = BTreeSet::from([line]);
        let change = FileChange {
            deletions,
            ..FileChange::default()
        };
        tracked(TEXT, &change)[0].reach.clone()
    };
    assert_eq!(deleted(18), Reach::Lines(16, 27));
    assert_eq!(deleted(8), Reach::Crate);
    let unreadable = tracked("fn {", &changed([1]));
    assert_eq!(unreadable[0].reach, Reach::Crate);
}

#[test]
fn what_looks_like_a_comment_is_none_in_a_text_of_several_lines() {
    let text = "fn a() -> &'static str {\n    \"a\n    // b\n\n    c\"\n}\n\n// d\nfn e() {}\n";
    let reach = |line| {
        tracked(text, &changed([line]))
            .pop()
            .map(|tracked| tracked.reach)
    };
    let body = (1, 6);
    for line in 2..=5 {
        assert_eq!(reach(line), Some(Reach::Statement((2, 5), body)), "{line}");
    }
    assert_eq!((reach(7), reach(8)), (None, None));
    let gone = |line| {
        let blanks = BTreeSet::from([line]);
        let change = FileChange {
            blanks,
            ..FileChange::default()
        };
        tracked(text, &change).len()
    };
    assert_eq!([1, 2, 4, 5, 7].map(gone), [0, 1, 1, 0, 0]);
}

#[test]
fn documentation_acts_on_what_a_macro_may_make_of_it() {
    let text = "/// A.\n#[derive(Debug, Clone)]\nstruct A {\n    /// B.\n    b: u8,\n}\n\n\
        /// C.\n#[derive(Debug, clap::Parser)]\nstruct C {\n    /// D.\n    // no\n    d: u8,\n}\n\n\
        /// E.\n#[test]\nfn e() {}\n\nm! {\n    /// F.\n    f\n}\n";
    let is_met = |line| !tracked(text, &changed([line])).is_empty();
    assert_eq!(
        [1, 4, 8, 11, 12, 16, 21].map(is_met),
        [false, false, true, true, false, false, true]
    );
    let new = tracked(text, &added(8..=14));
    assert!(
        new.iter()
            .all(|tracked| tracked.reach == Reach::Named("C".to_owned()))
    );
}
