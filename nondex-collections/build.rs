//! Reports where this package is to `cargo-nondex`, which carries its sources, and finds out what
//! the std of this toolchain has and does. The mirror has no method that std lacks: it would shadow
//! one of the same name that a project defines for itself.
//!
//! std is tried, not asked for its version: a distribution's compiler may have what its version
//! has not. Where nothing can be tried, std is taken to be the newest that is known here.

use std::collections::HashSet;
use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

/// What is newer in std than the oldest toolchain: the name under which this crate knows it, and a
/// library that uses it.
const PROBES: [(&str, &str); 2] = [
    (
        "nondex_std_get_disjoint_mut",
        "pub fn probe(map: &mut std::collections::HashMap<u8, u8>) { map.get_disjoint_mut([&1]); }",
    ),
    (
        "nondex_std_extract_if",
        "pub fn probe(map: &mut std::collections::HashMap<u8, u8>, \
                      set: &mut std::collections::HashSet<u8>) { \
             map.extract_if(|_, _| true); \
             set.extract_if(|_| true); \
         }",
    ),
];

/// Since hashbrown 0.15.3, tables of elements of up to three bytes start with more buckets.
const SMALL_TABLES: &str = "nondex_std_small_tables";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::metadata=folder={}", env!("CARGO_MANIFEST_DIR"));
    // Set by `cargo nondex` where a project needs what std's own maps and sets have.
    println!("cargo::rustc-check-cfg=cfg(nondex_std_collections)");
    let can_try = compiles("pub fn probe() {}");
    for (name, library) in PROBES {
        set(name, !can_try || compiles(library));
    }
    // This program has the std of the same toolchain.
    let small = HashSet::<u8>::with_capacity(1).capacity();
    let large = HashSet::<u64>::with_capacity(1).capacity();
    set(SMALL_TABLES, small > large);
}

/// Declares a `cfg`, and sets it if it `is_there`.
fn set(name: &str, is_there: bool) {
    println!("cargo::rustc-check-cfg=cfg({name})");
    if is_there {
        println!("cargo::rustc-cfg={name}");
    }
}

/// Whether a library compiles for the target. Nothing is left of it but its metadata.
fn compiles(library: &str) -> bool {
    let (Some(rustc), Some(folder)) = (env::var_os("RUSTC"), env::var_os("OUT_DIR")) else {
        return false;
    };
    let mut command = Command::new(rustc);
    command
        .args(["-", "--crate-type=lib", "--crate-name=probe", "--edition=2021"])
        .args(["--emit=metadata", "--cap-lints=allow", "--out-dir"])
        .arg(folder);
    if let Some(target) = env::var_os("TARGET") {
        command.arg("--target").arg(target);
    }
    let spawned = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    spawned.is_ok_and(|mut rustc| {
        // Dropped at the end of the statement, which closes it.
        let written =
            rustc.stdin.take().is_some_and(|mut stdin| stdin.write_all(library.as_bytes()).is_ok());
        rustc.wait().is_ok_and(|status| status.success()) && written
    })
}
