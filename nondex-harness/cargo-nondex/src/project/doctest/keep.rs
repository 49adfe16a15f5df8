//! What this program does when rustdoc, or the compiler it starts, starts it: it keeps executables
//! instead of running them.
//!
//! As linker of a doctest it also writes down which lines of the source the compiler was given,
//! which are not known later.

use crate::program;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The first argument of a call as the program that runs a doctest. The folder to keep it in comes
/// next.
pub(super) const KEEP: &str = "__doctest";

/// The environment variable that makes this program the linker that it names.
pub(super) const LINKER: &str = "NONDEX_DOCTEST_LINKER";

/// What is written to stderr before the number of a kept executable.
pub(super) const KEPT: &str = "kept by cargo-nondex as ";

/// The extension of a file with the place of a kept executable: file and offset, a line each.
pub(super) const PLACE: &str = "place";

/// The code of a program that panicked: rustdoc shows the output of a doctest only when it failed.
const PANICKED: u8 = 101;

/// Does the work of a call by rustdoc or by its compiler; `None` when this is another start.
pub(in crate::project) fn intercept(arguments: &[OsString]) -> Option<Result<ExitCode, String>> {
    match arguments {
        [first, dir, program, ..] if first == KEEP => {
            Some(keep(Path::new(dir), Path::new(program)))
        }
        _ => std::env::var_os(LINKER).map(|linker| link(&linker, arguments)),
    }
}

/// Moves an executable to the first free number in `dir`, and prints the number.
fn keep(dir: &Path, program: &Path) -> Result<ExitCode, String> {
    let failed = |path: &Path, e| format!("failed to keep `{}`: {e}", path.display());
    let mut number = 0;
    let kept = loop {
        let path = dir.join(format!("{number}"));
        match File::create_new(&path) {
            Ok(_) => break path,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(failed(&path, e)),
        }
    };
    fs::rename(program, &kept)
        .or_else(|_| fs::copy(program, &kept).map(drop))
        .map_err(|e| failed(&kept, e))?;
    // None when another linker was used.
    let _ = fs::copy(place_of(program), kept.with_extension(PLACE));
    eprintln!("{KEPT}{number}");
    Ok(ExitCode::from(PANICKED))
}

/// Becomes the true linker, after the place of what is linked was written down next to it.
fn link(linker: &OsStr, arguments: &[OsString]) -> Result<ExitCode, String> {
    let variable = |name| std::env::var(name).ok();
    // Rustdoc passes it to the compiler, for its messages.
    let place = variable("UNSTABLE_RUSTDOC_TEST_PATH").zip(variable("UNSTABLE_RUSTDOC_TEST_LINE"));
    let output =
        arguments.windows(2).find_map(|pair| (pair[0] == "-o").then(|| Path::new(&pair[1])));
    if let (Some((file, offset)), Some(output)) = (place, output) {
        // Without it the places in a report are those of the program.
        let _ = fs::write(place_of(output), format!("{file}\n{offset}\n"));
    }
    let mut command = Command::new(linker);
    Err(program::replace(command.args(arguments).env_remove(LINKER)))
}

fn place_of(program: &Path) -> std::path::PathBuf {
    program.with_extension(PLACE)
}
