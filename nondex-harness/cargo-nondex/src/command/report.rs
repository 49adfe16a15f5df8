//! `cargo nondex report`: shows the last report, lists the findings, or exports them.

mod page;

use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::actions;
use super::console::Console;
use super::files;
use super::history;
use super::known::{KnownFlakes, workspace};
use super::outcome;
use crate::cli::{MergeArgs, MessageFormat, ReportAction, ReportArgs};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::file;
use crate::findings::{Finding, FindingStore, Regressions, skip_list};
use crate::project::Folders;
use crate::report::human::{self, Sources, View};
use crate::report::{RunDirectory, markdown, merge, plural, store};

/// Shows the results of earlier runs. The exit code shows whether this worked, not what was found.
pub(super) fn report(args: &ReportArgs, line: &str, console: &Console) -> Result<ExitCode> {
    if let Some(ReportAction::Merge(args)) = &args.action {
        return merge(args, line, console);
    }
    let place = args.location.folders()?;
    if let Some(test) = &args.history {
        let usual = place.target_dir.join("nondex/history");
        let folder = args.history_dir.as_ref().unwrap_or(&usual);
        history::show(folder, test.as_deref(), console)?;
    } else if args.list {
        list(&place, console)?;
    } else if let Some(file) = &args.export {
        export(&place, file, console)?;
    } else {
        show(&place, args, console)?;
    }
    Ok(ExitCode::Ok)
}

/// Shows a report, or writes it in the requested formats.
fn show(place: &Folders, args: &ReportArgs, console: &Console) -> Result<()> {
    let report = match (&args.run, &args.report) {
        (Some(run), _) => read_run(&place.target_dir, run)?,
        (None, Some(file)) => store::read(file)?,
        (None, None) => store::read_latest(&place.target_dir)?,
    };
    let path = place.target_dir.join("nondex/runs").join(&report.run.id).join("report.json");
    let view = View {
        sources: &Sources::of_user(&place.workspace_root),
        report: path.is_file().then_some(path.as_path()),
        elapsed: Duration::from_millis(report.run.elapsed_ms),
        brief: console.verbose == 0,
        verbose: console.verbose,
        quiet: console.quiet,
    };
    files::write_all(&report, &view, &args.files)?;
    // Only on request: in a later step of a job, the annotations of the run exist already.
    if let Some(when) = args.files.annotations {
        actions::announce(&report, view.sources, when, console)?;
    }
    if let Some(path) = &args.markdown {
        let text = markdown::render(&report, view.sources);
        match path {
            Some(path) => file::write(path, &text)?,
            None if console.format == MessageFormat::Json => {
                let message = "--markdown without a file and JSON cannot both go to stdout";
                return Err(Error::usage(message.to_owned()));
            }
            None => return console.product(&text),
        }
    }
    if let Some(distribution) = args.skip_list {
        let text = skip_list::render(&report, view.sources, distribution);
        return console.product(&text);
    }
    if let Some(file) = &args.html {
        return page::write(&report, &view, place, file.as_deref(), console);
    }
    if console.format == MessageFormat::Json {
        return console.json(&report);
    }
    console.folded(&human::render(&report, &view));
    Ok(())
}

/// Merges reports, and shows the result. Returns its exit code.
fn merge(args: &MergeArgs, line: &str, console: &Console) -> Result<ExitCode> {
    let place = args.location.folders()?;
    let mut reports = Vec::new();
    for path in &args.paths {
        for file in reports_in(path)? {
            reports.push(store::read(&file)?);
        }
    }
    let directory = RunDirectory::create(&place.target_dir)?;
    let mut report = merge::merge(&reports).map_err(Error::usage)?;
    let flakes = KnownFlakes::read(&place.workspace_root, || workspace(&args.location))?;
    flakes.apply(&place.workspace_root, &mut report);
    directory.id().clone_into(&mut report.run.id);
    line.clone_into(&mut report.run.command);
    let path = directory.write(&report)?;
    let elapsed = Duration::from_millis(report.run.elapsed_ms);
    outcome::show(&report, &place.workspace_root, &path, elapsed, &args.files, console)
}

/// Returns the reports at a path: the file itself, or all JSON files below the folder. What is in
/// folders next to a run's report belongs to that run.
fn reports_in(path: &Utf8Path) -> Result<Vec<Utf8PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let is_of_run = path.join("report.json").is_file();
    let mut files = Vec::new();
    for path in file::list(path)? {
        let is_read = if path.is_dir() { !is_of_run } else { path.extension() == Some("json") };
        if is_read {
            files.extend(reports_in(&path)?);
        }
    }
    Ok(files)
}

