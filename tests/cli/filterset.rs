//! Filtersets have the same meaning as in nextest: they select the same tests, and the same texts
//! are errors.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use cargo_metadata::MetadataCommand;
use cargo_nondex::cli::filterset::{Expression, Platform, Query, WorkspaceMembers, of_test};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/filterset");

/// Returns the recorded output of nextest: each expression with its tests, or `None` for a refused
/// expression.
fn recorded() -> Vec<(String, Option<BTreeSet<String>>)> {
    let text = std::fs::read_to_string(Path::new(FIXTURE).join("nextest.txt")).unwrap();
    let mut cases: Vec<(String, Option<BTreeSet<String>>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        match (line.strip_prefix("  "), cases.last_mut()) {
            (Some("!"), Some((_, tests))) => *tests = None,
            (Some(test), Some((_, Some(tests)))) => {
                tests.insert(test.to_owned());
            }
            _ => cases.push((with_line_breaks(line), Some(BTreeSet::new()))),
        }
    }
    cases
}

/// Replaces `\n` by a line break before and after words. In other places, it would be an escape of
/// the language.
fn with_line_breaks(text: &str) -> String {
    text.replace("\\n or\\n ", "\n or\n ").replace("not\\n", "not\n")
}

fn workspace() -> WorkspaceMembers {
    let metadata = MetadataCommand::new()
        .manifest_path(Path::new(FIXTURE).join("Cargo.toml"))
        .other_options(["--offline".to_owned(), "--locked".to_owned()])
        .exec()
        .unwrap();
    WorkspaceMembers::new(&metadata)
}

/// Returns the tests of the fixture that `text` selects, in the format of `nextest list -T
/// oneline`.
fn selected(
    text: &str,
    workspace: &WorkspaceMembers,
    all: &BTreeSet<String>,
) -> Result<BTreeSet<String>, String> {
    let expression = Expression::parse(text).map_err(|error| error.to_string())?;
    let filterset = expression.resolve(workspace).map_err(|error| error.to_string())?;
    let contains = |line: &&String| {
        let (id, test) = line.split_once(' ').unwrap();
        let (package, rest) = id.split_once("::").unwrap_or((id, ""));
        let (kind, binary) = match rest.split_once('/') {
            Some((kind, binary)) => (kind, binary.to_owned()),
            None if package == "pm" => ("proc-macro", package.to_owned()),
            None if rest.is_empty() => ("lib", package.replace('-', "_")),
            None => ("test", rest.to_owned()),
        };
        filterset.contains(&Query {
            package,
            binary: &binary,
            binary_id: id,
            kind,
            platform: if package == "pm" { Platform::Host } else { Platform::Target },
            test,
        })
    };
    Ok(all.iter().filter(contains).cloned().collect())
}

#[test]
fn every_expression_selects_what_nextest_selects() {
    let workspace = workspace();
    let cases = recorded();
    let all = cases[0].1.clone().unwrap();
    assert_eq!((cases[0].0.as_str(), all.len()), ("all()", 20));
    for (text, expected) in &cases {
        match (selected(text, &workspace, &all), expected) {
            (Ok(found), Some(expected)) => assert_eq!(found, *expected, "{text}"),
            (Err(_), None) => {}
            (found, expected) => panic!("{text}: found {found:?}, nextest {expected:?}"),
        }
    }
}

#[test]
#[ignore = "needs cargo-nextest, and builds the fixture"]
fn the_record_is_what_the_installed_nextest_says() {
    let target = tempfile::tempdir().unwrap();
    for (text, expected) in recorded() {
        let output = Command::new(env!("CARGO"))
            .args(["nextest", "list", "--offline", "--cargo-quiet", "--run-ignored", "all"])
            .args(["--color", "never", "-T", "oneline", "-E", &text])
            .env("CARGO_TARGET_DIR", target.path())
            .current_dir(FIXTURE)
            .output()
            .unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let found = output.status.success().then(|| stdout.lines().map(str::to_owned).collect());
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn an_error_points_at_the_place() {
    let cases = [
        ("", 1, "expected a predicate or `(`, found the end"),
        ("  ", 3, "expected a predicate or `(`, found the end"),
        ("test(one", 9, "expected `)`, found the end"),
        ("test(one))", 10, "expected an operator or the end, found `)`"),
        ("test(one) AND all()", 11, "operators are lower-case"),
        ("all() && all()", 7, "expected `&` or `and`, found `&&`"),
        ("all() || all()", 7, "expected `|`, `+` or `or`, found `||`"),
        ("tset(one)", 1, "unknown predicate `tset`"),
        ("not group(x)", 5, "group() is not supported"),
        ("test(a) or", 11, "expected a predicate or `(`, found the end"),
        ("test()", 6, "expected a name, found `)`"),
        ("test(a, b)", 7, "takes one argument"),
        (r"test(é\q)", 7, "unknown escape"),
        ("test(/a)", 9, "expected `/`"),
        ("test(/a(/)", 7, "unclosed group"),
        ("package(#[)", 10, "unclosed character class"),
        ("platform(mars)", 10, "expected `host` or `target`, found `mars`"),
        ("all(x)", 5, "takes no argument"),
        ("all() é", 7, "found `é`"),
        ("test é", 6, "expected `(` after `test`, found `é`"),
    ];
    for (text, column, part) in cases {
        let error = Expression::parse(text).unwrap_err();
        assert_eq!(error.column(), column, "{text}: {error}");
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
    let deep = "(".repeat(100_000);
    assert!(Expression::parse(&deep).unwrap_err().to_string().contains("nested too deeply"));
    assert!(Expression::parse(&"not ".repeat(100_000)).is_err());
}

#[test]
fn a_chain_of_any_length_is_evaluated() {
    let chain = vec!["test(=absent)"; 50_000].join(" or ") + " or all()";
    let all = BTreeSet::from(["alpha tests::one".to_owned()]);
    assert_eq!(selected(&chain, &WorkspaceMembers::default(), &all), Ok(all));
}

#[test]
fn a_mistyped_package_is_an_error_that_names_those_there_are() {
    let error =
        Expression::parse("all() & package(alhpa)").unwrap().resolve(&workspace()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no package of the workspace matches this, there are: alpha, beta, gamma-x, pm\n  \
         all() & package(alhpa)\n                  ^^^^^"
    );
}

#[test]
fn the_expression_for_one_test_selects_it_whatever_its_name_is() {
    let names = ["a::b", "src/lib.rs - f::<T, U> (line 3)", "back\\slash\\n"];
    let all: BTreeSet<String> = names.map(|name| format!("alpha {name}")).into();
    let workspace = workspace();
    for name in names {
        let expression = of_test("alpha", name);
        let expected = BTreeSet::from([format!("alpha {name}")]);
        assert_eq!(selected(&expression, &workspace, &all), Ok(expected));
    }
}
