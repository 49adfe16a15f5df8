//! Files that the build script of a package writes and that differ between builds, for example by a
//! process id or the date.

use std::ffi::OsStr;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use crate::project::TestBinary;

/// Maximum number of files that are compared.
const MAX_FILES: usize = 500;

/// Returns the first file in the folder `OUT_DIR` whose contents differ between two builds of a
/// test. Paths of the builds' own folders do not count as a difference.
pub(super) fn differing(builds: [&TestBinary; 2]) -> Option<Utf8PathBuf> {
    let folder = |build: &TestBinary| -> Option<Utf8PathBuf> {
        Some(build.env.get(OsStr::new("OUT_DIR"))?.to_str()?.into())
    };
    let [first, second] = [folder(builds[0])?, folder(builds[1])?];
    if first == second {
        return None;
    }
    files(&first).into_iter().find(|file| {
        let contents = [&first, &second].map(|folder| content(folder, file));
        matches!(contents, [Some(one), Some(other)] if one != other)
    })
}

/// Returns the files below a folder, sorted.
fn files(folder: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in next.read_dir_utf8().into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path().to_owned()),
                Ok(kind) if kind.is_file() && found.len() < MAX_FILES => {
                    found.extend(entry.path().strip_prefix(folder).map(Utf8Path::to_owned));
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Returns the text of a file without the paths of its build: `target/debug/build/NAME-HASH/out`
/// and the next three folders above it. Returns `None` if the file is not text.
fn content(folder: &Utf8Path, file: &Utf8Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    let own = folder.ancestors().take(4).filter(|path| path.parent().is_some());
    Some(own.fold(text, |text, path| text.replace(path.as_str(), "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::suite::tests::binary;

    #[test]
    fn a_file_differs_by_more_than_the_folders_of_its_build() {
        let root = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(root.path()).unwrap();
        let build = |name: &str, number: u32| {
            let out = root.join(format!("{name}/debug/build/p-{name}/out"));
            fs::create_dir_all(out.join("a")).unwrap();
            fs::write(out.join("a/paths.rs"), format!("{out} {root}/{name}/debug/x")).unwrap();
            fs::write(out.join("number.rs"), format!("{number}")).unwrap();
            let mut binary = binary("p", "p");
            binary.env.insert("OUT_DIR".into(), out.as_str().into());
            binary
        };
        let of = |one, other| differing([&build("plain", one), &build("nondex", other)]);
        assert_eq!(of(1, 2), Some("number.rs".into()));
        assert_eq!(of(1, 1), None);
    }
}
