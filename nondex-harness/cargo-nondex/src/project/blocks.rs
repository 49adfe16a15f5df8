//! Basic blocks of an executable that record that they ran, and the lines of these blocks. They are
//! read from a table that the compiler writes, the symbols, and the debug information.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use super::dwarf::{self, DebugInfo};
use super::entry;
use crate::error::{Error, OrSetup, Result};

/// Name of the section with the addresses of blocks.
pub(super) const TABLE: &str = "__sancov_pcs";

/// Line of the source: the file, absolute and with links resolved, and the number, from 1.
pub type FileLine = (Utf8PathBuf, u32);

/// Lines of each basic block of an executable.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    lines: BTreeMap<u64, Vec<FileLine>>,
}

impl Blocks {
    /// Reads the blocks of an executable. An executable that is not instrumented has none.
    ///
    /// # Errors
    /// Returns an error if the executable cannot be read, or if its blocks have no lines.
    pub fn of(executable: &Utf8Path) -> Result<Self> {
        let failed = format!("failed to read the lines of `{executable}`");
        let bytes = std::fs::read(executable).or_setup(&failed)?;
        let file = object::File::parse(&*bytes).or_setup(&failed)?;
        let starts = starts(&file);
        let functions = functions(&file);
        let ends = ends(&functions, &starts);
        let harness = entry::of_harness(&file).unwrap_or(0..0);
        let mut lines: BTreeMap<u64, BTreeSet<FileLine>> = BTreeMap::new();
        let mut add = |addresses: Range<u64>, file: &Utf8Path, line: u32| {
            // Every test runs the harness's `main`, and its line belongs to code of the user.
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
        rows(&file, &mut add).or_setup(&failed)?;
        // The functions with which an executable starts may be its only blocks. They have no lines.
        let main = entry::main(&file).unwrap_or(0..0);
        let is_added = |start: &u64| main.contains(start) || harness.contains(start);
        if lines.is_empty() && !starts.iter().all(is_added) {
            return Err(Error::setup(format!("{failed}: it has none")));
        }
        Ok(Blocks {
            lines: lines
                .into_iter()
                .map(|(block, lines)| (block, lines.into_iter().collect()))
                .collect(),
        })
    }

    /// Returns the lines of the block at this address.
    pub fn lines(&self, block: u64) -> &[FileLine] {
        self.lines.get(&block).map_or(&[], Vec::as_slice)
    }

    /// Returns the lines of all blocks.
    pub fn all(&self) -> impl Iterator<Item = &FileLine> {
        self.lines.values().flatten()
    }
}

/// Returns the addresses at which blocks begin.
fn starts(file: &object::File<'_>) -> BTreeSet<u64> {
    let Some(section) = file.section_by_name(TABLE) else { return BTreeSet::new() };
    let range = section.address()..section.address() + section.size();
    let mut found = BTreeSet::new();
    // An entry of the table has 16 bytes: an address and flags. In a position-independent
    // executable, the addresses are in the relocations.
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
    // The entry of a removed block has no address, but 0 or 1.
    found.retain(|address| *address > 1);
    found
}

/// Returns the end of each function, by its start.
fn functions(file: &object::File<'_>) -> BTreeMap<u64, u64> {
    file.symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text)
        .map(|symbol| (symbol.address(), symbol.address() + symbol.size()))
        .collect()
}

/// Returns the end of each block, by its start: the start of the next block, or the end of the
/// function if that is earlier.
fn ends(functions: &BTreeMap<u64, u64>, starts: &BTreeSet<u64>) -> BTreeMap<u64, u64> {
    let next = starts.iter().skip(1).copied().chain([u64::MAX]);
    starts
        .iter()
        .zip(next)
        .map(|(start, next)| {
            let end = functions.range(..=*start).next_back().map_or(*start, |(_, end)| *end);
            (*start, end.min(next))
        })
        .collect()
}

/// Passes every row of the line tables to `add`: the addresses, the file and the line.
///
/// # Errors
/// Returns an error if the debug information cannot be read.
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
        // Start, file and line of the previous row, which ends where the current row starts.
        let mut before: Option<(u64, u64, u32)> = None;
        while let Some((header, row)) = rows.next_row()? {
            if let Some((start, file, line)) = before.take() {
                add(start..row.address(), &files[&file], line);
            }
            let (Some(line), false) = (row.line(), row.end_sequence()) else { continue };
            let index = row.file_index();
            files.entry(index).or_insert_with(|| {
                let path = row
                    .file(header)
                    .and_then(|file| dwarf::path(&dwarf, &unit, header, file))
                    .unwrap_or_default();
                // The compiler may have reached a file by several paths, of which only one is kept.
                resolved
                    .entry(path)
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
