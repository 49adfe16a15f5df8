//! Embeds the sources of the runtime, so that one installed binary can build it for every toolchain.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What the runtime is built from, relative to the root of the repository.
const PARTS: [&str; 8] = [
    "Cargo.toml",
    "Cargo.lock",
    "nondex-core/Cargo.toml",
    "nondex-core/src",
    "nondex-collections/src",
    "nondex-harness/Cargo.toml",
    "nondex-harness/src/inprocess",
    "nondex-harness/runtime",
];

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let root = root
        .canonicalize()
        .expect("the manifest's folder has a parent");
    let mut files = Vec::new();
    for part in PARTS {
        println!("cargo::rerun-if-changed={}", root.join(part).display());
        collect(&root.join(part), &mut files);
    }
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file
            .strip_prefix(&root)
            .expect("every part is below the root")
            .to_str()
            .expect("our names are UTF-8");
        writeln!(
            list,
            "    ({:?}, include_str!({:?})),",
            name.replace('\\', "/"),
            file
        )
        .expect("a string takes it");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("sources.rs"), list).expect("cargo's own folder can be written");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_dir() {
        let entries =
            fs::read_dir(path).unwrap_or_else(|e| panic!("failed to list {}: {e}", path.display()));
        for entry in entries.flatten() {
            if entry.file_name() != "target" && entry.file_name() != "Cargo.lock" {
                collect(&entry.path(), files);
            }
        }
    } else {
        files.push(path.to_owned());
    }
}
