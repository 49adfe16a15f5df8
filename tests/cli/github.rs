//! Annotations of GitHub Actions for findings.

use cargo_nondex::report::github;

use crate::problems::all_kinds;
use crate::sample::{report, sources};

#[test]
fn what_fails_the_run_is_an_error_advice_is_a_warning_and_the_rest_is_left_out() {
    let (_folder, sources) = sources();
    let text = github::annotations(&all_kinds(), &sources);
    let lines: Vec<&str> = text.lines().collect();
    let commands: Vec<&str> =
        lines.iter().map(|line| line.split(" file=").next().unwrap()).collect();
    assert_eq!(commands, ["::error", "::error", "::warning", "::error", "::error"]);
    assert_eq!(
        lines[0],
        "::error file=src/lib.rs,line=2,col=9,title=nondex[ID]%3A relies on the order of \
         `std%3A%3Acollections%3A%3AHashMap%3A%3Akeys`::`shop$names` and one other test rely on \
         the order of `std::collections::HashMap::keys`%0Athe order of 2 elements is \
         unspecified%0Ahelp: sort the collected elements, compare as maps, or use BTreeMap or \
         IndexMap%0Areproduce: cargo nondex replay 0123abcd"
    );
    assert!(lines[4].contains("::`shop$broken` fails in canonical order too%0A"), "{}", lines[4]);
    assert!(lines[4].ends_with("it fails here: 50 %25 broken: a,b|c"), "{}", lines[4]);
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn a_run_without_findings_annotates_nothing() {
    let (_folder, sources) = sources();
    assert_eq!(github::annotations(&report(Vec::new()), &sources), "");
}
