//! Tests of what a difference affects.

use similar::{ChangeTag, TextDiff};

use super::*;

/// Returns the difference between two texts as git shows it.
fn difference(other: &str, ran: &str) -> FileChange {
    let mut change = FileChange::default();
    let diff = TextDiff::from_lines(other, ran);
    for group in diff.grouped_ops(0) {
        let changes: Vec<_> = group.iter().flat_map(|op| diff.iter_changes(op)).collect();
        let number = |index: Option<usize>| u32::try_from(index.unwrap() + 1).unwrap();
        let count = |tag| changes.iter().filter(|change| change.tag() == tag).count();
        let new = changes.iter().filter(|change| change.tag() == ChangeTag::Insert);
        change.lines.extend(new.map(|change| number(change.new_index())));
        if count(ChangeTag::Insert) < count(ChangeTag::Delete) {
            let first = u32::try_from(group[0].new_range().start).unwrap();
            change.deletions.extend([first, first + count(ChangeTag::Insert) as u32]);
        }
    }
    change
}

/// Returns what the difference between two texts affects, if each text uses all names that it
/// contains.
fn between(other: &str, ran: &str) -> Vec<Reach> {
    let is_used = |side: Side, name: &str, _: bool| {
        let text = if side == Side::Ran { ran } else { other };
        text.contains(name)
    };
    let found = tracked(Some(ran), Some(other), &difference(other, ran), &is_used);
    let mut found: Vec<Reach> = found.into_iter().map(|tracked| tracked.reach).collect();
    found.dedup();
    found
}

const TEXT: &str = "\
use std::fmt;

/// A type.
#[derive(Debug)]
struct A {
    /// A field.
    b: u8,
}

const N: usize = 3;

impl A {
    const M: u8 = 1;

    #[inline]
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
            n if n > 5 => {
                3
            }
            _ => 4,
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
        let text = \"a
            // b

            c\";
        assert_eq!(A { b: 1 }.b(), 2);
    }
}

macro_rules! m { () => {} }

m! {
    /// D.
    d
}
";

#[test]
fn each_change_acts_on_the_statement_or_the_crate_that_it_is_in() {
    let whole = (15, 32);
    let lines = |first, last| vec![Reach::Lines((first, last), whole)];
    let whole_crate = || vec![Reach::Crate];
    let of_test = |first, last| vec![Reach::Lines((first, last), (42, 50))];
    for (old, new, expected) in [
        ("std::fmt", "core::fmt", whole_crate()),
        ("/// A type.", "/// One.", vec![]),
        ("/// A field.", "/// One.", vec![]),
        ("(Debug)", "(Clone)", whole_crate()),
        ("b: u8,\n", "b: u16,\n", whole_crate()),
        ("= 3", "= 4", whole_crate()),
        ("M: u8 = 1", "M: u8 = 2", whole_crate()),
        ("#[inline]", "#[cold]", whole_crate()),
        ("&self", "self", whole_crate()),
        ("-> u8 {\n        let", "-> u16 {\n        let", whole_crate()),
        ("let x = self", "let mut x = self", lines(19, 20)),
        ("            .b;", "            .b.c;", lines(19, 20)),
        ("// Much.", "// Little.", vec![]),
        ("        if x > 3", "        if   x > 3", vec![]),
        ("return 7", "return 8", lines(23, 23)),
        ("            return 7;\n", "", lines(15, 31)),
        ("return 7", "// return 7", lines(15, 32)),
        ("                3\n", "                4\n", lines(28, 28)),
        ("n > 5 => {", "n > 6 => {", lines(25, 31)),
        ("1 => 2", "1 => 7", lines(25, 31)),
        ("impl Copy for A {}", "", whole_crate()),
        ("    4\n}", "    5\n}", whole_crate()),
        ("K: u8 = 1", "K: u8 = 2", whole_crate()),
        ("            // b\n", "            // c\n", of_test(45, 48)),
        ("fn t()", "fn t(n: u8)", of_test(42, 50)),
        (", 2);", ", 3);", of_test(49, 49)),
        ("{ () => {} }", "{ () => { 1 } }", whole_crate()),
        ("/// D.", "/// E.", whole_crate()),
        ("fn c(", "fn c(()", whole_crate()),
    ] {
        let ran = TEXT.replacen(old, new, 1);
        let mut expected = expected;
        if new.is_empty() && matches!(&expected[..], [Reach::Lines(..)]) {
            expected = vec![Reach::Lines((15, 31), (15, 31))];
        }
        assert_eq!(between(TEXT, &ran), expected, "{old} -> {new}");
    }
    let gone = TEXT.replacen("            // b\n", "", 1);
    let of_text = Reach::Lines((45, 47), (42, 49));
    assert!(between(TEXT, &gone).contains(&of_text));
}

