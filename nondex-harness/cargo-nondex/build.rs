//! Embeds the sources of the runtime, so that one installed binary can build it for every
//! toolchain.
//!
//! They are those of the packages that this one depends on. Each has a build script that reports
//! its folder, wherever cargo has put it: in the workspace, in a registry, in a git checkout or
//! among vendored packages. Their manifests in the runtime's workspace, where they are other
//! packages with other features, are in `runtime`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The folders with sources: where each is in the runtime's workspace, and the package whose `src`
/// it is.
const SOURCES: [(&str, &str); 4] = [
    ("core/src", "CORE"),
    ("interpose/src", "INTERPOSE"),
    ("std/src", "COLLECTIONS"),
    ("harness/src", "HARNESS"),
];

fn main() {
    let mut files = Vec::new();
    for (name, package) in SOURCES {
        let folder = PathBuf::from(variable(&format!("DEP_NONDEX_{package}_0_1_FOLDER")));
        collect(name, &folder.join("src"), &mut files);
        if package == "COLLECTIONS" {
            // What it finds out of a toolchain's std.
            files.push(("std/build.rs".to_owned(), folder.join("build.rs")));
        }
    }
    let own = Path::new(&variable("CARGO_MANIFEST_DIR")).join("runtime");
    collect("", &own, &mut files);
    files.sort();
    let mut list = String::from("&[\n");
    for (name, file) in files {
        println!("cargo::rerun-if-changed={}", file.display());
        writeln!(list, "    ({name:?}, include_str!({file:?})),").expect("a string takes it");
    }
    list.push_str("]\n");
    let out = PathBuf::from(variable("OUT_DIR"));
    fs::write(out.join("sources.rs"), list).expect("cargo's own folder can be written");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|e| panic!("`{name}` is not as cargo sets it: {e}"))
}

/// Adds the files below `path`, each with its place in the runtime's workspace. A folder with a
/// `Cargo.toml` would be left out of the package, so that manifests have the names of their folders
/// here.
fn collect(name: &str, path: &Path, files: &mut Vec<(String, PathBuf)>) {
    println!("cargo::rerun-if-changed={}", path.display());
    let entries =
        fs::read_dir(path).unwrap_or_else(|e| panic!("failed to list {}: {e}", path.display()));
    for entry in entries.flatten() {
        let entry_name = entry.file_name();
        let entry_name = entry_name.to_str().expect("our names are UTF-8");
        let name = match (name, entry_name.strip_suffix(".toml")) {
            ("", Some("workspace")) => "Cargo.toml".to_owned(),
            ("", Some("lock")) => "Cargo.lock".to_owned(),
            ("", Some(folder)) => format!("{folder}/Cargo.toml"),
            ("", None) => entry_name.to_owned(),
            (folder, _) => format!("{folder}/{entry_name}"),
        };
        match entry.path() {
            path if path.is_dir() => collect(&name, &path, files),
            path => files.push((name, path)),
        }
    }
}
