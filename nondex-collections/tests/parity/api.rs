//! The API of some modules: their pages, each with its lines.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::fs;
use std::path::Path;

use crate::page::Page;

/// Modules that the mirror does not re-export as a whole.
pub(crate) const MODULES: [&str; 5] = ["collections", "env", "fs", "hash", "thread"];

/// Stable items of [`MODULES`], by page: `collections/hash_map/struct.Iter`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Api {
    /// Declarations on each page. Empty if only the existence of the item matters.
    pub(crate) pages: BTreeMap<String, BTreeSet<String>>,
    /// Link to the source of each page's item.
    pub(crate) sources: BTreeMap<String, String>,
    /// Re-exports without their own page: `collections` and `HashMap`.
    pub(crate) reexports: BTreeSet<(String, String)>,
}

impl Api {
    /// Reads rustdoc's output for a crate: `doc/std`, `doc/nondex_collections`.
    pub(crate) fn of_docs(docs: &Path) -> Api {
        let mut api = Api::default();
        for module in MODULES {
            api.read_module(docs, module);
        }
        api
    }

    fn read_module(&mut self, docs: &Path, module: &str) {
        let directory = docs.join(module);
        let entries = fs::read_dir(&directory)
            .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
        for entry in entries {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                self.read_module(docs, &format!("{module}/{name}"));
                continue;
            }
            let Some(item) = name.strip_suffix(".html") else { continue };
            let html = fs::read_to_string(entry.path()).unwrap();
            if item == "index" {
                for (at, mark) in html.match_indices("id=\"reexport.") {
                    let name = html[at + mark.len()..].split('"').next().unwrap();
                    self.reexports.insert((module.to_owned(), name.to_owned()));
                }
            } else if let Some(page) = Page::read(&html)
                && !page.unstable
            {
                self.sources.insert(format!("{module}/{item}"), page.source);
                self.pages.insert(format!("{module}/{item}"), page.lines);
            }
        }
    }

    /// Parses the output of [`Display`](fmt::Display).
    pub(crate) fn parse(list: &str) -> Api {
        let mut api = Api::default();
        let mut lines = &mut BTreeSet::new();
        for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.strip_prefix("    ") {
                Some(line) => _ = lines.insert(line.to_owned()),
                None => lines = api.pages.entry(line.to_owned()).or_default(),
            }
        }
        api
    }

    /// Returns whether `page` has its own item, or is a re-export of one.
    pub(crate) fn has(&self, page: &str) -> bool {
        let (module, item) = page.rsplit_once('/').unwrap_or_default();
        let name = item.split_once('.').map_or(item, |(_, name)| name);
        self.pages.contains_key(page)
            || self.reexports.contains(&(module.to_owned(), name.to_owned()))
    }

    /// Returns the same pages without sources, and with lines only where `keep` holds.
    pub(crate) fn only_lines_of(&self, keep: impl Fn(&str) -> bool) -> Api {
        let lines = |page: &str, lines: &BTreeSet<String>| {
            if keep(page) { lines.clone() } else { BTreeSet::new() }
        };
        let pages = self.pages.iter().map(|(page, all)| (page.clone(), lines(page, all))).collect();
        Api { pages, ..Api::default() }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (page, lines) in &self.pages {
            writeln!(f, "{page}")?;
            for line in lines {
                f.write_str("    ")?;
                writeln!(f, "{line}")?;
            }
        }
        f.write_char('\n')
    }
}
