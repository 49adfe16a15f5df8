//! Tests with repositories in which a test is written, moved, renamed, copied and removed.

use super::*;
use crate::repository::scratch::Repository;

impl Repository {
    fn introduced(&self, file: &str, test: &str) -> Option<String> {
        test_history(&self.git, "HEAD", file, test).unwrap().introduced
    }
}

const SORTS: &str = "assert_eq!(sorted(&[1, 2, 3, 2, 1]), [1, 1, 2, 2, 3]);";

fn test(name: &str, body: &str) -> String {
    format!("#[test]\nfn {name}() {{\n    {body}\n}}\n\n")
}

#[test]
fn what_is_copied_comes_from_nowhere_and_what_is_moved_from_where_it_is_gone() {
    let of = Repository::new();
    let first = of.commit(&[("a.rs", test("case", SORTS))]);
    let second = of.commit(&[("b.rs", test("case", SORTS))]);
    let third = of.commit(&[("c.rs", test("other_case", SORTS))]);
    assert_eq!(of.introduced("a.rs", "case"), Some(first.clone()));
    assert_eq!(of.introduced("b.rs", "case"), Some(second));
    assert_eq!(of.introduced("c.rs", "other_case"), Some(third));
    of.commit(&[("a.rs", "mod d;".to_owned()), ("d.rs", test("renamed_case", SORTS))]);
    let found = test_history(&of.git, "HEAD", "d.rs", "d::renamed_case").unwrap();
    assert_eq!(found.introduced, Some(first));
    assert_eq!(found.names, ["renamed_case", "case"]);
}

#[test]
fn a_test_in_the_place_of_another_is_new_and_one_whose_lines_all_change_is_not() {
    let of = Repository::new();
    let old = "let input = encode(\"first\"); check_empty(&input); check_full(&input);";
    let new =
        "let mut map = new_map(); map.insert(\"second\", 2); check_empty(&map); check_full(&map);";
    let first = of.commit(&[("a.rs", test("encodes_text", old) + &test("stays", SORTS))]);
    // The lines are in the place of those of the other test.
    let second = of.commit(&[("a.rs", test("encodes_map", new) + &test("stays", SORTS))]);
    assert_eq!(of.introduced("a.rs", "encodes_map"), Some(second.clone()));
    // Every line has changed now, and so has the order.
    of.commit(&[("a.rs", test("stays", old) + &test("encodes_map", SORTS))]);
    assert_eq!(of.introduced("a.rs", "encodes_map"), Some(second));
    assert_eq!(of.introduced("a.rs", "stays"), Some(first));
}

#[test]
fn tests_that_are_alike_are_told_apart_and_names_that_are_exchanged_are_followed() {
    let of = Repository::new();
    let case = |n: u32| {
        format!(
            "let found = parse(\"{n}\").unwrap(); assert_eq!(found, {n}); \
             assert!(found.is_valid());"
        )
    };
    let first = of.commit(&[("a.rs", test("one", &case(1)) + &test("two", &case(2)))]);
    // `one` is renamed to `uno`. `three` is new, although it is similar.
    let text = test("uno", &case(1)) + &test("two", &case(2)) + &test("three", &case(3));
    let second = of.commit(&[("a.rs", text)]);
    assert_eq!(of.introduced("a.rs", "uno"), Some(first.clone()));
    assert_eq!(of.introduced("a.rs", "three"), Some(second));
}

