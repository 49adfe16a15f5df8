//! Replaces paths of the machine that packed an archive by paths of the machine that uses it.

use std::ffi::OsString;

use camino::Utf8PathBuf;

use crate::project::suite::Suite;

/// Pairs of a folder and its replacement. A folder inside another one comes before it.
#[derive(Debug)]
pub(super) struct Roots(Vec<[Utf8PathBuf; 2]>);

impl Roots {
    /// Creates the mapping, which replaces the first folder of each pair by the second one.
    pub(super) fn new(mut pairs: Vec<[Utf8PathBuf; 2]>) -> Self {
        pairs.sort_by_key(|[from, _]| std::cmp::Reverse(from.as_str().len()));
        Roots(pairs)
    }

    /// Replaces the folders wherever a path begins with one in a text, such as a list of paths.
    pub(super) fn text(&self, text: &str) -> String {
        let mut moved = String::new();
        let mut rest = text;
        let mut is_begin = true;
        while let Some(next) = rest.chars().next() {
            let pair = self.0.iter().find(|[from, _]| {
                let after = rest.strip_prefix(from.as_str());
                is_begin && after.is_some_and(|after| !after.starts_with(is_of_name))
            });
            let taken = match pair {
                Some([from, to]) => {
                    moved.push_str(to.as_str());
                    from.as_str().len()
                }
                None => {
                    moved.push(next);
                    next.len_utf8()
                }
            };
            // The path of a folder does not begin within another path.
            is_begin = pair.is_none() && !is_of_name(next) && next != '/';
            rest = &rest[taken..];
        }
        moved
    }

    /// Returns a path with its folder replaced.
    pub(super) fn path(&self, path: &Utf8PathBuf) -> Utf8PathBuf {
        self.text(path.as_str()).into()
    }

    /// Replaces the folders in all paths of a suite except those in its environment.
    pub(super) fn apply(&self, suite: &mut Suite) {
        let binary = &mut suite.binary;
        for path in [&mut binary.executable, &mut binary.cwd] {
            *path = self.path(path);
        }
        binary.preload = binary.preload.as_ref().map(|path| self.path(path));
        for argument in &mut binary.runner {
            if let Some(text) = argument.to_str() {
                *argument = OsString::from(self.text(text));
            }
        }
        for doctest in suite.tests.iter_mut().filter_map(|test| test.doctest.as_mut()) {
            doctest.executable = self.path(&doctest.executable);
        }
    }
}

/// Returns whether a character can be part of a file name.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || ['_', '-', '.'].contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_replaced_once_and_only_where_a_path_begins() {
        let roots =
            Roots::new(vec![["/w".into(), "/t/w".into()], ["/w/target".into(), "/w/out".into()]]);
        for (text, expected) in [
            ("/w", "/t/w"),
            ("/w/a.rs", "/t/w/a.rs"),
            ("/w/target/x:/w:/lib", "/w/out/x:/t/w:/lib"),
            ("-L/w/target", "-L/w/target"),
            ("--dir=/w/target", "--dir=/w/out"),
            ("/w2:/a/w:/w-x:/w.old", "/w2:/a/w:/w-x:/w.old"),
            ("/w/target2", "/t/w/target2"),
            ("", ""),
        ] {
            assert_eq!(roots.text(text), expected, "{text}");
        }
    }
}
