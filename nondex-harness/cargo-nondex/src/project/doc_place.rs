//! Position of a doctest's code in the source.

use camino::Utf8Path;
use nondex_core::Site;
use serde::{Deserialize, Serialize};

/// Position of a doctest's code in the source. The compiler saw the code as a separate file, so the
/// locations in the program refer to that file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocPlace {
    /// File as the program names it. It starts with `./`, which distinguishes it from the real
    /// file, whose own code has locations, too.
    pub file: String,
    /// Difference between the number of a line in the source and its number in the program. It is
    /// negative if rustdoc added more lines than there are before the doctest in the source.
    pub offset: i64,
}

/// Line of a doctest in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoctestLine {
    /// File, relative to the root of the workspace.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Number of characters before the first one that belongs to the program.
    pub margin: u32,
}

impl DocPlace {
    /// Returns the line of the source for a line of the program. Reads the source in the workspace
    /// at `root`. Returns `None` if `file` is not the program.
    pub fn in_source(&self, root: &Utf8Path, file: &str, line: u32) -> Option<DoctestLine> {
        let line = u32::try_from(i64::from(line) + self.offset).ok()?;
        (file == self.file && line > 0).then(|| DoctestLine {
            file: self.source().to_owned(),
            line,
            margin: self.margin(root, line),
        })
    }

    /// Returns the call site in the program for one that a report gives in the source. Returns
    /// `None` if it cannot be in the program.
    pub fn in_program(&self, root: &Utf8Path, site: &Site) -> Option<Site> {
        let line = u32::try_from(i64::from(site.line) - self.offset).ok()?;
        let column = site.column.checked_sub(self.margin(root, site.line))?;
        (site.file == self.source() && line > 0).then(|| Site {
            file: self.file.clone(),
            line,
            column,
            ..site.clone()
        })
    }

    /// Returns the path of the source file, relative to the root of the workspace.
    fn source(&self) -> &str {
        self.file.trim_start_matches("./")
    }

    /// Returns the [margin](DoctestLine::margin) of a line of the source, or 0 if it cannot be
    /// read.
    fn margin(&self, root: &Utf8Path, line: u32) -> u32 {
        let text = std::fs::read_to_string(root.join(self.source())).unwrap_or_default();
        let index = (line as usize).saturating_sub(1);
        let margin = text.lines().nth(index).map_or(0, margin);
        u32::try_from(margin).unwrap_or(0)
    }
}

/// Marks with which a line of documentation begins.
pub(super) const MARKS: [&str; 3] = ["///", "//!", "* "];

/// Returns the number of characters of a source line that are not in the program. These are the
/// mark of the comment, and the mark that hides the line.
fn margin(line: &str) -> usize {
    let mut rest = line.trim_start();
    if let Some(after) = MARKS.iter().find_map(|mark| rest.strip_prefix(mark)) {
        rest = after.strip_prefix(' ').unwrap_or(after);
        rest = rest.strip_prefix("# ").unwrap_or(rest);
    } else {
        // In other text, such as a README, the program starts in the first column.
        rest = line.strip_prefix("# ").unwrap_or(line);
    }
    line.chars().count() - rest.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nondex_core::Family;

    #[test]
    fn a_place_in_a_doctest_is_told_as_in_the_source_and_back() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(directory.path()).unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::fs::write(root.join("src/lib.rs"), "\n    /// one();\n").unwrap();
        let place = DocPlace { file: "./src/lib.rs".to_owned(), offset: -2 };
        let found = place.in_source(root, "./src/lib.rs", 4).unwrap();
        let expected = DoctestLine { file: "src/lib.rs".to_owned(), line: 2, margin: 8 };
        assert_eq!(found, expected);
        assert_eq!(place.in_source(root, "src/lib.rs", 4), None);
        assert_eq!(place.in_source(root, "./src/lib.rs", 2), None);
        let site = |file: &str, line, column| Site {
            api: "std::fs::read_dir".to_owned(),
            family: Family::Directory,
            file: file.to_owned(),
            line,
            column,
        };
        let back = place.in_program(root, &site("src/lib.rs", 2, 9));
        assert_eq!(back, Some(site("./src/lib.rs", 4, 1)));
        assert_eq!(place.in_program(root, &site("src/other.rs", 2, 9)), None);
        assert_eq!(place.in_program(root, &site("src/lib.rs", 2, 7)), None);
    }

    #[test]
    fn what_stands_before_the_program_in_a_line_is_counted() {
        for (line, expected) in [
            ("/// x();", 4),
            ("    //!x();", 7),
            ("/// # hidden();", 6),
            ("///     indented();", 4),
            (" * x();", 3),
            ("x();", 0),
            ("    x();", 0),
            ("# hidden();", 2),
        ] {
            assert_eq!(margin(line), expected, "{line}");
        }
    }
}
