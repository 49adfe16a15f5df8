//! A fixed hasher: the same collection with another capacity, which changes std's own order.

use std::fs;
use std::process::Command;

use camino::Utf8Path;
use similar::TextDiff;

use super::copy::Copy;
use super::rewrite::with_capacity;
use super::script::{NOT_BUILT, Script};
use super::trial::Trial;
use super::{Found, Subject};
use crate::cli::shell::{join, quote};
use crate::error::{Error, Result};
use crate::report::Culprit;

/// The capacities that are tried. A table has 4, 8, 16 … buckets, at most 7 of 8 in use.
const CAPACITIES: [u32; 8] = [0, 7, 14, 28, 112, 448, 3_584, 28_672];

/// What the capacity is read from while it is looked for, so that one build does for all.
const VARIABLE: &str = "REPRO_CAPACITY";

impl Subject<'_> {
    pub(super) fn capacity(&self, culprit: &Culprit) -> Result<Found> {
        let nothing = |text: String| Ok(Found::Nothing(text));
        let Some(created) = &culprit.created else {
            return nothing("where the collection was created is not known".to_owned());
        };
        let place = format!("{}:{}", created.file, created.line);
        let source = self.project.workspace_root.join(&created.file);
        if Utf8Path::new(&created.file).is_absolute() || !source.is_file() {
            return nothing(format!(
                "the collection is created at {place}, which is not in this workspace"
            ));
        }
        let original = fs::read_to_string(&source)
            .map_err(|e| Error::setup(format!("failed to read `{source}`: {e}")))?;
        let collection = if culprit.api.contains("HashSet") || culprit.api.contains("hash_set") {
            "HashSet"
        } else {
            "HashMap"
        };
        let changed = |capacity: &str| {
            let column = created.column;
            change_line(&original, created.line, |line| {
                with_capacity(line, column, collection, capacity)
            })
        };
        let read =
            format!("::std::env::var(\"{VARIABLE}\").map_or(0, |text| text.parse().unwrap())");
        let Some(probe) = changed(&read) else {
            return nothing(format!(
                "the expression at {place} that creates the collection cannot be given a capacity by changing its text"
            ));
        };
        let folder = self.folder("capacity");
        Script::discard(&folder);
        let Some(copy) = self.copy_sources(&folder.join("source"))? else {
            return nothing("the sources are too large to copy".to_owned());
        };
        let file = copy.workspace.join(&created.file);
        write(&file, &probe)?;
        let capacity = match self.look_for_capacity(&copy, &place)? {
            Ok(capacity) => capacity,
            Err(reason) => {
                Script::discard(&folder);
                return nothing(reason);
            }
        };
        let patched = changed(&capacity.to_string()).expect("it was changed in the same way");
        write(&file, &patched)?;
        let patch = TextDiff::from_lines(&original, &patched)
            .unified_diff()
            .header(
                &format!("a/{}", created.file),
                &format!("b/{}", created.file),
            )
            .to_string();
        write(&folder.join("repro.patch"), &patch)?;
        let explanation = format!(
            "the test in a copy of the sources where the collection of {place} has a capacity of {capacity} (`repro.patch`, the \
             only change); {} of {} runs without it pass",
            self.ordinary.1 - self.ordinary.0,
            self.ordinary.1
        );
        let text = format!(
            "{}cd {}\nexec cargo test {} -- {}\n",
            self.heading(&format!("{}: {explanation}", self.finding.test)),
            quote(copy.workspace.as_str()),
            self.copy_words(&copy),
            self.test_words(),
        );
        let script = Script::write(&folder, &text)?;
        if self.try_script(&script, &[])? == Trial::Fails {
            return Ok(Found::Script(script.0, explanation));
        }
        Script::discard(&folder);
        nothing(format!(
            "with a capacity of {capacity} it failed, but not every time"
        ))
    }

    /// The first capacity with which the test fails, or why there is none.
    fn look_for_capacity(
        &self,
        copy: &Copy,
        place: &str,
    ) -> Result<std::result::Result<u32, String>> {
        for capacity in CAPACITIES {
            let mut command = Command::new("sh");
            command.env(VARIABLE, capacity.to_string());
            command.current_dir(&copy.workspace).arg("-c");
            // Cargo's own failures are no test's.
            command.arg(format!(
                "cargo test --quiet --no-run {0} || exit {NOT_BUILT}; exec cargo test --quiet {0} -- {1}",
                self.copy_words(copy),
                self.test_words()
            ));
            match self.try_once(command)? {
                Trial::Fails => return Ok(Ok(capacity)),
                Trial::NotBuilt => {
                    return Ok(Err(format!(
                        "the sources do not build with a capacity at {place}: the text of the expression is not enough to change it"
                    )));
                }
                Trial::Passes | Trial::Otherwise => {}
            }
        }
        let tried = CAPACITIES.map(|capacity| capacity.to_string()).join(", ");
        Ok(Err(format!(
            "the order of std is the same, or suits the test, with each capacity that was tried at {place}: {tried}"
        )))
    }

    /// The arguments of `cargo test` for the copy.
    fn copy_words(&self, copy: &Copy) -> String {
        let words = self.cargo_words(&copy.workspace.join("Cargo.toml"));
        // One of its own: cargo takes packages at the same place in two workspaces for the same, and what was built last for
        // that of both.
        let target_dir = self.folder("capacity").join("target");
        format!(
            "--target-dir {} {}",
            quote(target_dir.as_str()),
            join(words.iter().map(String::as_str))
        )
    }

    /// The arguments of the test executable.
    fn test_words(&self) -> String {
        let ignored = if self.test.ignored { " --ignored" } else { "" };
        format!("--exact {} --nocapture{ignored}", quote(&self.test.name))
    }
}

/// A text with one line changed, from 1.
fn change_line(text: &str, number: u32, change: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let line = lines.get_mut((number as usize).checked_sub(1)?)?;
    *line = change(line)?;
    Some(lines.join("\n"))
}

fn write(path: &Utf8Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|e| Error::setup(format!("failed to write `{path}`: {e}")))
}
