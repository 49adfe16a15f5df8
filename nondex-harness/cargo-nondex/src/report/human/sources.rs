//! Finds and reads the source files that a report names.

use camino::{Utf8Path, Utf8PathBuf};

use crate::report::workspace::Workspace;

/// Reader of the sources of the workspace, and of dependencies in cargo's directories.
#[derive(Clone, Debug)]
pub struct Sources {
    workspace: Workspace,
    /// The directories of the sources of registry and git dependencies.
    dependencies: Vec<Utf8PathBuf>,
}

impl Sources {
    /// Creates a reader for the workspace at `root`, an absolute path, and for the dependencies in
    /// `cargo_home`. Lists the directory of registries.
    pub fn new(root: &Utf8Path, cargo_home: Option<&Utf8Path>) -> Self {
        let mut dependencies = Vec::new();
        if let Some(home) = cargo_home {
            // There is one directory for each registry, and most often just one registry.
            let found = home.join("registry/src").read_dir_utf8().into_iter().flatten();
            dependencies.extend(found.filter_map(|entry| Some(entry.ok()?.into_path())));
            dependencies.sort_unstable();
            dependencies.push(home.join("git/checkouts"));
        }
        Sources { workspace: Workspace::new(root.to_owned()), dependencies }
    }

    /// Creates a reader for the workspace at `root` and for the dependencies in the user's cargo
    /// home.
    pub fn of_user(root: &Utf8Path) -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let home = set("CARGO_HOME")
            .map(Utf8PathBuf::from)
            .or_else(|| Some(Utf8PathBuf::from(set("HOME")?).join(".cargo")));
        Self::new(root, home.as_deref())
    }

    /// Returns the root of the workspace.
    pub fn root(&self) -> &Utf8Path {
        self.workspace.root()
    }

    /// Returns whether `file`, as in [`Site::file`](nondex_core::Site::file), is the user's own.
    pub(in crate::report) fn is_users(&self, file: &str) -> bool {
        self.workspace.is_users(file)
    }

    /// Returns a path as it is shown: relative to the root if it is below it.
    pub(super) fn shown<'p>(&self, file: &'p str) -> &'p str {
        self.workspace.shown(file)
    }

    /// Returns whether `file` exists and has this line.
    pub(super) fn has(&self, file: &str, line: u32) -> bool {
        self.line(file, line).is_some()
    }

    /// Returns a line of `file`, numbered from 1, if it exists.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        let index = (line as usize).checked_sub(1)?;
        self.read(file)?.lines().nth(index).map(str::to_owned)
    }

    /// Returns the text of `file`, if it exists.
    pub(in crate::report) fn read(&self, file: &str) -> Option<String> {
        let dependencies = self.dependencies.iter().map(Utf8PathBuf::as_path);
        let directories = std::iter::once(self.root()).chain(dependencies);
        let path = directories.map(|directory| directory.join(file)).find(|path| path.is_file())?;
        std::fs::read_to_string(path).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sources_are_found_in_the_workspace_and_in_the_home_of_cargo() {
        let directory = tempfile::tempdir().unwrap();
        let base = Utf8Path::from_path(directory.path()).unwrap();
        let (root, home) = (base.join("project"), base.join("home"));
        for file in [
            root.join("src/lib.rs"),
            home.join("registry/src/index-1/dep-1.0.0/src/lib.rs"),
            home.join("git/checkouts/dep-1f/ab12/src/lib.rs"),
        ] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, format!("// {file}\n")).unwrap();
        }
        let sources = Sources::new(&root, Some(&home));
        for (file, is_found, is_users) in [
            ("src/lib.rs", true, true),
            ("dep-1.0.0/src/lib.rs", true, false),
            ("dep-1f/ab12/src/lib.rs", true, false),
            ("dep-2.0.0/src/lib.rs", false, false),
            ("library/alloc/src/vec/mod.rs", false, false),
            ("", false, false),
        ] {
            let text = sources.read(file);
            assert_eq!(text.is_some(), is_found, "{file}");
            assert!(text.is_none_or(|text| text.contains(file)));
            assert_eq!(sources.is_users(file), is_users, "{file}");
            let lines = [0, 1, 2].map(|line| sources.has(file, line));
            assert_eq!(lines, [false, is_found, false], "{file}");
        }
        let without = Sources::new(&root, None);
        assert_eq!(without.read("dep-1.0.0/src/lib.rs"), None);
    }
}
