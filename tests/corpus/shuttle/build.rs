//! Lists the programs: every `pub mod` of the files next to `mod.rs`.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const PROGRAMS: &str = "../../fixtures/threads/src/programs";

fn main() {
    println!("cargo::rerun-if-changed={PROGRAMS}");
    let mut files: Vec<_> = fs::read_dir(PROGRAMS)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut list = String::from("[");
    for file in files.iter().filter(|file| !file.ends_with("mod.rs")) {
        let theme = file.file_stem().unwrap().to_str().unwrap();
        let text = fs::read_to_string(file).unwrap();
        for name in text
            .lines()
            .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(" {"))
        {
            for twin in ["bug", "right"] {
                write!(
                    list,
                    "(\"{theme}::{name}::{twin}\", programs::{theme}::{name}::{twin} as fn()),"
                )
                .unwrap();
            }
        }
    }
    list.push(']');
    fs::write(
        Path::new(&env::var("OUT_DIR").unwrap()).join("list.rs"),
        list,
    )
    .unwrap();
}
