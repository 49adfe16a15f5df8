//! Dynamic libraries that an executable needs to start.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use camino::{Utf8Path, Utf8PathBuf};
use object::elf::{DT_NEEDED, FileHeader64};
use object::endian::Endianness;
use object::read::elf::ElfFile;

/// Returns the libraries in one of the `folders` that the executable needs, directly or through one
/// of these libraries. The loader finds all others in the system.
pub(super) fn needed(executable: &Utf8Path, folders: &[Utf8PathBuf]) -> BTreeSet<Utf8PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![executable.to_owned()];
    while let Some(file) = open.pop() {
        for name in names(&file) {
            let mut places = folders.iter().map(|folder| folder.join(&name));
            let place = places.find(|place| place.is_file());
            open.extend(place.filter(|place| found.insert(place.clone())));
        }
    }
    found
}

/// Returns the folders in the value of `LD_LIBRARY_PATH`, which the loader searches before those of
/// the system.
pub(super) fn folders(variable: Option<&OsStr>) -> Vec<Utf8PathBuf> {
    let folders = variable.into_iter().flat_map(std::env::split_paths);
    folders.filter_map(|folder| Utf8PathBuf::from_path_buf(folder).ok()).collect()
}

/// Returns the names of the libraries that a file needs directly. Returns none if the file cannot
/// be read, or is not a 64-bit ELF file.
fn names(file: &Utf8Path) -> Vec<String> {
    let bytes = std::fs::read(file).unwrap_or_default();
    let Ok(file) = ElfFile::<FileHeader64<Endianness>>::parse(&*bytes) else { return Vec::new() };
    let Ok(table) = file.elf_dynamic_table() else { return Vec::new() };
    let needed = table.iter().filter(|entry| entry.tag == DT_NEEDED);
    let names = needed.filter_map(|entry| table.string(entry).ok());
    names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executable_names_its_libraries_and_those_of_the_system_are_not_packed() {
        let own = std::env::current_exe().unwrap();
        let own = Utf8PathBuf::from_path_buf(own).unwrap();
        let needed_here = names(&own);
        assert!(needed_here.iter().any(|name| name.starts_with("libc.so")), "{needed_here:?}");
        assert_eq!(needed(&own, &[]), BTreeSet::new());

        let temporary = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(temporary.path()).unwrap();
        let libc =
            folder.join(needed_here.iter().find(|name| name.starts_with("libc.so")).unwrap());
        std::fs::write(&libc, "").unwrap();
        let folders = folders(Some(OsStr::new(folder)));
        assert_eq!(needed(&own, &folders), BTreeSet::from([libc]));
    }
}
