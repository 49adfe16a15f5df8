//! Where a change is judged, only the functions that hold changed lines tell that they run: what is
//! said is the same as when all of them tell.

use std::collections::BTreeMap;

use cargo_nondex::report::Report;

use crate::distance::{manifest, repository};
use crate::support::{Fixture, Nondex, edit};

const LIB: &str = r#"
use std::fmt::Display;

pub mod inner {
    #[inline(always)]
    pub fn folded(n: u8) -> u8 {
        n.wrapping_add(1)
    }

    pub fn called(n: u8) -> u8 {
        if n > 3 {
            folded(n)
        } else {
            folded(n - 1)
        }
    }
}

pub trait Shape {
    fn side(&self) -> u8;
    fn area(&self) -> u8 {
        let side = self.side();
        side * side
    }
}

#[derive(Clone)]
pub struct Square<T>(pub T);

impl Shape for Square<u8> {
    fn side(&self) -> u8 {
        self.0
    }
}

impl<T: Display> Square<T> {
    pub fn shown(&self) -> String {
        let text = self.0.to_string();
        format!("<{text}>")
    }
}

pub fn closures(numbers: &[u8]) -> Vec<u8> {
    numbers
        .iter()
        .filter(|n| **n > 1)
        .map(|n| {
            let twice = n * 2;
            twice + 1
        })
        .collect()
}

pub fn matched(n: u8) -> &'static str {
    match n {
        0 => "none",
        1 => "one",
        _ => "many",
    }
}

macro_rules! made {
    ($name:ident) => {
        pub fn $name() -> u8 {
            5
        }
    };
}
made!(first);
"#;

const CALLS: &[&str] = &[
    "assert!(telling::inner::called(5) > 0)",
    "assert!(telling::inner::called(2) > 0)",
    "use telling::Shape;\n    assert!(telling::Square(3_u8).area() > 0)",
    "assert!(!telling::Square(\"a\").shown().is_empty())",
    "assert!(telling::closures(&[1]).is_empty())",
    "assert!(!telling::closures(&[2]).is_empty())",
    "assert!(!telling::matched(1).is_empty())",
    "assert!(telling::first() > 0)",
    "assert!(!telling::Square(1_u16).clone().shown().is_empty())",
];

/// Changes of several lines: in each, none is one of the others.
const CHANGES: &[&[(&str, &str)]] = &[
    &[
        ("folded(n - 1)", "folded(n - 2)"),
        ("side * side", "side * side * 1"),
        ("twice + 1", "twice + 2"),
        ("\"one\"", "\"uno\""),
    ],
    &[
        ("n.wrapping_add(1)", "n.wrapping_add(2)"),
        ("let text = self.0.to_string();", "let text = format!(\"{}\", self.0);"),
        (".filter(|n| **n > 1)", ".filter(|n| **n >= 2)"),
        ("0 => \"none\"", "0 => \"zero\""),
    ],
    &[("        self.0\n", "        self.0 + 0\n")],
    &[("            5\n", "            6\n")],
];

fn project() -> Fixture {
    let tests = CALLS.iter().zip(0..).map(|(call, number)| {
        format!(
            "#[test]\nfn fails_{number}() {{\n    {call};\n    \
             assert!(env!(\"CARGO_MANIFEST_DIR\").contains(\"nondex\"));\n}}\n"
        )
    });
    let manifest = manifest("telling", "");
    repository(&[
        ("Cargo.toml", manifest),
        ("src/lib.rs", LIB.to_owned()),
        ("tests/it.rs", tests.collect()),
    ])
}

/// The report on each test and on all: what the change has to do with it, and the changed lines
/// that it ran, and those that none ran.
fn said(report: &Report) -> (BTreeMap<&str, String>, String) {
    let tests = report.tests.iter();
    let tests = tests.map(|test| (test.name.as_str(), format!("{:?}", test.change)));
    (tests.collect(), format!("{:?}", report.uncovered))
}

#[test]
fn what_is_said_of_a_change_is_the_same_whether_changed_functions_tell_or_all() {
    expect_the_same(&CHANGES[..1]);
}

#[test]
#[ignore = "second tier: builds each change twice"]
fn what_is_said_is_the_same_whether_changed_functions_tell_or_all() {
    expect_the_same(&CHANGES[1..]);
}

fn expect_the_same(changes: &[&[(&str, &str)]]) {
    let project = project();
    for change in changes {
        edit(&project, "src/lib.rs", change);
        let run = |target: &str| {
            let target = project.path(target);
            let run = Nondex::reported(&project.path(""), "deflake");
            let run = run.args(["--seeds", "0", "--tests"]);
            run.env("CARGO_TARGET_DIR", target).run().report()
        };
        let changed = run("target");
        // LLVM's arguments are divided at spaces, so there all functions are instrumented.
        let all = run("target/with a space");
        let is_built = |build: &str| project.path("target/nondex").join(build).exists();
        assert!(is_built("build-changed") && !is_built("build-covered"));
        assert_eq!(said(&changed), said(&all), "{change:?}");
        let undo: Vec<(&str, &str)> = change.iter().map(|(old, new)| (*new, *old)).collect();
        edit(&project, "src/lib.rs", &undo);
    }
}
