//! Files with the report in the formats of other tools.

use crate::cli::FileArgs;
use crate::error::Result;
use crate::file;
use crate::report::human::View;
use crate::report::{Report, gitlab, junit, sarif};

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
