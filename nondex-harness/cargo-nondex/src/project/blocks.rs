//! The basic blocks of an executable that tell when they run, and their lines: from a table that
//! the compiler makes, the symbols and the debug information.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use super::dwarf::{self, DebugInfo};
use super::entry;
use crate::error::{Error, Result};

/// Where the addresses of blocks are.
pub(super) const TABLE: &str = "__sancov_pcs";

/// A line: the file, absolute and without links, and the number, from 1.
pub type SourceLine = (Utf8PathBuf, u32);

/// The lines of each basic block of an executable.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    lines: BTreeMap<u64, Vec<SourceLine>>,
}

impl Blocks {
    /// Those of an executable. Nothing is known of one that is not instrumented.
    ///
    /// # Errors
    /// When it cannot be read, or has no lines.
    pub fn of(executable: &Utf8Path) -> Result<Self> {
        let failed = |e: &dyn std::fmt::Display| {
            Error::setup(format!("failed to read the lines of `{executable}`: {e}"))
        };
        let bytes = std::fs::read(executable).map_err(|e| failed(&e))?;
        let file = object::File::parse(&*bytes).map_err(|e| failed(&e))?;
        let starts = starts(&file);
        let functions = functions(&file);
        let ends = ends(&functions, &starts);
        let harness = entry::of_harness(&file).unwrap_or(0..0);
        let mut lines: BTreeMap<u64, BTreeSet<SourceLine>> = BTreeMap::new();
        let mut add = |addresses: Range<u64>, file: &Utf8Path, line: u32| {
            // Every test runs it, and its line belongs to whatever the user has there.
            if harness.contains(&addresses.start) {
                return;
            }
            let around = starts.range(..=addresses.start).next_back();
            let inside = starts.range(addresses.start..addresses.end);
            for block in around.into_iter().chain(inside) {
                if addresses.start < ends.get(block).copied().unwrap_or(0) {
                    lines.entry(*block).or_default().insert((file.to_owned(), line));
                }
            }
        };
        rows(&file, &mut add).map_err(|e| failed(&e))?;
        // What the compiler adds to begin with has no line.
        let main = entry::main(&file).unwrap_or(0..0);
        let is_added = |start: &u64| main.contains(start) || harness.contains(start);
        if lines.is_empty() && !starts.iter().all(is_added) {
            return Err(failed(&"it has none"));
        }
        Ok(Blocks {
            lines: lines
                .into_iter()
                .map(|(block, lines)| (block, lines.into_iter().collect()))
                .collect(),
        })
    }

    /// The lines of a block.
    pub fn lines(&self, block: u64) -> &[SourceLine] {
        self.lines.get(&block).map_or(&[], Vec::as_slice)
    }

    /// Every line that any block has.
    pub fn all(&self) -> impl Iterator<Item = &SourceLine> {
        self.lines.values().flatten()
    }
}

/// Where blocks begin.
fn starts(file: &object::File<'_>) -> BTreeSet<u64> {
    let Some(section) = file.section_by_name(TABLE) else { return BTreeSet::new() };
    let range = section.address()..section.address() + section.size();
    let mut found = BTreeSet::new();
    // In an executable that is loaded anywhere, the addresses stand in its relocations.
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let is_address = range.contains(&at) && (at - range.start).is_multiple_of(16);
        if let Some(address) = u64::try_from(relocation.addend()).ok().filter(|_| is_address) {
            found.insert(address);
        }
    }
    if let Ok(data) = section.data() {
        let entries = data.chunks_exact(16).filter_map(|entry| entry[..8].try_into().ok());
        found.extend(entries.map(u64::from_ne_bytes));
    }
    // A block that went away has none.
    found.retain(|address| *address > 1);
    found
}

/// Where functions end, by where they begin.
fn functions(file: &object::File<'_>) -> BTreeMap<u64, u64> {
    let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
    functions.map(|symbol| (symbol.address(), symbol.address() + symbol.size())).collect()
}

/// Where blocks end, by where they begin: at the next one, or with their function.
fn ends(functions: &BTreeMap<u64, u64>, starts: &BTreeSet<u64>) -> BTreeMap<u64, u64> {
    let next = starts.iter().skip(1).copied().chain([u64::MAX]);
    let blocks = starts.iter().zip(next);
    blocks
        .map(|(start, next)| {
            let end = functions.range(..=*start).next_back().map_or(*start, |(_, end)| *end);
            (*start, end.min(next))
        })
        .collect()
}

/// Every row of the line tables: the addresses, the file and the line.
fn rows(
    file: &object::File<'_>,
    add: &mut dyn FnMut(Range<u64>, &Utf8Path, u32),
) -> gimli::Result<()> {
    let debug_info = DebugInfo::of(file)?;
    let dwarf = debug_info.read();
    let mut units = dwarf.units();
    let mut resolved: BTreeMap<Utf8PathBuf, Utf8PathBuf> = BTreeMap::new();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let Some(program) = unit.line_program.clone() else { continue };
        let mut files: BTreeMap<u64, Utf8PathBuf> = BTreeMap::new();
        let mut rows = program.rows();
        // Where the row before begins, its file and its line.
        let mut before: Option<(u64, u64, u32)> = None;
        while let Some((header, row)) = rows.next_row()? {
            if let Some((start, file, line)) = before.take() {
                add(start..row.address(), &files[&file], line);
            }
            let (Some(line), false) = (row.line(), row.end_sequence()) else { continue };
            let index = row.file_index();
            files.entry(index).or_insert_with(|| {
                let file = row.file(header);
                let path = file.and_then(|file| dwarf::path(&dwarf, &unit, header, file));
                let path = path.unwrap_or_default();
                let known = resolved.entry(path);
                // A file has one path here, however the compiler came to it.
                known
                    .or_insert_with_key(|path| {
                        path.canonicalize_utf8().unwrap_or_else(|_| path.clone())
                    })
                    .clone()
            });
            let line = u32::try_from(line.get()).ok();
            before = line.map(|line| (row.address(), index, line));
        }
    }
    Ok(())
}