#[test]
fn a_test_is_as_old_as_its_first_time_however_it_moved_or_was_away() {
    let of = Repository::new();
    let inside = |module: &str| format!("mod {module} {{\n{}}}\n", test("case", SORTS));
    let first = of.commit(&[("src/a.rs", inside("tests"))]);
    of.commit(&[("src/a.rs", inside("unit"))]);
    of.commit(&[("src/a.rs", String::new()), ("src/a/mod.rs", inside("unit"))]);
    // The file cannot be parsed for a while.
    of.commit(&[("src/a/mod.rs", inside("unit") + "fn {")]);
    of.commit(&[("src/a/mod.rs", inside("unit"))]);
    of.commit(&[
        ("src/a/mod.rs", "mod tests;\n".to_owned()),
        ("src/a/tests.rs", test("case", SORTS)),
    ]);
    of.commit(&[("src/a/tests.rs", "// Nothing.\n".to_owned())]);
    of.commit(&[("src/a/tests.rs", test("case", SORTS) + "// Again.\n")]);
    let head = of.head();
    let found = test_history(&of.git, &head, "src/a/tests.rs", "a::tests::case").unwrap();
    assert_eq!(found.introduced, Some(first));
    assert_eq!(found.files, ["src/a/tests.rs", "src/a/mod.rs", "src/a.rs"]);
}

#[test]
fn a_test_on_a_branch_is_as_old_as_on_the_branch_and_one_of_a_macro_as_its_name() {
    let of = Repository::new();
    of.commit(&[("a.rs", test("stays", SORTS))]);
    of.run(&["checkout", "--quiet", "-b", "side"]);
    let first = of.commit(&[("a.rs", test("stays", SORTS) + &test("case", "f(1); g(2);"))]);
    of.commit(&[("b.rs", "cases! { one: 1 }\n".to_owned())]);
    of.run(&["checkout", "--quiet", "main"]);
    of.commit(&[("a.rs", format!("// First.\n{}", test("stays", SORTS)))]);
    of.run(&["merge", "--quiet", "--no-ff", "--message", "m", "side"]);
    assert_eq!(of.introduced("a.rs", "case"), Some(first));
    let second = of.commit(&[("b.rs", "cases! { one: 1, two: 2 }\n".to_owned())]);
    of.commit(&[("b.rs", "cases! { one: 1, two: 3 }\n".to_owned())]);
    assert_eq!(of.introduced("b.rs", "b::two"), Some(second));
    assert_eq!(of.introduced("b.rs", "b::three"), None);
    assert_eq!(of.introduced("nowhere.rs", "case"), None);
    // A case of a parametrised test belongs to its function.
    let third = of.commit(&[("c.rs", test("many", "f(2); g(3);"))]);
    assert_eq!(of.introduced("c.rs", "c::many::case_1"), Some(third));
}

#[test]
fn a_test_that_is_renamed_and_not_committed_is_what_reads_the_same_and_is_gone() {
    let of = Repository::new();
    of.commit(&[("a.rs", test("sorts", SORTS) + &test("adds", "assert_eq!(sum(&[1, 2]), 3);"))]);
    let former = |now: &str, test: &str| {
        std::fs::write(of.git.root().join("a.rs"), now).unwrap();
        former_name(&of.git, "HEAD", "a.rs", test)
    };
    let now = test("is_sorted", SORTS) + &test("adds", "assert_eq!(sum(&[1, 2]), 3);");
    assert_eq!(former(&now, "tests::is_sorted").as_deref(), Some("sorts"));
    assert_eq!(former(&(now + &test("sorts", SORTS)), "tests::is_sorted"), None);
    assert_eq!(former(&test("other", "run(\"all\", &[], None, true);"), "other"), None);
}

#[test]
fn a_test_that_moved_keeps_a_line_and_one_that_was_renamed_most_of_them() {
    let of = Repository::new();
    let body = |n: u32| {
        let line = |name: &str| format!("assert_eq!({name}_number({n}), {n});\n    ");
        ["first", "second"].map(line).concat() + "check_empty_input(\"third\");"
    };
    let first = of.commit(&[("a.rs", test("moved", &body(1)) + &test("gone", &body(2)))]);
    of.commit(&[("a.rs", "mod b;\n".to_owned()), ("b.rs", test("moved", &body(3)))]);
    assert_eq!(of.introduced("b.rs", "b::moved"), Some(first));
    let other = of.commit(&[("b.rs", test("renamed", &body(4)))]);
    assert_eq!(of.introduced("b.rs", "b::renamed"), Some(other));
}
