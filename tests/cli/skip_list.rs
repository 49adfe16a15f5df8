//! Lists of tests to skip, for packages of distributions.

use std::process::Command;

use cargo_nondex::findings::skip_list::{Distribution, render};

use crate::problems::all_kinds;
use crate::sample::{advice, report, sources};

fn of(distribution: Distribution) -> String {
    let (_folder, sources) = sources();
    render(&all_kinds(), &sources, distribution)
}

#[test]
fn each_test_that_may_fail_is_there_once_with_its_reason_and_advice_is_not() {
    assert_eq!(
        of(Distribution::Nix),
        "checkFlags = [\n  \
           # ID: relies on the order of std::collections::HashMap::keys, src/lib.rs:2\n  \
           \"--skip=names\"\n  \
           # ID: relies on the order of std::collections::HashMap::keys, src/lib.rs:2\n  \
           \"--skip=more_names\"\n  \
           # ND: races: src/lib.rs:6 and src/lib.rs:8 use the same lock in either order, \
         src/lib.rs:6\n  \
           \"--skip=race\"\n  \
           # OD-victim: fails after sets_it, src/lib.rs:20\n  \
           \"--skip=victim\"\n  \
           # broken: fails in canonical order too, src/lib.rs:20\n  \
           \"--skip=broken\"\n  \
           # ND: known to be flaky until 9999-12-31: the clock is read twice, src/lib.rs:12\n  \
           \"--skip=known\"\n  \
           # broken: there is no database, src/lib.rs:12\n  \
           \"--skip=sanitised\"\n\
         ];\n"
    );
    let (_folder, sources) = sources();
    for distribution in Distribution::ALL {
        assert_eq!(render(&report(vec![advice()]), &sources, distribution), "");
    }
}

/// Returns the elements that bash makes of a list, which it prints one per line.
fn words(script: &str) -> Vec<String> {
    let output = Command::new("bash").args(["-euc", script]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {stderr}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn the_lists_are_what_their_languages_read() {
    let names = ["names", "more_names", "race", "victim", "broken", "known", "sanitised"];
    let flags = names.map(|name| format!("--skip={name}"));
    let shown = "printf '%s\\n'";
    let gentoo = of(Distribution::Gentoo);
    let script = format!("{gentoo}{shown} \"${{CARGO_SKIP_TESTS[@]}}\"");
    assert_eq!(words(&script), names);
    let arch = of(Distribution::Arch);
    assert_eq!(words(&format!("{arch}{shown} \"${{skip[@]}}\"")), flags);
    // This check does not run make: each line is a comment or adds a flag.
    let debian = of(Distribution::Debian);
    let added = debian
        .lines()
        .filter(|line| !line.starts_with("# "))
        .map(|line| line.strip_prefix("SKIP_TESTS += ").unwrap());
    assert_eq!(added.collect::<Vec<_>>(), flags);
}
