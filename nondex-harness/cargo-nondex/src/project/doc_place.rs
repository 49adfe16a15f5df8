//! Where the code of a doctest stands in the source.

use camino::Utf8Path;
use nondex_core::Site;
use serde::{Deserialize, Serialize};

/// Where the code of a doctest stands in the source. The compiler saw it as a separate file, so the
/// places in it that a program knows are of that file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocPlace {
    /// The file as the program names it: with `./`, apart from the true file, whose own code has
    /// places too.
    pub file: String,
    /// How many lines of the source stand before the first one of the program; less than none when
    /// rustdoc wrote more lines itself.
    pub offset: i64,
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file, relative to the root of the workspace.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// How many characters stand before the first one that belongs to the program.
    pub margin: u32,
}

impl DocPlace {
    /// The line of the source in the workspace at `root` that is a line of the program; `None` when
    /// `file` is not the program. Reads the source.
    pub fn in_source(&self, root: &Utf8Path, file: &str, line: u32) -> Option<SourceLine> {
        let line = u32::try_from(i64::from(line) + self.offset).ok()?;
        (file == self.file && line > 0).then(|| SourceLine {
            file: self.source().to_owned(),
            line,
            margin: self.margin(root, line),
        })
    }

    /// A call site of the program, which a report has as one of the source; `None` when it cannot
    /// be in the program.
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

    fn source(&self) -> &str {
        self.file.trim_start_matches("./")
    }

    fn margin(&self, root: &Utf8Path, line: u32) -> u32 {
        let text = std::fs::read_to_string(root.join(self.source())).unwrap_or_default();
        let index = (line as usize).saturating_sub(1);
        let margin = text.lines().nth(index).map_or(0, margin);
        u32::try_from(margin).unwrap_or(0)
    }
}

/// What a line of documentation begins with.
pub(super) const MARKS: [&str; 3] = ["///", "//!", "* "];

/// How many characters of a line of the source are not in the program: those of the comment, and
/// what hides the line.
fn margin(line: &str) -> usize {
    let mut rest = line.trim_start();
    if let Some(after) = MARKS.iter().find_map(|mark| rest.strip_prefix(mark)) {
        rest = after.strip_prefix(' ').unwrap_or(after);
        rest = rest.strip_prefix("# ").unwrap_or(rest);
    } else {
        // Text of another kind, such as a README, is a program from its first column on.
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
        let expected = SourceLine { file: "src/lib.rs".to_owned(), line: 2, margin: 8 };
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
