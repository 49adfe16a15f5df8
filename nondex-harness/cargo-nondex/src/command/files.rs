//! A report in the formats of other tools.

use std::fs;

use camino::Utf8Path;

use crate::cli::FileArgs;
use crate::error::{Error, Result};
use crate::report::human::View;
use crate::report::{Report, gitlab, junit, sarif};

/// Writes a report to all files that are requested.
///
/// # Errors
/// When one cannot be written, a set-up error with its path.
pub(super) fn write_all(report: &Report, view: &View<'_>, files: &FileArgs) -> Result<()> {
    if let Some(path) = &files.junit {
        let whole = View {
            brief: false,
            ..*view
        };
        write(path, &junit::render(report, &whole)?)?;
    }
    if let Some(path) = &files.sarif {
        write(path, &sarif::render(report, view.sources))?;
    }
    if let Some(path) = &files.gitlab {
        write(path, &gitlab::render(report, view.sources))?;
    }
    Ok(())
}

/// Writes a file, and makes the folders above it.
///
/// # Errors
/// When it cannot be written, a set-up error with its path.
pub(super) fn write(path: &Utf8Path, text: &str) -> Result<()> {
    // In place, because it may be a pipe.
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, text))
        .map_err(|e| Error::setup(format!("failed to write `{path}`: {e}")))
}
