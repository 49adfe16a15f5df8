//! Compiler pass that turns every atomic operation into a call of the runtime, which schedules
//! threads there.
//!
//! The pass is that of LLVM's thread sanitizer. The sanitizer's library is not linked: the runtime
//! defines the functions that the pass calls. The pass instruments atomics in every function. It
//! leaves plain loads and stores alone, because no function has the attribute that requests it. The
//! names of passes and of LLVM's options are not stable, so each toolchain is tested once.

use std::fs;
use std::process::{Command, Stdio};

use camino::Utf8Path;

use super::scratch::Scratch;
use super::toolchain::{Toolchain, compile};
use crate::program;

/// Flags of rustc for each crate of the target.
const FLAGS: [&str; 2] = [
    // This is a function pass, which may come after module passes such as `sancov-module`.
    "-Cpasses=function(tsan)",
    "-Cllvm-args=-tsan-instrument-func-entry-exit=false -tsan-instrument-memory-accesses=false \
     -tsan-instrument-memintrinsics=false",
];

/// Source of a program that uses every atomic operation.
const SOURCE: &str = include_str!("../../probes/atomics.rs");

/// File name of the object to which the program is compiled.
const OBJECT: &str = "atomics.o";

/// Functions that an instrumented object calls.
const CALLS: [&str; 3] =
    ["__tsan_atomic32_load", "__tsan_atomic64_fetch_add", "__tsan_atomic8_compare_exchange_val"];

/// Source of the called functions for a program without std, which has nothing of the runtime.
const UNSCHEDULED: &str = include_str!("../../probes/unscheduled.rs");

/// File name of the library with these functions, in the folder of the runtime's libraries. The
/// compiler does not find crates under such a name.
const ARCHIVE: &str = "unscheduled.a";

/// Returns the arguments of rustc for a crate of the target, over the runtime with these libraries.
/// They turn its atomics into calls if `are_calls`, and link the functions for programs without
/// std.
pub(super) fn arguments(libraries: &Utf8Path, are_calls: bool) -> Vec<String> {
    let flags = if are_calls { &FLAGS[..] } else { &[] };
    let mut arguments: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let archive = libraries.join(ARCHIVE);
    if archive.exists() {
        arguments.push(format!("-Clink-arg={archive}"));
    }
    arguments
}

/// Returns the command that compiles the program with the pass, to an object in `work`.
///
/// # Errors
/// Returns an error if the source cannot be written.
fn compiler(toolchain: &Toolchain, target: &str, work: &Utf8Path) -> Result<Command, String> {
    let mut compiler = toolchain.compiler(&work.join("atomics.rs"), SOURCE)?;
    compiler
        .args(["-Ccodegen-units=1", "--target", target])
        .args(FLAGS)
        // By default, a compiler whose linker fails leaves objects in the user's current folder.
        .args(["--out-dir", work.as_str()])
        .arg(format!("--emit=obj={}", work.join(OBJECT)));
    Ok(compiler)
}

/// Returns whether the object in `work` has the calls.
fn has_calls(work: &Utf8Path) -> Result<bool, String> {
    let object = work.join(OBJECT);
    let bytes = fs::read(&object).map_err(|e| format!("failed to read `{object}`: {e}"))?;
    let has = |name: &&str| bytes.windows(name.len()).any(|part| part == name.as_bytes());
    Ok(CALLS.iter().all(has))
}

/// Builds the functions for programs without std next to the runtime's `std`, and tests the pass
/// for `target`. Returns why programs cannot be compiled with it, or `None` if they can.
pub(super) fn obstacle(toolchain: &Toolchain, target: &str, std: &Utf8Path) -> Option<String> {
    try_pass(toolchain, target, std).err()
}

fn try_pass(toolchain: &Toolchain, target: &str, std: &Utf8Path) -> Result<(), String> {
    let libraries = std.parent().unwrap_or(Utf8Path::new("."));
    let work =
        Scratch::create(libraries, "atomics").map_err(|e| format!("no folder for it: {e}"))?;
    // The library gets its name when it is complete, because another process may be linking it.
    let part = work.path().join(ARCHIVE);
    let mut library = toolchain.compiler(&work.path().join("unscheduled.rs"), UNSCHEDULED)?;
    library
        .args(["--crate-type", "rlib", "-Copt-level=2", "-Cpanic=abort", "-Ccodegen-units=1"])
        .args(["--target", target, "-o", part.as_str()]);
    compile("what atomics call without a scheduler", &mut library)?;
    fs::rename(&part, libraries.join(ARCHIVE))
        .map_err(|e| format!("failed to keep `{part}`: {e}"))?;
    // A program for another target does not run here, and only cargo may know its linker.
    let is_run = target == toolchain.host;
    let program = work.path().join("atomics");
    let mut compiler = compiler(toolchain, target, work.path())?;
    compiler.arg(format!("--extern=std={std}")).arg(format!("-Ldependency={libraries}"));
    if is_run {
        compiler.arg(format!("--emit=link={program}"));
    }
    compile("a program that has atomics", &mut compiler)?;
    if !has_calls(work.path())? {
        return Err("the compiler leaves atomics as they are".to_owned());
    }
    if !is_run {
        return Ok(());
    }
    let ran = program::output(Command::new(&program).env_clear().stdin(Stdio::null()))?;
    if !ran.status.success() {
        return Err(format!("a program that has atomics ended with {}", ran.status));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    /// Returns the obstacle for a std with this source.
    fn obstacle_of(std: &str) -> Option<String> {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(temporary.path().to_owned()).unwrap();
        let toolchain = Toolchain::in_dir(&folder).unwrap();
        let source = folder.join("std.rs");
        fs::write(&source, std).unwrap();
        let library = folder.join("libstd.rlib");
        let built = Command::new(&toolchain.rustc)
            .args(["--edition", "2024", "--crate-type", "rlib", "-Cmetadata=other"])
            .args(["--crate-name", "std", source.as_str(), "-o", library.as_str()])
            .status();
        assert!(built.unwrap().success());
        obstacle(&toolchain, &toolchain.host, &library)
    }

    #[test]
    fn a_runtime_without_the_functions_that_are_called_is_an_obstacle() {
        let obstacle = obstacle_of("pub use ::std::*;").unwrap();
        assert!(obstacle.contains("does not compile"), "{obstacle}");
        for entry in fs::read_dir(".").unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.ends_with(".o"), "`{name}` is left behind");
        }
    }
}
