//! What must be instrumented to know which tests reach a change.

use std::collections::{BTreeMap, BTreeSet};

use crate::project::blocks::Ranges;
use crate::project::{Counted, Functions};
use crate::repository::{Enclosing, Reach, enclosing, is_plain};
use camino::Utf8PathBuf;
use cargo_metadata::{Metadata, Package};

use super::Effects;
use super::kind::{around, with_folders};

/// The names of a package's crates.
fn crates(package: &Package) -> impl Iterator<Item = String> {
    package.targets.iter().map(|target| target.name.replace('-', "_"))
}

impl Effects {
    /// The lines of which must be known whether they ran.
    pub(in crate::command) fn asked(&self) -> Ranges {
        let mut asked = Ranges::default();
        for (file, line) in &self.changed {
            asked.add(file, *line, *line);
        }
        for effect in &self.effects {
            let mut add = |(first, last)| asked.add(&effect.file, first, last);
            if let Reach::Lines(own, function) = effect.reach {
                add(own);
                add(function);
            }
        }
        asked
    }

    /// The functions that these lines are in.
    pub(in crate::command) fn counted(&self, metadata: &Metadata) -> Counted {
        let own = metadata.packages.iter();
        let own: Vec<&Package> = own.filter(|package| package.source.is_none()).collect();
        let mut functions = Functions {
            packages: own.iter().map(|package| package.name.to_string()).collect(),
            crates: own.iter().flat_map(|package| crates(package)).collect(),
            // What a test executable begins with is on the first line of a file.
            names: BTreeSet::from(["main".to_owned()]),
            ..Functions::default()
        };
        if !functions.crates.iter().all(|name| is_plain(name)) {
            return Counted::All;
        }
        let of_effects = self.effects.iter().map(|effect| (&effect.file, effect.line));
        let changed = self.changed.iter().map(|(file, line)| (file, *line));
        let mut lines: BTreeMap<&Utf8PathBuf, BTreeSet<u32>> = BTreeMap::new();
        for (file, line) in of_effects.chain(changed) {
            if file.extension() == Some("rs") {
                lines.entry(file).or_default().insert(line);
            }
        }
        let own = with_folders(own);
        for (file, lines) in lines {
            // One that is gone has nothing that runs.
            let Ok(text) = std::fs::read_to_string(file) else { continue };
            match enclosing(&text, &lines) {
                Enclosing::Named(names) => functions.names.extend(names),
                Enclosing::Unknown => match around(&own, file) {
                    Some((_, package)) => functions.whole.extend(crates(package)),
                    None => functions.whole.extend(functions.crates.iter().cloned()),
                },
            }
        }
        Counted::Some(functions)
    }
}
