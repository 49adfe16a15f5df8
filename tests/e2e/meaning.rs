//! Changes that alter the meaning of unchanged code. A test that runs none of the changed code, but
//! has another outcome, is not cleared.
//!
//! Each test fails in the user's own folder, and passes in the checkout of the code before the
//! change.

use std::fs;

use crate::distance::{FLAKY, REGRESSION, deflake, failing, impacts, manifest, repository};
use crate::support::{Fixture, commit, edit};

/// Package of a workspace: its name, its files, and the change in it.
struct Package {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// File of the test, and the statement that it runs first.
    test: (&'static str, &'static str),
    /// File, text in it, and replacement. The text is empty for a new file.
    change: (&'static str, &'static str, &'static str),
}

const NUMBERS: &str = "pub mod one {\n    pub fn number() -> u8 {\n        1\n    }\n}\n\
    pub mod two {\n    pub fn number() -> u8 {\n        2\n    }\n}\n";

const PACKAGES: &[Package] = &[
    Package {
        name: "imported",
        files: &[
            ("src/lib.rs", "mod numbers;\npub mod user;\n"),
            ("src/numbers.rs", NUMBERS),
            (
                "src/user.rs",
                "mod child;\n#[allow(unused_imports)]\nuse crate::numbers::one::number;\n\
                 pub fn other() {}\n",
            ),
        ],
        test: ("src/user/child.rs", "assert!(super::number() > 0)"),
        change: ("src/user.rs", "one::number", "two::number"),
    },
    Package {
        name: "exported",
        files: &[
            ("src/lib.rs", "mod numbers;\npub mod user;\n"),
            ("src/numbers.rs", NUMBERS),
            ("src/user.rs", "pub use crate::numbers::one::number;\npub fn other() {}\n"),
        ],
        test: ("tests/it.rs", "assert!(exported::user::number() > 0)"),
        change: ("src/user.rs", "one::number", "two::number"),
    },
    Package {
        name: "matched",
        files: &[(
            "src/lib.rs",
            "pub fn number(n: u8) -> u8 {\n    match n {\n        0..=4 => 1,\n        \
             5..=9 => 2,\n        _ => 3,\n\x20   }\n}\n",
        )],
        test: ("tests/it.rs", "assert!(matched::number(5) > 0)"),
        change: ("src/lib.rs", "0..=4", "0..=5"),
    },
    Package {
        name: "computed",
        files: &[(
            "src/lib.rs",
            "const fn number() -> u8 {\n    let mut n = 1;\n    n += 1;\n    n\n}\n\
             pub const NUMBER: u8 = number();\n",
        )],
        test: ("tests/it.rs", "assert!(computed::NUMBER > 0)"),
        change: ("src/lib.rs", "    n += 1;\n", ""),
    },
    Package {
        name: "configured",
        files: &[(
            "src/lib.rs",
            "pub trait Speak {\n    fn speak(&self) -> u8 {\n        1\n    }\n}\npub struct A;\n\
             impl Speak for A {\n    #[cfg(unix)]\n    fn speak(&self) -> u8 {\n        2\n    }\n\
             }\n",
        )],
        test: ("tests/it.rs", "assert!(configured::Speak::speak(&configured::A) > 0)"),
        change: ("src/lib.rs", "cfg(unix)", "cfg(windows)"),
    },
    Package {
        name: "provided",
        files: &[
            (
                "src/lib.rs",
                "pub mod outer;\npub trait Speak {\n    fn speak(&self) -> u8 {\n        1\n    \
                 }\n    fn other(&self) {}\n}\npub struct A;\nimpl Speak for A {\n    \
                 fn speak(&self) -> u8 {\n        2\n    }\n}\n",
            ),
            (
                "src/outer.rs",
                "use crate::Speak;\npub struct B(pub crate::A);\nimpl std::ops::Deref for B {\n    \
                 type Target = crate::A;\n    fn deref(&self) -> &crate::A {\n\
                 \x20       &self.0\n    }\n}\npub fn number() -> u8 {\n\
                 \x20   B(crate::A).speak()\n}\n",
            ),
        ],
        test: ("tests/it.rs", "assert!(provided::outer::number() > 0)"),
        change: (
            "src/outer.rs",
            "pub fn number",
            "impl Speak for B {\n    fn other(&self) {}\n}\npub fn number",
        ),
    },
    Package {
        name: "adopted",
        files: &[
            ("src/lib.rs", "pub mod user;\n"),
            ("src/user.rs", "pub struct A;\n"),
            ("src/waits.rs", "impl Drop for crate::user::A {\n    fn drop(&mut self) {}\n}\n"),
        ],
        test: ("tests/it.rs", "std::mem::needs_drop::<adopted::user::A>()"),
        change: ("src/lib.rs", "pub mod user;\n", "pub mod user;\nmod waits;\n"),
    },
    Package {
        name: "listed",
        files: &[
            (
                "build.rs",
                "fn main() {\n\
                 \x20   let count = std::fs::read_dir(\"src/plugins\").unwrap().count();\n\
                 \x20   println!(\"cargo::rustc-env=COUNT={count}\");\n\
                 \x20   println!(\"cargo::rerun-if-changed=src/plugins\");\n}\n",
            ),
            ("src/lib.rs", "pub const COUNT: &str = env!(\"COUNT\");\n"),
            ("src/plugins/a.rs", "pub fn a() {}\n"),
        ],
        test: ("tests/it.rs", "assert!(!listed::COUNT.is_empty())"),
        change: ("src/plugins/b.rs", "", "pub fn b() {}\n"),
    },
    Package {
        name: "numbered",
        files: &[("src/lib.rs", "pub fn before() {}\npub fn number() -> u32 {\n    line!()\n}\n")],
        test: ("tests/it.rs", "assert!(numbered::number() > 0)"),
        change: ("src/lib.rs", "pub fn before", "// New.\npub fn before"),
    },
    Package {
        name: "inferred",
        files: &[(
            "src/lib.rs",
            "pub fn seldom() -> u8 {\n    1\n}\npub fn size(is_seldom: bool) -> usize {\n    \
             let value = if is_seldom { seldom() } else { Default::default() };\n    \
             size_of_val(&value)\n}\n",
        )],
        test: ("tests/it.rs", "assert!(inferred::size(false) > 0)"),
        change: ("src/lib.rs", "-> u8", "-> u16"),
    },
    Package {
        name: "lent",
        files: &[("src/lib.rs", ""), ("tests/numbers.rs", "pub const N: u8 = 7;\n")],
        test: (
            "tests/deep/main.rs",
            "#[path = \"../numbers.rs\"]\n    mod numbers;\n    assert!(numbers::N > 0)",
        ),
        change: ("tests/numbers.rs", "= 7", "= 8"),
    },
    Package {
        name: "plain",
        files: &[("src/lib.rs", "pub fn number() -> u8 {\n    1\n}\n")],
        test: ("tests/it.rs", "plain::number()"),
        change: ("src/lib.rs", "    1\n}\n", "    1\n}\npub fn other() {}\n"),
    },
];

/// Returns a workspace of these packages. The root is a package too, and its folder has a package
/// that is not a member.
fn workspace() -> Fixture {
    let mut files: Vec<(String, String)> = Vec::new();
    for package in PACKAGES {
        let mut add =
            |file: &str, text: String| files.push((format!("{}/{file}", package.name), text));
        add("Cargo.toml", manifest(package.name, ""));
        for (file, text) in package.files {
            add(file, (*text).to_owned());
        }
        let (file, first) = package.test;
        add(file, failing(first));
    }
    let members: Vec<String> = PACKAGES
        .iter()
        .map(|package| package.name)
        .chain(["user", "asks"])
        .map(|name| format!("{name:?}"))
        .collect();
    let root = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{}]\nexclude = [\"kept\"]\n",
        members.join(", ")
    );
    let user = "[dependencies]\nkept = { path = \"../kept\" }\n";
    for (file, text) in [
        ("Cargo.toml", manifest("whole", &root)),
        ("src/lib.rs", String::new()),
        ("kept/Cargo.toml", manifest("kept", "[features]\nloud = []\n")),
        (
            "kept/src/lib.rs",
            "pub const N: u8 = 7;\npub fn is_loud() -> bool {\n    cfg!(feature = \"loud\")\n}\n"
                .to_owned(),
        ),
        ("user/Cargo.toml", manifest("user", user)),
        ("user/src/lib.rs", String::new()),
        ("user/tests/it.rs", failing("assert!(kept::N > 0)")),
        ("asks/Cargo.toml", manifest("asks", user)),
        ("asks/src/lib.rs", String::new()),
    ] {
        files.push((file.to_owned(), text));
    }
    let files: Vec<(&str, String)> =
        files.iter().map(|(file, text)| (file.as_str(), text.clone())).collect();
    repository(&files)
}

