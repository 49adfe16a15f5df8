//! Finds paths of the machine that are compiled into an executable.

use camino::{Utf8Path, Utf8PathBuf};
use object::{Object, ObjectSection};

/// Section with the string constants of a program. Debug information, which names every source
/// file, is in other sections.
const TEXTS: &str = ".rodata";

/// Returns whether the string constants of an executable include a path of one of these folders, as
/// from `env!`. Returns `false` for a file that cannot be read.
pub(super) fn are_in(executable: &Utf8Path, folders: [&Utf8PathBuf; 2]) -> bool {
    let bytes = std::fs::read(executable).unwrap_or_default();
    let texts = object::File::parse(&*bytes)
        .ok()
        .and_then(|file| file.section_by_name(TEXTS)?.data().ok().map(<[u8]>::to_vec))
        .unwrap_or_default();
    let has = |folder: &Utf8PathBuf| {
        let path = folder.as_str().as_bytes();
        texts.windows(path.len()).any(|part| part == path)
    };
    folders.into_iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_a_program_has_by_env_is_found_and_those_of_debug_information_are_not() {
        let own = Utf8PathBuf::from_path_buf(std::env::current_exe().unwrap()).unwrap();
        let mine = Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let none = Utf8PathBuf::from("/no/such/folder/in/any/program/but/this".to_owned() + "/one");
        assert!(are_in(&own, [&none, &mine]));
        assert!(!are_in(&own, [&none, &none]));
        assert!(!are_in(&mine.join("Cargo.toml"), [&mine, &mine]));
    }
}
