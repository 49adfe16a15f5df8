//! The pass of the compiler that makes every atomic operation a call of the runtime, where threads
//! are scheduled.
//!
//! It is that of the thread sanitizer of LLVM, which is not linked: the runtime has the functions
//! that are called. Atomics are instrumented in any function; plain loads and stores are not, for
//! no function has the attribute that asks for it. The names of passes and of LLVM's options are
//! not stable, so each toolchain is tested once.

use std::ffi::OsString;
use std::fs;
use std::process::{Command, ExitCode, Stdio};

use camino::Utf8Path;

use super::scratch::Scratch;
use super::toolchain::{Toolchain, compile};
use crate::program;

/// What rustc is given for each crate of the target.
const FLAGS: [&str; 2] = [
    // A pass over functions, which may come after one over modules.
    "-Cpasses=function(tsan)",
    "-Cllvm-args=-tsan-instrument-func-entry-exit=false -tsan-instrument-memory-accesses=false \
     -tsan-instrument-memintrinsics=false",
];

/// The program that uses every operation.
const SOURCE: &str = include_str!("../../probes/atomics.rs");

/// The object that it is compiled to.
const OBJECT: &str = "atomics.o";

/// What an object that went through the pass calls.
const CALLS: [&str; 3] =
    ["__tsan_atomic32_load", "__tsan_atomic64_fetch_add", "__tsan_atomic8_compare_exchange_val"];

/// What is called in a program without std, which has nothing of the runtime.
const UNSCHEDULED: &str = include_str!("../../probes/unscheduled.rs");

/// Its path, in the folder of the runtime's libraries. Not under a name by which the compiler would
/// find a crate.
const ARCHIVE: &str = "unscheduled.a";

/// What the atomics of a build are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Atomics {
    /// What they are for everybody: there is no runtime in it.
    Unchanged,
    /// Calls of the runtime.
    Calls,
    /// What they are for everybody, because of this obstacle.
    Unseen(String),
}

impl Atomics {
    /// What they are where there is this obstacle, if any.
    pub(super) fn of(obstacle: Option<String>) -> Self {
        obstacle.map_or(Atomics::Calls, Atomics::Unseen)
    }

    /// Key of builds: distinguishes builds with other atomics.
    pub(super) const fn key(&self) -> &'static str {
        match self {
            Atomics::Unchanged | Atomics::Unseen(_) => "",
            Atomics::Calls => " atomics are calls",
        }
    }

    /// What the user should know, a sentence.
    pub(super) fn note(&self) -> Option<String> {
        let Atomics::Unseen(why) = self else { return None };
        Some(format!(
            "threads are scheduled where they call the C library, and not at atomic operations, \
             which are not seen: {why}"
        ))
    }
}

/// The arguments of rustc for a crate of the target, over the runtime with these libraries: they
/// make its atomics calls, if they are to be, and link what is called.
pub(super) fn arguments(libraries: &Utf8Path, are_calls: bool) -> Vec<String> {
    let flags = if are_calls { &FLAGS[..] } else { &[] };
    let mut arguments: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    let archive = libraries.join(ARCHIVE);
    if archive.exists() {
        arguments.push(format!("-Clink-arg={archive}"));
    }
    arguments
}

/// The environment variable that makes this program the wrapper of rustc in the build of the
/// runtime.
pub(super) const RUNTIME: &str = "NONDEX_RUNTIME_ATOMICS";

/// The crate of the runtime that is compiled without optimisation. What it has of std's generic
/// code, atomics among it, the compiler takes for the crates of a project, too, so it must be as
/// theirs.
const UNOPTIMISED: &str = "nondex_harness";

/// Does the work of a call by cargo in the build of the runtime; `None` when this is another start.
pub(super) fn intercept(arguments: &[OsString]) -> Option<Result<ExitCode, String>> {
    std::env::var_os(RUNTIME)?;
    let (first, rest) = arguments.split_first()?;
    let mut command = Command::new(first);
    command.args(rest);
    let is_named = |pair: &[OsString]| pair[0] == "--crate-name" && pair[1] == UNOPTIMISED;
    if rest.windows(2).any(is_named) {
        command.args(FLAGS);
    }
    Some(Err(program::replace(&mut command)))
}

/// Whether a compiler replaces atomic operations by calls.
pub(super) fn are_understood(toolchain: &Toolchain, target: &str, work: &Utf8Path) -> bool {
    let is_compiled = compiler(toolchain, target, work).is_ok_and(|mut compiler| {
        let output = compiler.stdin(Stdio::null()).output();
        output.is_ok_and(|output| output.status.success())
    });
    is_compiled && has_calls(work).unwrap_or(false)
}

/// What compiles the program with the pass, to an object in `work`. Where linking fails, a compiler
/// that is not told of a folder leaves its parts where it was started, among the user's files.
fn compiler(toolchain: &Toolchain, target: &str, work: &Utf8Path) -> Result<Command, String> {
    let source = work.join("atomics.rs");
    fs::write(&source, SOURCE).map_err(|e| format!("failed to write `{source}`: {e}"))?;
    let mut compiler = Command::new(&toolchain.rustc);
    compiler
        .args(["--edition", "2024", "--cap-lints", "allow", "-Cdebuginfo=0"])
        .args(["-Ccodegen-units=1", "--target", target])
        .args(FLAGS)
        .args(["--out-dir", work.as_str()])
        .arg(format!("--emit=obj={}", work.join(OBJECT)))
        .arg(&source);
    Ok(compiler)
}

/// Whether the object in `work` has the calls.
fn has_calls(work: &Utf8Path) -> Result<bool, String> {
    let object = work.join(OBJECT);
    let bytes = fs::read(&object).map_err(|e| format!("failed to read `{object}`: {e}"))?;
    let has = |name: &&str| bytes.windows(name.len()).any(|part| part == name.as_bytes());
    Ok(CALLS.iter().all(has))
}

/// Why programs over the runtime's `std` cannot be compiled with the pass for `target`, if they
/// cannot.
pub(super) fn obstacle(toolchain: &Toolchain, target: &str, std: &Utf8Path) -> Option<String> {
    try_pass(toolchain, target, std).err()
}

fn try_pass(toolchain: &Toolchain, target: &str, std: &Utf8Path) -> Result<(), String> {
    let libraries = std.parent().unwrap_or(Utf8Path::new("."));
    let work =
        Scratch::create(libraries, "atomics").map_err(|e| format!("no folder for it: {e}"))?;
    // Under a temporary name until it is complete.
    let part = work.path().join(ARCHIVE);
    let text = work.path().join("unscheduled.rs");
    fs::write(&text, UNSCHEDULED).map_err(|e| format!("failed to write `{text}`: {e}"))?;
    let mut library = Command::new(&toolchain.rustc);
    library
        .args(["--edition", "2024", "--crate-type", "rlib"])
        .args(["-Copt-level=2", "-Cdebuginfo=0", "-Cpanic=abort"])
        .args(["-Ccodegen-units=1", "--cap-lints", "allow"])
        .args(["--target", target, "-o", part.as_str(), text.as_str()]);
    compile("what atomics call without a scheduler", &mut library)?;
    fs::rename(&part, libraries.join(ARCHIVE))
        .map_err(|e| format!("failed to keep `{part}`: {e}"))?;
    // A program for another target may have a linker that only cargo knows, and does not run here.
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

    /// What is said of a std with this source.
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
        let said = obstacle_of("pub use ::std::*;").unwrap();
        assert!(said.contains("does not compile"), "{said}");
        for entry in fs::read_dir(".").unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(!name.ends_with(".o"), "`{name}` is left behind");
        }
    }
}
