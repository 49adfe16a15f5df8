//! Files with the report in the formats of other tools.

use crate::cli::FileArgs;
use crate::error::{Error, Result};
use crate::file;
use crate::report::{Report, View, gitlab, junit, sarif};

/// Creates the folders of all requested files before any test runs. Otherwise a long run would end
/// with the error.
///
/// # Errors
/// When a folder cannot be created, or a path is a folder. This is a set-up error with the path.
pub(super) fn prepare(files: &FileArgs) -> Result<()> {
    for path in [&files.junit, &files.sarif, &files.gitlab].into_iter().flatten() {
        if path.is_dir() {
            return Err(Error::setup(format!("failed to write `{path}`: it is a folder")));
        }
        path.parent().map_or(Ok(()), file::create_folder)?;
    }
    Ok(())
}

/// Writes a report to all requested files.
///
/// # Errors
/// When a file cannot be written. This is a set-up error with the path.
pub(super) fn write_all(report: &Report, view: &View<'_>, files: &FileArgs) -> Result<()> {
    if let Some(path) = &files.junit {
        let whole = View { brief: false, ..*view };
        file::write(path, &junit::render(report, &whole)?)?;
    }
    if let Some(path) = &files.sarif {
        file::write(path, &sarif::render(report, view.sources))?;
    }
    if let Some(path) = &files.gitlab {
        file::write(path, &gitlab::render(report, view.sources))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_refused_before_the_run() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        let named = |path: &str| FileArgs { sarif: Some(root.join(path)), ..FileArgs::default() };
        prepare(&named("new/folder/a.sarif")).unwrap();
        assert!(root.join("new/folder").is_dir() && !root.join("new/folder/a.sarif").exists());
        std::fs::write(root.join("file"), "").unwrap();
        prepare(&named("file")).unwrap();
        for (path, expected) in [("new", "it is a folder"), ("file/a.sarif", "failed to create")] {
            let error = prepare(&named(path)).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let relative = FileArgs { junit: Some("a.xml".into()), ..FileArgs::default() };
        prepare(&relative).unwrap();
    }
}
