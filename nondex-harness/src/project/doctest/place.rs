//! How the lines of a doctest's program lie in the source.

use super::HERE;
use crate::project::DocPlace;
use crate::project::doc_place::MARKS;

/// Where a doctest stands, as [`keep`] wrote it down.
pub(super) fn place_of(text: &str) -> Option<DocPlace> {
    let (file, offset) = text.trim_end().split_once('\n')?;
    file.starts_with(HERE).then_some(())?;
    Some(DocPlace {
        file: file.to_owned(),
        offset: offset.parse().ok()?,
    })
}

/// Whether rustdoc adds `extern crate` to the doctest at a line of a source: when it names the crate and does not do so itself.
pub(super) fn is_crate_added(source: &str, line: u32, target: &str) -> bool {
    let unmarked = |line: &'_ str| {
        let line = line.trim_start();
        let after = MARKS.iter().find_map(|mark| line.strip_prefix(mark));
        after.unwrap_or(line).trim_start().to_owned()
    };
    let code: Vec<String> = source
        .lines()
        .skip(line as usize)
        .map(unmarked)
        .take_while(|line| !line.starts_with("```") && !line.starts_with("~~~"))
        .collect();
    let has = |text: &str| code.iter().any(|line| line.contains(text));
    has(target) && !has(&format!("extern crate {target}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_added_to_a_doctest_that_names_it() {
        let source = "/// ```\n/// # use it::a;\n/// ```\n/// it\n/// ```\n/// extern crate it;\n/// it::b();\n/// ```\n";
        assert!(is_crate_added(source, 1, "it"));
        assert!(!is_crate_added(source, 3 + 2, "it"));
        assert!(!is_crate_added(source, 1, "other"));
        assert!(!is_crate_added(source, 99, "it"));
    }

    #[test]
    fn what_a_linker_wrote_down_is_read() {
        let place = place_of("./src/lib.rs\n-1\n").unwrap();
        assert_eq!((place.file.as_str(), place.offset), ("./src/lib.rs", -1));
        assert_eq!(place_of("/elsewhere/src/lib.rs\n3\n"), None);
        assert_eq!(place_of(""), None);
    }
}