/// Changes all packages, and asserts the reports on the ones with these names.
fn expect_blamed(project: &Fixture, names: &[&str]) {
    for Package { name, change: (file, old, new), .. } in PACKAGES {
        let file = format!("{name}/{file}");
        if old.is_empty() {
            fs::write(project.path(&file), new).unwrap();
        } else {
            edit(project, &file, &[(*old, *new)]);
        }
    }
    edit(project, "kept/src/lib.rs", &[("= 7", "= 8")]);
    let selected = names.iter().flat_map(|name| ["-p", name]);
    let output = deflake(project, "").args(selected).run();
    let report = output.report();
    let impacts = impacts(&report);
    assert_eq!(impacts.len(), names.len(), "{}", output.stderr);
    for name in names {
        let expected = if *name == "plain" { FLAKY } else { REGRESSION };
        assert_eq!(impacts.get(name), Some(&expected), "{name}: {}", output.stderr);
    }
}

#[test]
fn a_change_of_the_meaning_of_other_code_is_blamed_for_the_tests_that_run_that_code() {
    let few = ["imported", "listed", "numbered", "plain", "user"];
    expect_blamed(&workspace(), &few);
}

#[test]
#[ignore = "second tier: builds fifteen packages"]
fn any_change_of_the_meaning_of_other_code_is_blamed_for_the_tests_that_run_that_code() {
    let project = workspace();
    let names: Vec<&str> = PACKAGES.iter().map(|package| package.name).chain(["user"]).collect();
    expect_blamed(&project, &names);

    // A feature that one package enables is enabled for the others too.
    commit(&project);
    let feature = "kept = { path = \"../kept\"";
    let enabled = format!("{feature}, features = [\"loud\"]");
    edit(&project, "asks/Cargo.toml", &[(feature, &enabled)]);
    let output = deflake(&project, "").args(["--workspace", "-E", "package(user)"]).run();
    assert_eq!(impacts(&output.report())["user"], REGRESSION, "{}", output.stderr);
}
