//! Maps lines of a doctest's program to lines of the source.

use super::HERE;
use crate::project::DocPlace;
use crate::project::doc_place::MARKS;

/// Parses the place of a doctest as [`keep`] recorded it. Returns `None` if the file name does not
/// start with [`HERE`].
pub(super) fn place_of(text: &str) -> Option<DocPlace> {
    let (file, offset) = text.trim_end().split_once('\n')?;
    file.starts_with(HERE).then_some(())?;
    Some(DocPlace { file: file.to_owned(), offset: offset.parse().ok()? })
}

/// Returns the lines of the doctest at a line of a source, counted from 1, without comment markers.
/// The first one is the opening fence; the code follows.
pub fn block(source: &str, line: u32) -> Vec<&str> {
    let first = (line as usize).saturating_sub(1);
    let mut lines = source.lines().skip(first).map(unmarked);
    let opened = lines.next();
    let code = lines.take_while(|line| !is_fence(line));
    opened.into_iter().chain(code).collect()
}

/// Returns a line without indentation and comment marker.
fn unmarked(line: &str) -> &str {
    let line = line.trim_start();
    MARKS.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim_start()
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// Returns the lines, counted from 1, at which a source has a doctest with these lines.
pub fn same(source: &str, lines: &[&str]) -> Vec<u32> {
    let count = u32::try_from(source.lines().count()).unwrap_or(u32::MAX);
    let opens = |line: &u32| {
        let found = block(source, *line);
        found.first().is_some_and(|first| is_fence(first)) && found == lines
    };
    (1..=count).filter(opens).collect()
}

/// Returns whether rustdoc adds `extern crate` to the doctest at a line of a source. It does so if
/// the doctest names the crate and has no `extern crate` for it.
pub(super) fn is_crate_added(source: &str, line: u32, target: &str) -> bool {
    let code = block(source, line);
    let has = |text: &str| code.iter().skip(1).any(|line| line.contains(text));
    has(target) && !has(&format!("extern crate {target}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_added_to_a_doctest_that_names_it() {
        let source = "/// ```\n/// # use it::a;\n/// ```\n/// it\n/// ```\n\
            /// extern crate it;\n/// it::b();\n/// ```\n";
        assert!(is_crate_added(source, 1, "it"));
        assert!(!is_crate_added(source, 3 + 2, "it"));
        assert!(!is_crate_added(source, 1, "other"));
        assert!(!is_crate_added(source, 99, "it"));
    }

    #[test]
    fn a_doctest_is_found_again_by_its_lines() {
        let source = "//! ```\n//! a();\n//! ```\nmod m {\n    /// ```\n    /// a();\n    /// ```\n\
                      \x20   /// ```\n    /// b();\n    /// ```\n}\n";
        let lines = block(source, 5);
        assert_eq!(lines, ["```", "a();"]);
        assert_eq!(same(source, &lines), [1, 5]);
        assert!(same("/// ```should_panic\n/// a();\n/// ```\n", &lines).is_empty());
    }

    #[test]
    fn what_a_linker_wrote_down_is_read() {
        let place = place_of("./src/lib.rs\n-1\n").unwrap();
        assert_eq!((place.file.as_str(), place.offset), ("./src/lib.rs", -1));
        assert_eq!(place_of("/elsewhere/src/lib.rs\n3\n"), None);
        assert_eq!(place_of(""), None);
    }
}
