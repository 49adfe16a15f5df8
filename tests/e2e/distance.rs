//! Changes that affect a test without being run by it, or that are not where git shows them. A test
//! that such a change may affect is not cleared.
//!
//! Each test fails in the user's own folder, and passes in the checkout of the code before the
//! change.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

use cargo_nondex::report::Report;
use cargo_nondex::report::schema::{Blame, Witness};

use crate::support::{Fixture, Nondex, commit, edit, git_at_noon};

const FAIL: &str = "assert!(env!(\"CARGO_MANIFEST_DIR\").contains(\"checkout-\"));";

pub(super) fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n{rest}\n")
}

/// Returns the source of a failing test that runs `first` before it fails.
pub(super) fn failing(first: &str) -> String {
    format!("#[test]\nfn fails() {{\n    {first};\n    {FAIL}\n}}\n")
}

/// Returns a repository of these files, by their names.
pub(super) fn repository(files: &[(&str, String)]) -> Fixture {
    let project = Fixture::new("no-tests");
    for old in ["Cargo.toml", "src"] {
        let path = project.path(old);
        let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
    for (file, text) in files {
        let path = project.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::write(project.path(".gitignore"), "target\nCargo.lock\n").unwrap();
    git_at_noon(&project, &["init", "--quiet", "--initial-branch", "main"]);
    commit(&project);
    project
}

pub(super) fn deflake(project: &Fixture, folder: &str) -> Nondex {
    let arguments = ["--seeds", "0", "--delayed", "--tests"];
    Nondex::reported(&project.path(folder), "deflake").args(arguments)
}

/// Returns the reported verdict and its witness for the failing test of each package.
pub(super) fn impacts(report: &Report) -> BTreeMap<&str, (Blame, Option<Witness>)> {
    let changes = report.tests.iter().filter_map(|test| {
        let change = test.change.as_ref()?;
        Some((test.package.as_str(), (change.verdict, change.witness)))
    });
    changes.collect()
}

pub(super) const REGRESSION: (Blame, Option<Witness>) =
    (Blame::Regression, Some(Witness::Coverage));
const FILE: (Blame, Option<Witness>) = (Blame::Regression, Some(Witness::File));
pub(super) const FLAKY: (Blame, Option<Witness>) = (Blame::Flaky, Some(Witness::Coverage));

#[expect(clippy::too_many_lines, reason = "a table of packages")]
fn packages() -> Vec<(&'static str, String)> {
    let library = |first: &str, code: &str| {
        format!("{code}\n#[cfg(test)]\nmod tests {{\n{}}}\n", failing(first))
    };
    let members = [
        "helped",
        "derive",
        "helper",
        "built",
        "tools",
        "scripted",
        "shared",
        "numbered",
        "outer",
        "shadowed",
        "attributed",
        "quoted",
        "linked",
        "read",
        "hidden",
        "documented",
        "letters",
        "spelled",
        "plain",
    ];
    let list = members.map(|name| format!("\"{name}\"")).join(", ");
    let number = "pub fn number() -> u32 {\n    7\n}\n".to_owned();
    vec![
        ("ws/Cargo.toml", format!("[workspace]\nresolver = \"3\"\nmembers = [{list}]\n")),
        ("outside/Cargo.toml", manifest("outside", "[workspace]")),
        ("outside/src/lib.rs", number.clone()),
        ("common/linked.rs", number.clone()),
        // A macro and its dependency.
        (
            "ws/helped/Cargo.toml",
            manifest("helped", "[dependencies]\nderive = { path = \"../derive\" }"),
        ),
        ("ws/helped/src/lib.rs", library("assert_eq!(derive::number!(), 7)", "")),
        (
            "ws/derive/Cargo.toml",
            manifest(
                "derive",
                "[lib]\nproc-macro = true\n[dependencies]\nhelper = { path = \"../helper\" }",
            ),
        ),
        (
            "ws/derive/src/lib.rs",
            "#[proc_macro]\n\
             pub fn number(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    \
             helper::number().to_string().parse().unwrap()\n}\n"
                .to_owned(),
        ),
        ("ws/helper/Cargo.toml", manifest("helper", "")),
        ("ws/helper/src/lib.rs", number.clone()),
        // A build script and its dependency.
        (
            "ws/built/Cargo.toml",
            manifest("built", "[build-dependencies]\ntools = { path = \"../tools\" }"),
        ),
        (
            "ws/built/build.rs",
            "fn main() {\n    println!(\"cargo::rustc-env=NUMBER={}\", tools::number());\n}\n"
                .to_owned(),
        ),
        ("ws/built/src/lib.rs", library("assert!(!env!(\"NUMBER\").is_empty())", "")),
        ("ws/tools/Cargo.toml", manifest("tools", "")),
        ("ws/tools/src/lib.rs", number.clone()),
        // A module of a build script.
        ("ws/scripted/Cargo.toml", manifest("scripted", "")),
        (
            "ws/scripted/build.rs",
            "mod more;\nfn main() {\n    \
             println!(\"cargo::rustc-env=NUMBER={}\", more::number());\n}\n"
                .to_owned(),
        ),
        ("ws/scripted/more.rs", number.clone()),
        ("ws/scripted/src/lib.rs", library("assert!(!env!(\"NUMBER\").is_empty())", "")),
        // A test that is a module of another one.
        ("ws/shared/Cargo.toml", manifest("shared", "")),
        ("ws/shared/src/lib.rs", String::new()),
        (
            "ws/shared/tests/it.rs",
            format!("mod common_numbers;\n{}", failing("assert!(common_numbers::N > 1)")),
        ),
        (
            "ws/shared/tests/common_numbers.rs",
            "#![allow(dead_code)]\npub const N: u32 = 7;\n".to_owned(),
        ),
        // A folder of tests that is a module.
        ("ws/numbered/Cargo.toml", manifest("numbered", "")),
        ("ws/numbered/src/lib.rs", "#[cfg(test)]\nmod tests;\n".to_owned()),
        (
            "ws/numbered/src/tests.rs",
            format!(
                "mod numbers;\n{}",
                failing(
                    "assert!(numbers::N > \
                     1)"
                )
            ),
        ),
        ("ws/numbered/src/tests/numbers.rs", "pub const N: u32 = 7;\n".to_owned()),
        // A package outside of the workspace.
        (
            "ws/outer/Cargo.toml",
            manifest("outer", "[dependencies]\noutside = { path = \"../../outside\" }"),
        ),
        ("ws/outer/src/lib.rs", library("assert!(outside::number() > 1)", "")),
        // A new constant that replaces one from another file.
        ("ws/shadowed/Cargo.toml", manifest("shadowed", "")),
        (
            "ws/shadowed/src/lib.rs",
            library(
                "assert!(super::user::n() > 1)",
                "mod numbers {\n    pub const N: u32 = 7;\n}\nmod user {\n    \
                 #[allow(unused_imports)]\n    use super::numbers::*;\n\
                 \x20   #[allow(dead_code)]\n    pub fn n() -> u32 {\n        N\n    }\n}\n",
            ),
        ),
        // A source that git does not compare as text.
        ("ws/attributed/Cargo.toml", manifest("attributed", "")),
        ("ws/attributed/.gitattributes", "*.rs -diff\n".to_owned()),
        ("ws/attributed/src/lib.rs", library("assert!(super::number() > 1)", &number)),
        // A file name with a character that git quotes.
        ("ws/quoted/Cargo.toml", manifest("quoted", "")),
        (
            "ws/quoted/src/lib.rs",
            library("assert!(super::odd::number() > 1)", "#[path = \"a\\\"b.rs\"]\npub mod odd;\n"),
        ),
        ("ws/quoted/src/a\"b.rs", number.clone()),
        ("ws/linked/Cargo.toml", manifest("linked", "")),
        (
            "ws/linked/src/lib.rs",
            library("assert!(super::linked::number() > 1)", "pub mod linked;\n"),
        ),
        // Files for readers, and hidden files.
        ("ws/read/Cargo.toml", manifest("read", "")),
        (
            "ws/read/src/lib.rs",
            library("assert!(!std::fs::read(\"README.md\").unwrap().is_empty())", ""),
        ),
        ("ws/read/README.md", "One.\n".to_owned()),
        ("ws/hidden/Cargo.toml", manifest("hidden", "")),
        (
            "ws/hidden/src/lib.rs",
            library("assert!(!std::fs::read(\".env\").unwrap().is_empty())", ""),
        ),
        ("ws/hidden/.env", "A=1\n".to_owned()),
        ("ws/documented/Cargo.toml", manifest("documented", "")),
        (
            "ws/documented/src/lib.rs",
            format!("#![doc = include_str!(\"../NOTES.md\")]\n{}", library("()", "")),
        ),
        ("ws/documented/NOTES.md", "One.\n".to_owned()),
        // A file that the compiler reads for a macro.
        ("ws/letters/Cargo.toml", manifest("letters", "[lib]\nproc-macro = true")),
        (
            "ws/letters/src/lib.rs",
            "#[proc_macro]\n\
             pub fn number(_: proc_macro::TokenStream) -> proc_macro::TokenStream {\n    \
             include_str!(\"number.in\").parse().unwrap()\n}\n"
                .to_owned(),
        ),
        ("ws/letters/src/number.in", "7\n".to_owned()),
        (
            "ws/spelled/Cargo.toml",
            manifest("spelled", "[dependencies]\nletters = { path = \"../letters\" }"),
        ),
        ("ws/spelled/src/lib.rs", library("assert!(letters::number!() > 1)", "")),
        ("ws/plain/Cargo.toml", manifest("plain", "")),
        ("ws/plain/src/lib.rs", library("()", "")),
    ]
}

/// Returns a repository in which each package has a change that affects itself or another one.
fn changed() -> Fixture {
    let project = repository(&packages());
    symlink("../../../common/linked.rs", project.path("ws/linked/src/linked.rs")).unwrap();
    commit(&project);
    let seven = [("    7\n", "    8 - 1\n")];
    for file in [
        "ws/helper/src/lib.rs",
        "ws/tools/src/lib.rs",
        "ws/scripted/more.rs",
        "outside/src/lib.rs",
        "ws/attributed/src/lib.rs",
        "ws/quoted/src/a\"b.rs",
        "common/linked.rs",
    ] {
        edit(&project, file, &seven);
    }
    for file in ["ws/shared/tests/common_numbers.rs", "ws/numbered/src/tests/numbers.rs"] {
        edit(&project, file, &[("= 7", "= 8")]);
    }
    fs::write(project.path("ws/letters/src/number.in"), "8\n").unwrap();
    let shadow = "    #[allow(dead_code)]\n    pub fn n()";
    let shadowing = format!("    const N: u32 = 8;\n{shadow}");
    edit(&project, "ws/shadowed/src/lib.rs", &[(shadow, &shadowing)]);
    for file in ["ws/read/README.md", "ws/hidden/.env", "ws/documented/NOTES.md"] {
        fs::write(project.path(file), "Two=2\n").unwrap();
    }
    project
}

#[test]
#[ignore = "second tier: builds nineteen packages"]
fn any_change_that_affects_tests_indirectly_is_blamed_for_the_tests_that_it_may_affect() {
    let output = deflake(&changed(), "ws").run();
    let expected = BTreeMap::from([
        ("attributed", REGRESSION),
        ("built", REGRESSION),
        ("documented", FLAKY),
        ("helped", REGRESSION),
        ("hidden", FILE),
        ("linked", REGRESSION),
        ("numbered", REGRESSION),
        ("outer", REGRESSION),
        ("plain", FLAKY),
        ("quoted", REGRESSION),
        ("read", FILE),
        ("scripted", REGRESSION),
        ("shadowed", REGRESSION),
        ("shared", REGRESSION),
        ("spelled", (Blame::Unknown, None)),
    ]);
    assert_eq!(impacts(&output.report()), expected, "{}", output.stderr);
}

#[test]
fn a_change_that_affects_tests_indirectly_is_blamed_by_another_path_too() {
    let project = changed();
    // The manifest path goes through a link to the project. Git reports another path for it.
    fs::create_dir_all(project.path("ws/target")).unwrap();
    let link = project.path("ws/target/link");
    symlink(project.path(""), &link).unwrap();
    let manifest = link.join("ws/Cargo.toml");
    let output = deflake(&project, "")
        .arg("--manifest-path")
        .arg(manifest)
        .args(["outer", "plain", "read", "spelled", "helped"].map(|name| format!("-p{name}")))
        .run();
    let expected = BTreeMap::from([
        ("helped", REGRESSION),
        ("outer", REGRESSION),
        ("plain", FLAKY),
        ("read", FILE),
        ("spelled", (Blame::Unknown, None)),
    ]);
    assert_eq!(impacts(&output.report()), expected, "{}", output.stderr);
}

#[test]
fn a_changed_submodule_is_blamed_for_every_test() {
    let inner = repository(&[("lib.rs", "pub fn number() -> u32 {\n    7\n}\n".to_owned())]);
    let lib =
        format!("#[path = \"../inner/lib.rs\"]\npub mod inner;\n{}", failing("inner::number()"));
    let project = repository(&[("Cargo.toml", manifest("plain", "")), ("src/lib.rs", lib)]);
    let from = inner.path("").display().to_string();
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "inner"];
    git_at_noon(&project, &add);
    commit(&project);
    edit(&project, "inner/lib.rs", &[("    7", "    8 - 1")]);
    let output = deflake(&project, "").run();
    let expected = BTreeMap::from([("plain", REGRESSION)]);
    assert_eq!(impacts(&output.report()), expected, "{}", output.stderr);
}
