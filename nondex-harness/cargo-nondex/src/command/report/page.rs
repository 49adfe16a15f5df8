//! `cargo nondex report --html`: writes the report as an HTML page.

use camino::Utf8Path;

use crate::command::console::Console;
use crate::error::Result;
use crate::file;
use crate::findings::history::History;
use crate::project::Folders;
use crate::report::html::{self, EarlierResult, Histories, PageContext};
use crate::report::{Report, View};
use crate::repository::short;

/// Writes the page to `path`, by default in the target folder, and prints its path.
pub(super) fn write(
    report: &Report,
    view: &View<'_>,
    place: &Folders,
    path: Option<&Utf8Path>,
    console: &Console,
) -> Result<()> {
    let usual = place.target_dir.join("nondex/report.html");
    let path = path.unwrap_or(&usual);
    let page = PageContext {
        name: place.workspace_root.file_name().unwrap_or("tests"),
        past: &past(&place.target_dir.join("nondex/history"), report, console)?,
    };
    file::write(path, &html::render(report, view, &page))?;
    console.product(&format!("{path}\n"))
}

/// Returns the earlier runs of the tests that do not pass now.
fn past(folder: &Utf8Path, report: &Report, console: &Console) -> Result<Histories> {
    let (entries, damaged) = History::new(folder).all()?;
    console.notes(&damaged);
    let mut past = Histories::new();
    for test in report.tests.iter().filter(|test| !test.verdict.passes()) {
        let moments = entries.iter().filter_map(|entry| {
            let life = entry.tests.get(&test.id)?;
            Some(EarlierResult {
                time: entry.time,
                commit: entry.commit.as_deref().map(|commit| short(commit).to_owned()),
                modified: entry.modified,
                verdict: life.verdict,
            })
        });
        past.insert(test.id.clone(), moments.collect());
    }
    Ok(past)
}
