//! Output for GitHub Actions: annotations and a job summary.

use std::fs::OpenOptions;
use std::io::Write;

use super::console::Console;
use crate::cli::{Annotations, MessageFormat};
use crate::error::Result;
use crate::report::{Report, Sources, github, markdown};

/// Variable with the path of the file to which a step appends its summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Writes annotations to the stream that the runner reads, and appends the job summary.
///
/// # Errors
/// When stdout cannot be written. A summary that cannot be written only causes a warning.
pub(super) fn announce(
    report: &Report,
    sources: &Sources,
    when: Annotations,
    console: &Console,
) -> Result<()> {
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    let is_annotated = match when {
        Annotations::Never => return Ok(()),
        Annotations::Auto => std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true"),
        Annotations::Always => true,
    };
    if is_annotated {
        let commands = github::annotations(report, sources);
        match console.format {
            // The runner reads both streams. In these formats, stdout is reserved for JSON.
            MessageFormat::Json | MessageFormat::JsonLines => console.text(&commands),
            MessageFormat::Human => console.product(&commands)?,
        }
    }
    if is_set(SUMMARY) {
        append_summary(&markdown::render(report, sources), console);
    }
    Ok(())
}

/// Appends `text` to the job summary. Text of other commands in the same step stays.
fn append_summary(text: &str, console: &Console) {
    let path = std::env::var_os(SUMMARY).unwrap_or_default();
    let file = OpenOptions::new().append(true).create(true).open(&path);
    if let Err(error) = file.and_then(|mut file| file.write_all(text.as_bytes())) {
        let path = path.display();
        console.warning(&format!("failed to write the job summary `{path}`: {error}"));
    }
}
