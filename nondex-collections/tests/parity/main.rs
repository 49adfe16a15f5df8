//! The mirror's API equals std's, line by line, as rustdoc describes both.
//!
//! The test builds the documentation of the mirror, and compares it with std's as installed with
//! the toolchain (`rustup component add rust-docs`). If that is missing, the list `std.txt`
//! replaces it, and the test prints this. To renew the list after a change of toolchain:
//! `NONDEX_BLESS=1 cargo test -p nondex-collections --features nondex --test parity`.

mod api;
mod differences;
mod html;
mod page;
mod signature;

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

use api::Api;
use differences::DIFFERENCES;

/// API of std in the toolchain that the repository is tested with. The first line names the
/// version.
const COMMITTED: &str = include_str!("std.txt");

/// Type that is only std's own where libc is interposed. The list is the same on every platform.
const OWN_ELSEWHERE: &str = "fs/struct.ReadDir";

/// API of the mirror, from rustdoc.
static MIRROR: LazyLock<Api> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parity");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "doc",
            "--offline",
            "--no-deps",
            "--package",
            "nondex-collections",
            "--features",
            "nondex",
        ])
        .arg("--manifest-path")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        // The caller's environment must not decide where the pages are written and whether a
        // warning is an error.
        .env_remove("CARGO_BUILD_TARGET")
        .env_remove("RUSTDOCFLAGS")
        .output()
        .expect("cargo starts");
    assert!(
        output.status.success(),
        "the mirror has no documentation: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Api::of_docs(&target.join("doc/nondex_collections"))
});

/// API in the documentation of std, if it is installed.
static INSTALLED: LazyLock<Option<Api>> = LazyLock::new(|| {
    let sysroot = PathBuf::from(rustc(&["--print", "sysroot"]));
    let docs = sysroot.join("share/doc/rust/html/std");
    docs.join("collections/struct.HashMap.html").exists().then(|| Api::of_docs(&docs))
});

fn rustc(arguments: &[&str]) -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(arguments).output().expect("rustc starts");
    String::from_utf8(output.stdout).expect("rustc speaks UTF-8").trim().to_owned()
}

/// Prints a message past the capture of test output, because readers of a passing run must see what
/// was not compared.
fn notice(text: &str) {
    _ = writeln!(io::stderr(), "\nparity: {text}");
}

/// Returns whether the mirror implements this item itself, and does not just re-export std's.
fn is_own(page: &str) -> bool {
    MIRROR.sources.get(page).is_some_and(|source| source.contains("src/nondex_collections/"))
}

/// Side of the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Std,
    Mirror,
}

/// Returns every line that only one side has. An empty line means the page itself.
fn compare(std: &Api, mirror: &Api) -> BTreeSet<(String, String, Side)> {
    let mut found = BTreeSet::new();
    let mut add =
        |page: &str, line: &str, side| found.insert((page.to_owned(), line.to_owned(), side));
    for (page, expected) in &std.pages {
        if !mirror.has(page) {
            add(page, "", Side::Std);
        }
        if is_own(page) {
            let lines = &mirror.pages[page];
            for line in expected.difference(lines) {
                add(page, line, Side::Std);
            }
            for line in lines.difference(expected) {
                add(page, line, Side::Mirror);
            }
        }
    }
    for page in mirror.pages.keys().filter(|page| !std.pages.contains_key(*page)) {
        add(page, "", Side::Mirror);
    }
    found
}

#[test]
fn the_mirror_has_stds_api_and_no_other() {
    let committed = Api::parse(COMMITTED);
    let std = INSTALLED.as_ref().unwrap_or_else(|| {
        notice(
            "the documentation of std is not installed (`rustup component add rust-docs`): \
             compared with std.txt",
        );
        &committed
    });
    let mut found = compare(std, &MIRROR);
    let mut gone = Vec::new();
    for difference in DIFFERENCES {
        for (line, side) in [(difference.std, Side::Std), (difference.mirror, Side::Mirror)] {
            let Some(line) = line else { continue };
            if !found.remove(&(difference.page.to_owned(), line.to_owned(), side)) {
                gone.push(format!(
                    "{side:?}: {}: {line} ({})\n",
                    difference.page, difference.reason
                ));
            }
        }
    }
    let found: Vec<String> = found
        .iter()
        .map(|(page, line, side)| format!("only in {side:?}: {page}\n    {line}\n"))
        .collect();
    assert!(
        found.is_empty(),
        "the mirror differs from std in {} lines\n{}",
        found.len(),
        found.concat()
    );
    assert!(
        gone.is_empty(),
        "differences that are no longer there
{}",
        gone.concat()
    );
}

#[test]
fn the_committed_list_is_what_the_installed_documentation_says() {
    let Some(std) = INSTALLED.as_ref() else {
        return notice("the documentation of std is not installed: std.txt was not checked");
    };
    let version = rustc(&["--version"]);
    let version = version.split(' ').nth(1).unwrap_or_default();
    let header = format!(
        "# The stable API of std {version}, as its documentation has it; full where the mirror has \
         types of its own.\n"
    );
    let list = std.only_lines_of(|page| is_own(page) || page == OWN_ELSEWHERE);
    if env::var_os("NONDEX_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parity/std.txt");
        return fs::write(path, format!("{header}{list}")).unwrap();
    }
    if !COMMITTED.starts_with(&header) {
        return notice(&format!("std.txt is of another version than {version}: not checked"));
    }
    assert!(
        Api::parse(COMMITTED) == list,
        "std.txt differs from the documentation: renew it with NONDEX_BLESS=1"
    );
}

#[test]
fn the_comparison_sees_what_is_there() {
    let committed = Api::parse(COMMITTED);
    let methods =
        |page: &str| committed.pages[page].iter().filter(|line| line.contains(": pub ")).count();
    assert_eq!(methods("collections/hash_map/struct.HashMap"), 33);
    assert_eq!(methods("hash/struct.RandomState"), 1);
    assert!(is_own("collections/hash_map/struct.Drain") && !is_own("collections/struct.BTreeMap"));
    assert!(committed.has("env/fn.current_dir") && committed.has("fs/struct.DirEntry"));
}
