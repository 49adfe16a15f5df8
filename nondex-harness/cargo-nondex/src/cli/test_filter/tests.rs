//! Tests of the selection of tests by name.

use super::*;
use crate::project::suite::tests::binary;

pub(crate) fn suite() -> Suite {
    let test = |name: &str, ignored| TestCase { ignored, ..TestCase::new(name) };
    Suite {
        binary: binary("shop", "cart"),
        tests: vec![
            test("add", false),
            test("add::twice", false),
            test("remove", false),
            test("slow::add", true),
        ],
    }
}

/// Returns the tests that are run, and those that are reported as ignored.
fn selected(args: &[&str]) -> Result<(Vec<String>, Vec<String>), String> {
    selected_by(None, args)
}

/// Like [`selected`], with this default filter of nextest.
fn selected_by(default: Option<&str>, args: &[&str]) -> Result<(Vec<String>, Vec<String>), String> {
    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        filter: FilterArgs,
    }
    let mut line = Line::try_parse_from(["test"].iter().chain(args)).map_err(|e| e.to_string())?;
    line.filter.default_filter = default.map(|text| Expression::parse(text).unwrap());
    let filter = line.filter.parse().map_err(|e| e.to_string())?;
    let filter = filter.resolve(&WorkspaceMembers::default()).map_err(|e| e.to_string())?;
    let suite = suite();
    let named = |wanted| {
        let tests = suite.tests.iter();
        let tests = tests.filter(|test| filter.matches(&suite, test) == wanted);
        tests.map(|test| test.name.clone()).collect()
    };
    Ok((named(Match::Run), named(Match::Ignored)))
}

#[test]
fn an_id_that_a_shell_took_a_part_of_is_recognised() {
    for (filter, expected) in [
        ("shop::cart::twice", Some("shop::cart$add::twice")),
        ("shop::cart$add::twice", None),
        ("shop::cart", None),
        ("twice", None),
    ] {
        let args = FilterArgs {
            names: NameArgs { filters: vec![filter.to_owned()], ..NameArgs::default() },
            ..FilterArgs::default()
        };
        let parsed = args.parse().unwrap();
        let resolved = parsed.resolve(&WorkspaceMembers::default()).unwrap();
        assert_eq!(resolved.unquoted(&[suite()]).as_deref(), expected, "{filter}");
    }
}

#[test]
fn names_select_as_in_libtest_wherever_they_stand() {
    for (args, run, ignored) in [
        (&[][..], &["add", "add::twice", "remove"][..], &["slow::add"][..]),
        (&["add"], &["add", "add::twice"], &["slow::add"]),
        (&["--", "add"], &["add", "add::twice"], &["slow::add"]),
        (&["twice", "--", "rem"], &["add::twice", "remove"], &[]),
        (&["add", "--", "--exact"], &["add"], &[]),
        (&["--exact", "add"], &["add"], &[]),
        (&["add", "--skip", "twice"], &["add"], &["slow::add"]),
        (&["--", "--skip", "twice", "--skip", "slow"], &["add", "remove"], &[]),
        (&["--exact", "--skip", "add"], &["add::twice", "remove"], &["slow::add"]),
        (&["--ignored"], &["slow::add"], &[]),
        (&["--", "--include-ignored", "add"], &["add", "add::twice", "slow::add"], &[]),
        (&["--run-ignored", "only"], &["slow::add"], &[]),
        (&["--run-ignored", "ignored-only"], &["slow::add"], &[]),
        (&["--run-ignored", "all", "add"], &["add", "add::twice", "slow::add"], &[]),
        (&["--run-ignored", "default", "slow"], &[], &["slow::add"]),
        (&["none"], &[], &[]),
        (&["shop::cart$add"], &["add", "add::twice"], &["slow::add"][..0]),
        (&["--exact", "shop::cart$add"], &["add"], &[]),
        (&["--skip", "cart$add"], &["remove"], &["slow::add"]),
        (&["other$add"], &[], &[]),
    ] {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(selected(args), Ok((names(run), names(ignored))), "{args:?}");
    }
}

#[test]
fn a_test_must_match_one_filterset_and_one_name() {
    let run = |args: &[&str]| selected(args).unwrap().0;
    assert_eq!(run(&["-E", "test(twice)", "-E", "test(remove)"]), ["add::twice", "remove"]);
    assert_eq!(run(&["-E", "kind(test) - test(=add)", "add"]), ["add::twice"]);
    assert!(run(&["-E", "kind(lib)"]).is_empty());
}

#[test]
fn the_default_filter_holds_for_every_test_and_may_be_a_part_of_a_filterset() {
    let run = |args: &[&str]| selected_by(Some("test(add)"), args).unwrap().0;
    assert_eq!(run(&[]), ["add", "add::twice"]);
    assert_eq!(run(&["-E", "not default()"]), [""; 0]);
    let all = "--ignore-default-filter";
    assert_eq!(run(&[all]), ["add", "add::twice", "remove"]);
    assert_eq!(run(&[all, "-E", "not default()"]), ["remove"]);
    assert_eq!(
        run(&[all, "-E", "(default() - test(=add)) + test(remove)"]),
        ["add::twice", "remove"]
    );
    assert_eq!(selected(&["-E", "default()"]).unwrap().0, ["add", "add::twice", "remove"]);
}

#[test]
fn a_test_that_the_default_filter_leaves_out_runs_with_no_others() {
    for (ignores_default, expected) in [(false, [true, false]), (true, [true, true])] {
        let args = FilterArgs {
            default_filter: Some(Expression::parse("test(add)").unwrap()),
            ignore_default_filter: ignores_default,
            ..FilterArgs::default()
        };
        let filter = args.parse().unwrap();
        let mut suites = [suite()];
        filter.resolve(&WorkspaceMembers::default()).unwrap().leave_out(&mut suites);
        let runs = |name| suites[0].test(name).unwrap().runs_with_others();
        assert_eq!(["add", "remove"].map(runs), expected);
    }
}

#[test]
fn the_option_that_shows_output_is_taken_from_the_words_of_libtest() {
    for (words, is_there, left) in [
        (&["add", "--nocapture"][..], true, &["add"][..]),
        (&["--no-capture"], true, &[]),
        (&["--exact", "add"], false, &["--exact", "add"]),
    ] {
        let mut args = FilterArgs {
            libtest: words.iter().map(|word| (*word).to_owned()).collect(),
            ..FilterArgs::default()
        };
        assert_eq!(args.take_no_capture(), is_there, "{words:?}");
        assert_eq!(args.libtest, left, "{words:?}");
    }
}
