//! Which lines of the project's own crates a test ran: from the addresses of basic blocks to lines of the source.
//!
//! Crates of the project are compiled with LLVM's `SanitizerCoverage`, whose pass stable rustc runs when it is named: each basic block sets a flag of
//! its own, and a table has their addresses. It is not only done for crates that were changed: a generic function is compiled in the crate
//! that uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId, Unit};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::error::{Error, Result};

/// What rustc is given for a crate that tells which of its code runs.
pub(super) const FLAGS: [&str; 2] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=2 -sanitizer-coverage-inline-bool-flag -sanitizer-coverage-pc-table -sanitizer-coverage-prune-blocks=0",
];

/// Where the addresses of blocks are.
const TABLE: &str = "__sancov_pcs";

/// A line: the file, as the compiler knew it, made absolute, and the number, from 1.
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
    /// When it cannot be read.
    pub fn of(executable: &Utf8Path) -> Result<Self> {
        let failed = |e: &dyn std::fmt::Display| {
            Error::setup(format!("failed to read the lines of `{executable}`: {e}"))
        };
        let bytes = std::fs::read(executable).map_err(|e| failed(&e))?;
        let file = object::File::parse(&*bytes).map_err(|e| failed(&e))?;
        let starts = starts(&file);
        let ends = ends(&file, &starts);
        let mut lines: BTreeMap<u64, BTreeSet<SourceLine>> = BTreeMap::new();
        let mut add = |addresses: Range<u64>, line: &SourceLine| {
            let around = starts.range(..=addresses.start).next_back();
            let inside = starts.range(addresses.start..addresses.end);
            for block in around.into_iter().chain(inside) {
                if addresses.start < ends.get(block).copied().unwrap_or(0) {
                    lines.entry(*block).or_default().insert(line.clone());
                }
            }
        };
        rows(&file, &mut add).map_err(|e| failed(&e))?;
        Ok(Blocks {
            lines: lines
                .into_iter()
                .map(|(block, lines)| (block, lines.into_iter().collect()))
                .collect(),
        })
    }

    /// The lines of a block.
    #[must_use]
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
    let Some(section) = file.section_by_name(TABLE) else {
        return BTreeSet::new();
    };
    let range = section.address()..section.address() + section.size();
    let mut found = BTreeSet::new();
    // In an executable that is loaded anywhere, the addresses stand in its relocations.
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let is_address = range.contains(&at) && (at - range.start).is_multiple_of(16);
        if let Some(address) = u64::try_from(relocation.addend())
            .ok()
            .filter(|_| is_address)
        {
            found.insert(address);
        }
    }
    if let Ok(data) = section.data() {
        let entries = data
            .chunks_exact(16)
            .filter_map(|entry| entry[..8].try_into().ok());
        found.extend(entries.map(u64::from_ne_bytes));
    }
    // A block that went away has none.
    found.retain(|address| *address > 1);
    found
}

/// Where blocks end, by where they begin: at the next one, or with their function.
fn ends(file: &object::File<'_>, starts: &BTreeSet<u64>) -> BTreeMap<u64, u64> {
    let functions = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text);
    let functions: BTreeMap<u64, u64> = functions
        .map(|symbol| (symbol.address(), symbol.address() + symbol.size()))
        .collect();
    let next = starts.iter().skip(1).copied().chain([u64::MAX]);
    let blocks = starts.iter().zip(next);
    blocks
        .map(|(start, next)| {
            let function = functions.range(..=*start).next_back();
            let end = function.map_or(*start, |(_, end)| *end);
            (*start, end.min(next))
        })
        .collect()
}

/// Every row of the line tables: the addresses and their line.
fn rows(
    file: &object::File<'_>,
    add: &mut dyn FnMut(Range<u64>, &SourceLine),
) -> gimli::Result<()> {
    let endian = if file.is_little_endian() {
        RunTimeEndian::Little
    } else {
        RunTimeEndian::Big
    };
    let section = |id: SectionId| {
        let section = file.section_by_name(id.name());
        let data = section.and_then(|section| section.uncompressed_data().ok());
        data.unwrap_or_default()
    };
    let sections = gimli::DwarfSections::load(|id| Ok::<_, gimli::Error>(section(id)))?;
    let dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let unit = dwarf.unit(header)?;
        let Some(program) = unit.line_program.clone() else {
            continue;
        };
        let mut files: BTreeMap<u64, Utf8PathBuf> = BTreeMap::new();
        let mut rows = program.rows();
        let mut before: Option<(u64, SourceLine)> = None;
        while let Some((header, row)) = rows.next_row()? {
            if let Some((start, line)) = before.take() {
                add(start..row.address(), &line);
            }
            let (Some(line), false) = (row.line(), row.end_sequence()) else {
                continue;
            };
            let path = files.entry(row.file_index()).or_insert_with(|| {
                let file = row.file(header);
                let path = file.and_then(|file| path(&dwarf, &unit, header, file));
                path.unwrap_or_default()
            });
            before = u32::try_from(line.get())
                .ok()
                .map(|line| (row.address(), (path.clone(), line)));
        }
    }
    Ok(())
}

type Reader<'a> = EndianSlice<'a, RunTimeEndian>;

fn path<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    unit: &Unit<Reader<'a>>,
    header: &gimli::LineProgramHeader<Reader<'a>>,
    file: &gimli::FileEntry<Reader<'a>>,
) -> Option<Utf8PathBuf> {
    let text = |value| {
        let text = dwarf.attr_string(unit, value).ok()?;
        Some(text.to_string_lossy().into_owned())
    };
    let folder = file.directory(header).and_then(text).unwrap_or_default();
    let base = unit
        .comp_dir
        .map(|folder| folder.to_string_lossy().into_owned());
    let base = Utf8PathBuf::from(base.unwrap_or_default());
    Some(base.join(folder).join(text(file.path_name())?))
}
