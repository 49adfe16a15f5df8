//! Work of this program when rustdoc, or the compiler that rustdoc starts, calls it.
//!
//! As the run tool, it keeps executables instead of running them. As the linker of a doctest, it
//! records the place of the doctest in the source, which is not available later.

use crate::program;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, ExitCode};

/// First argument of a call as the program that runs a doctest. The next argument is the folder for
/// the executable.
pub(super) const KEEP: &str = "__doctest";

/// Environment variable that makes this program act as a linker. Its value is the real linker.
pub(super) const LINKER: &str = "NONDEX_DOCTEST_LINKER";

/// Text on stderr before the number of a kept executable.
pub(super) const KEPT: &str = "kept by cargo-nondex as ";

/// Extension of the file with the place of a kept executable: file and offset, one per line.
pub(super) const PLACE: &str = "place";

/// Exit code of a program that panicked. Rustdoc shows the output only of doctests that fail.
const PANICKED: u8 = 101;

/// Does the work of a call by rustdoc or its compiler. Returns `None` for any other call.
pub(in crate::project) fn intercept(arguments: &[OsString]) -> Option<Result<ExitCode, String>> {
    match arguments {
        [first, dir, program, ..] if first == KEEP => {
            Some(keep(Path::new(dir), Path::new(program)))
        }
        _ => std::env::var_os(LINKER).map(|linker| link(&linker, arguments)),
    }
}

/// Moves an executable to the first free number in `dir`, and prints the number. Returns the exit
/// code of a failure.
fn keep(dir: &Path, program: &Path) -> Result<ExitCode, String> {
    let failed = |path: &Path, e| format!("failed to keep `{}`: {e}", path.display());
    let mut number = 0;
    let kept = loop {
        let path = dir.join(format!("{number}"));
        // Rustdoc starts several run tools at once. `create_new` gives each number to one of them.
        match File::create_new(&path) {
            Ok(_) => break path,
            Err(e) if e.kind() == ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(failed(&path, e)),
        }
    };
    fs::rename(program, &kept)
        .or_else(|_| fs::copy(program, &kept).map(drop))
        .map_err(|e| failed(&kept, e))?;
    // The file does not exist if another linker was used.
    let _ = fs::copy(place_of(program), kept.with_extension(PLACE));
    eprintln!("{KEPT}{number}");
    Ok(ExitCode::from(PANICKED))
}

/// Records the place of a doctest next to its executable, then replaces this process by the real
/// linker. Returns only if that fails.
fn link(linker: &OsStr, arguments: &[OsString]) -> Result<ExitCode, String> {
    let variable = |name| std::env::var(name).ok();
    // Rustdoc sets these variables for the compiler's messages.
    let place = variable("UNSTABLE_RUSTDOC_TEST_PATH").zip(variable("UNSTABLE_RUSTDOC_TEST_LINE"));
    let output =
        arguments.windows(2).find_map(|pair| (pair[0] == "-o").then(|| Path::new(&pair[1])));
    if let (Some((file, offset)), Some(output)) = (place, output) {
        // If this fails, a report has the line numbers of the program instead.
        let _ = fs::write(place_of(output), format!("{file}\n{offset}\n"));
    }
    let mut command = Command::new(linker);
    Err(program::replace(command.args(arguments).env_remove(LINKER)))
}

/// Returns the path of the file with the place of an executable.
fn place_of(program: &Path) -> std::path::PathBuf {
    program.with_extension(PLACE)
}
