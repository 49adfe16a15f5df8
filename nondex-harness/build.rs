//! Embeds the sources of the runtime, so that one installed binary can build it for every
//! toolchain.
//!
//! They are all inside of this package: `embedded` has links to those of the other packages, which
//! `cargo package` follows.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the runtime is built from: its place in the runtime's workspace, which is that of the
/// repository, and in this package.
const PARTS: [(&str, &str); 10] = [
    ("Cargo.toml", "embedded/workspace.toml"),
    ("Cargo.lock", "embedded/workspace.lock"),
    ("nondex-core/Cargo.toml", "embedded/nondex-core.toml"),
    ("nondex-core/src", "embedded/nondex-core"),
    ("nondex-collections/src", "embedded/nondex-collections"),
    (
        "nondex-collections/interpose/Cargo.toml",
        "embedded/nondex-interpose.toml",
    ),
    (
        "nondex-collections/interpose/src",
        "embedded/nondex-interpose",
    ),
    ("nondex-harness/Cargo.toml", "embedded/nondex-harness.toml"),
    ("nondex-harness/src/inprocess", "src/inprocess"),
    ("nondex-harness/runtime", "runtime"),
];

/// The name of a manifest in this package: a folder with a `Cargo.toml` would be left out as a
/// package of its own.
const MANIFEST: &str = "manifest.toml";

fn main() {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut files = Vec::new();
    for (name, path) in PARTS {
        let path = package.join(path);
        let path = path
            .canonicalize()
            .unwrap_or_else(|e| panic!("failed to find {}: {e}", path.display()));
        println!("cargo::rerun-if-changed={}", path.display());
        collect(name, &path, &mut files);
    }
    files.sort();
    let mut list = String::from("&[\n");
    for (name, file) in files {
        writeln!(list, "    ({name:?}, include_str!({file:?})),").expect("a string takes it");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("sources.rs"), list).expect("cargo's own folder can be written");
}

fn collect(name: &str, path: &Path, files: &mut Vec<(String, PathBuf)>) {
    if !path.is_dir() {
        files.push((name.to_owned(), path.to_owned()));
        return;
    }
    let entries =
        fs::read_dir(path).unwrap_or_else(|e| panic!("failed to list {}: {e}", path.display()));
    for entry in entries.flatten() {
        let entry_name = entry.file_name();
        let entry_name = match entry_name.to_str().expect("our names are UTF-8") {
            MANIFEST => "Cargo.toml",
            other => other,
        };
        collect(&format!("{name}/{entry_name}"), &entry.path(), files);
    }
}