/// Returns the report of the run with this id.
fn read_run(target: &Utf8Path, run: &str) -> Result<crate::report::Report> {
    let runs = target.join("nondex/runs");
    let path = runs.join(run).join("report.json");
    // The id must not lead to another folder, as `..` would.
    let is_name = !run.is_empty() && !run.starts_with('.') && !run.contains(['/', '\\']);
    if is_name && path.is_file() {
        return store::read(&path);
    }
    let all = file::entries(&runs);
    let reported = all.iter().filter(|run| run.join("report.json").is_file());
    let known: Vec<&str> = reported.filter_map(|run| run.file_name()).collect();
    Err(Error::usage(match known.as_slice() {
        [] => format!("there is no run `{run}`, nor any other in `{runs}`"),
        _ => format!("there is no run `{run}`; there are: {}", known.join(", ")),
    }))
}

/// Finding in the JSON list.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    /// Seconds since the finding was made last.
    age: u64,
}

/// Lists the findings on stdout. Findings that are not primary are listed only if verbose.
fn list(place: &Folders, console: &Console) -> Result<()> {
    let (findings, damaged) = FindingStore::new(&place.target_dir).all()?;
    console.notes(&damaged);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let shown = findings.iter().filter(|finding| finding.primary || console.verbose > 0);
    let listed: Vec<Listed<'_>> =
        shown.map(|finding| Listed { finding, age: now.saturating_sub(finding.found) }).collect();
    match console.format {
        MessageFormat::Json => console.json(&listed),
        MessageFormat::Human | MessageFormat::JsonLines => {
            if listed.is_empty() {
                console.status("Listed", "no findings");
            }
            console.product(&table(&listed))
        }
    }
}

/// Returns a line for each finding and one for each responsible call.
fn table(listed: &[Listed<'_>]) -> String {
    let mut text = String::new();
    for Listed { finding, age } in listed {
        let _ = writeln!(
            text,
            "{} {:<9} {} {}, {} ago",
            finding.id,
            finding.verdict,
            finding.test,
            finding.conditions(),
            age_text(*age)
        );
        for culprit in finding.culprit_texts() {
            let _ = writeln!(text, "         {culprit}");
        }
    }
    text
}

/// Returns an age in its largest unit, rounded down.
fn age_text(seconds: u64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let (number, noun) = match seconds {
        0..MINUTE => (seconds, "second"),
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        _ => (seconds / DAY, "day"),
    };
    plural(number, noun)
}

/// Adds the findings to the file of regressions.
fn export(place: &Folders, file: &Utf8Path, console: &Console) -> Result<()> {
    let path = regressions_file(Some(file), &place.workspace_root)?;
    let (findings, damaged) = FindingStore::new(&place.target_dir).all()?;
    console.notes(&damaged);
    let mut regressions = Regressions::read(&path)?;
    let new = regressions.add(&findings);
    let left_out =
        findings.iter().filter(|finding| finding.primary && !finding.is_reproducible()).count();
    if left_out > 0 {
        console.note(&format!("{} left out: no seed reproduces them", plural(left_out, "finding")));
    }
    let all = regressions.all().len();
    if all == 0 {
        console.status("Exported", "nothing: there are no findings that a seed reproduces");
        return Ok(());
    }
    regressions.write(&path)?;
    let message = format!("{} to {path}, which has {all}", plural(new, "new regression"));
    console.status("Exported", &message);
    Ok(())
}

/// Returns the path of the regressions. The default file is in the workspace. Another path is
/// relative to the current folder.
pub(super) fn regressions_file(
    given: Option<&Utf8Path>,
    workspace_root: &Utf8Path,
) -> Result<Utf8PathBuf> {
    use crate::findings::DEFAULT_FILE;
    match given.filter(|path| *path != DEFAULT_FILE) {
        None => Ok(workspace_root.join(DEFAULT_FILE)),
        Some(path) => file::absolute(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_of_runs_have_one_report_each() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let files = [
            "1/report.json",
            "1/searches/a.json",
            "2/report.json",
            "2/records/b/c.json",
            "shards/one.json",
            "shards/two.json",
            "shards/notes.txt",
        ];
        for file in files.map(|file| folder.join(file)) {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let mut found = reports_in(folder).unwrap();
        found.sort();
        let expected = ["1/report.json", "2/report.json", "shards/one.json", "shards/two.json"];
        assert_eq!(found, expected.map(|file| folder.join(file)));
    }

    #[test]
    fn an_age_is_told_in_its_largest_unit() {
        for (seconds, words) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (119, "1 minute"),
            (7200, "2 hours"),
            (86_399, "23 hours"),
            (864_000, "10 days"),
        ] {
            assert_eq!(age_text(seconds), words);
        }
    }
}
