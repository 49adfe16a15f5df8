//! Compares the order of the runtime's collections with that of the toolchain's std.
//!
//! The runtime has the hash table of the hashbrown version that it was built with. std's hash table
//! is compiled into the toolchain, and its version may differ. So each new runtime is compared with
//! the toolchain's std, while the project is built.

use std::process::{Command, Stdio};

use camino::Utf8Path;

use super::scratch::Scratch;
use super::toolchain::{Toolchain, compile};
use crate::program;

/// Source of the program that compares them.
const SOURCE: &str = include_str!("../../probes/order.rs");

/// Consequence for a report: see `report::claim`.
const UNCLAIMED: &str = "findings about the order of maps and sets do not have level STD";

/// Returns a note if the order is not std's, or could not be compared. `mirror` is the rlib of the
/// runtime's std, next to its dependencies.
pub(super) fn compare(toolchain: &Toolchain, target: &str, mirror: &Utf8Path) -> Option<String> {
    match difference(toolchain, target, mirror) {
        Ok(None) => None,
        Ok(Some(difference)) => Some(format!(
            "with a hasher that is not random, the runtime's collections do not have the order of \
             this toolchain's std: {difference}; a test that relies on std's order may fail here \
             in every run; {UNCLAIMED}"
        )),
        Err(why) => Some(format!(
            "with a hasher that is not random, the order of the runtime's collections was not \
             compared with that of this toolchain's std: {why}; {UNCLAIMED}"
        )),
    }
}

/// Returns the first difference, or `None` if there is none.
///
/// # Errors
/// Returns why the orders could not be compared.
fn difference(
    toolchain: &Toolchain,
    target: &str,
    mirror: &Utf8Path,
) -> Result<Option<String>, String> {
    if target != toolchain.host {
        return Err(format!("programs for {target} do not run here"));
    }
    let libraries = mirror.parent().unwrap_or(Utf8Path::new("."));
    let work = Scratch::create(libraries, "order").map_err(|e| format!("no folder for it: {e}"))?;
    let program = work.path().join(format!("order{}", std::env::consts::EXE_SUFFIX));
    let mut compiler = toolchain.compiler(&work.path().join("order.rs"), SOURCE)?;
    compiler
        .arg(format!("--extern=mirror={mirror}"))
        .arg(format!("-Ldependency={libraries}"))
        .args(["-o", program.as_str()]);
    compile("the program that compares them", &mut compiler)?;
    // No environment variable may switch the shims on.
    let ran = program::output(Command::new(&program).env_clear().stdin(Stdio::null()))?;
    let stdout = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
    match ran.status.code() {
        Some(0) => Ok(None),
        Some(1) if !stdout.is_empty() => Ok(Some(stdout)),
        _ => Err(format!("the program that compares them ended with {}", ran.status)),
    }
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;

    /// Returns the note on a mirror with this source.
    fn note_on(mirror: &str) -> Option<String> {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(temporary.path().to_owned()).unwrap();
        let toolchain = Toolchain::in_dir(&folder).unwrap();
        let source = folder.join("mirror.rs");
        std::fs::write(&source, mirror).unwrap();
        let library = folder.join("libmirror.rlib");
        let built = Command::new(&toolchain.rustc)
            .args(["--edition", "2024", "--crate-type", "rlib"])
            .args([source.as_str(), "-o", library.as_str()])
            .status();
        assert!(built.unwrap().success());
        compare(&toolchain, &toolchain.host, &library)
    }

    /// Returns a mirror whose map is std's, except for `method`.
    fn map_with(method: &str) -> String {
        format!(
            "pub mod collections {{
                use std::collections::HashMap as Std;
                use std::hash::{{BuildHasher, Hash}};
                pub struct HashMap<K, V, S>(Std<K, V, S>);
                impl<K: Eq + Hash, V, S: BuildHasher> HashMap<K, V, S> {{
                    {method}
                }}
                impl<K, V, S> std::ops::Deref for HashMap<K, V, S> {{
                    type Target = Std<K, V, S>;
                    fn deref(&self) -> &Std<K, V, S> {{ &self.0 }}
                }}
                impl<K, V, S> std::ops::DerefMut for HashMap<K, V, S> {{
                    fn deref_mut(&mut self) -> &mut Std<K, V, S> {{ &mut self.0 }}
                }}
            }}"
        )
    }

    const CREATED: &str = "pub fn with_capacity_and_hasher(room: usize, hasher: S) -> Self {
        HashMap(Std::with_capacity_and_hasher(room, hasher))
    }";

    #[test]
    fn the_order_of_std_is_std_s_and_nothing_is_said() {
        assert_eq!(note_on("pub use std::*;"), None);
        assert_eq!(note_on(&map_with(CREATED)), None);
    }

    #[test]
    fn another_order_and_another_capacity_are_said() {
        let roomy = CREATED.replace("(room, hasher)", "(room + 100, hasher)");
        let note = note_on(&map_with(&roomy)).unwrap();
        assert!(note.contains("where std has"), "{note}");

        let reversed = format!(
            "{CREATED} pub fn keys(&self) -> std::vec::IntoIter<&K> {{
                let mut keys: Vec<&K> = self.0.keys().collect();
                keys.reverse();
                keys.into_iter()
            }}"
        );
        let note = note_on(&map_with(&reversed)).unwrap();
        assert!(note.contains("another order than std's"), "{note}");
    }

    #[test]
    fn what_cannot_be_compared_is_said_too() {
        let note = note_on("pub mod collections {}").unwrap();
        assert!(note.contains("was not compared"), "{note}");
        assert!(note.contains("does not compile"), "{note}");
    }
}
