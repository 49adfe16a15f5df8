//! Sources of an executable that moved after the build.

use camino::{Utf8Path, Utf8PathBuf};

/// Root of a workspace before and after it was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Root in the debug information.
    pub from: Utf8PathBuf,
    /// Current root.
    pub to: Utf8PathBuf,
}

impl Moved {
    /// Returns the current path of a source file that debug information names.
    pub fn now(&self, file: &str) -> String {
        match Utf8Path::new(file).strip_prefix(&self.from) {
            Ok(inside) => self.to.join(inside).into_string(),
            Err(_) => file.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_workspace_have_moved() {
        let moved = Moved { from: "/a/shop".into(), to: "/b".into() };
        assert_eq!(moved.now("/a/shop/src/lib.rs"), "/b/src/lib.rs");
        for file in ["/a/shop2/src/lib.rs", "src/lib.rs", "serde-1.0.0/src/lib.rs"] {
            assert_eq!(moved.now(file), file);
        }
    }
}