#[test]
fn what_is_new_acts_only_where_its_name_had_a_meaning() {
    let own = |last| vec![Reach::Lines((1, last), (1, last))];
    for (new, rest, expected) in [
        ("struct S;", "fn s() {}", vec![]),
        ("struct S;", "fn s() { S; }", vec![Reach::Crate]),
        ("const S: u8 = 1;", "fn s() { S; }", vec![Reach::Crate]),
        ("mod s;", "", vec![]),
        ("mod s;", "fn f() { s::g(); }", vec![Reach::Crate]),
        ("fn s() {}", "fn f() { s(); }", own(1)),
        ("const fn s() {}", "fn f() { s(); }", vec![Reach::Crate]),
        ("#[ctor]\nfn s() {}", "", vec![Reach::Crate]),
        ("#[test]\nfn s() {}", "fn f() { s(); }", own(2)),
        ("m!();", "", vec![Reach::Crate]),
        ("pub use a::b;", "", vec![Reach::Crate]),
        ("#[global_allocator]\nstatic S: B = B;", "", vec![Reach::Crate]),
        ("const _: () = ();", "", vec![Reach::Crate]),
        ("impl<B> T for B {}", "", vec![Reach::Crate]),
        ("impl T for S {}", "struct S;", vec![Reach::Crate]),
        ("struct S;\nimpl T for S {}", "", vec![]),
        ("impl T for Vec<u8> {}", "", vec![Reach::Crate]),
        ("mod s {\n    use a::b;\n    const K: u8 = 1;\n}", "fn K() {}", vec![]),
        ("mod s { impl T for A {} }", "struct A;", vec![Reach::Crate]),
        ("#![no_std]", "", vec![Reach::Crate]),
        ("fn s( {", "", vec![Reach::Crate]),
    ] {
        let ran = format!("{new}\n{rest}");
        assert_eq!(between(rest, &ran), expected, "{new}");
    }
    // Removed items act like new ones, except that nothing runs them.
    for (gone, rest, expected) in [
        ("fn s() {}", "fn f() { s(); }", vec![Reach::Crate]),
        ("fn s() {}", "fn f() {}", vec![]),
        ("#[test]\nfn s() {}", "fn f() { s(); }", vec![]),
        ("impl A {\nfn s() {}\n}", "fn f() { s(); }", vec![Reach::Crate]),
        ("struct A;\nimpl T for A {\nfn s() {}\n}", "fn f() {}", vec![]),
        ("impl T for A {\nfn s() {}\n}", "fn f() {}", vec![Reach::Crate]),
    ] {
        let other = format!("{gone}\n{rest}");
        assert_eq!(between(&other, rest), expected, "{gone}");
    }
    let [with, without] = ["fn s(&self) {}", ""].map(|own| format!("impl T for A {{\n{own}\n}}\n"));
    assert_eq!(between(&with, &without), [Reach::Crate]);
    assert_eq!(between(&without, &with), [Reach::Lines((2, 2), (2, 2))]);
}

#[test]
fn a_new_file_acts_by_what_the_crate_knew_of_it() {
    let all = |_: Side, _: &str, _: bool| true;
    let new = "use a::b;\nstruct S;\nfn f() {}\n";
    let change = difference("", new);
    let lines = (3, 3);
    let expected = [Tracked { line: 3, reach: Reach::Lines(lines, lines) }];
    assert_eq!(tracked(Some(new), None, &change, &all), expected);
    assert_eq!(tracked(None, Some(new), &difference(new, ""), &all), []);
    let of_crate = [Tracked { line: 1, reach: Reach::Crate }];
    for (text, expected) in [
        ("struct S;\nimpl S { fn f() {} }", &[][..]),
        // The type is older than the file.
        ("impl S { fn f() {} }", &of_crate),
        ("impl T for S { fn f() {} }", &of_crate),
        ("impl<S> T for S { fn f() {} }", &of_crate),
    ] {
        let found = tracked(None, Some(text), &FileChange::default(), &all);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn documentation_acts_on_what_a_macro_may_make_of_it() {
    for (attribute, is_read) in [
        ("#[derive(Debug, Clone)]", false),
        ("#[derive(Debug, clap::Parser)]", true),
        ("#[non_exhaustive]", false),
        ("#[other]", true),
    ] {
        let text = |words: &str| {
            format!("/// {words}\n{attribute}\nstruct A {{\n/// {words}\nb: u8,\n}}\n")
        };
        assert_eq!(!between(&text("A"), &text("B")).is_empty(), is_read, "{attribute}");
    }
}
