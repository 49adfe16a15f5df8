//! Which lines of the project's own crates a test ran: from the addresses of basic blocks to lines of the source.
//!
//! Crates of the project are compiled with LLVM's `SanitizerCoverage`, whose pass stable rustc runs when it is named: each basic block sets a flag of
//! its own, and a table has their addresses. It is not only done for crates that were changed: a generic function is compiled in the crate
//! that uses it. The flags get pages of their own, so that they can be in a file while a process runs, and outlive it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::ops::Range;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use serde::{Deserialize, Serialize};

use super::counted::Counted;
use super::dwarf::{self, DebugInfo};
use super::toolchain::Toolchain;
use crate::error::{Error, Result};

/// What rustc is given for a crate that tells which of its code runs. Nothing is optimised, because what was folded into its caller, or into a
/// constant, has no lines any more. The lines and the functions must be there, whatever the profile says.
const FLAGS: [&str; 6] = [
    "-Cllvm-args=-sanitizer-coverage-level=2 -sanitizer-coverage-inline-bool-flag -sanitizer-coverage-pc-table -sanitizer-coverage-prune-blocks=0",
    "-Cno-prepopulate-passes",
    "-Copt-level=0",
    "-Cdebuginfo=line-tables-only",
    "-Csplit-debuginfo=off",
    "-Cstrip=none",
];

/// The linker script that gives the flags pages of their own.
const SCRIPT: &str = "SECTIONS { __sancov_bools : ALIGN(CONSTANT(MAXPAGESIZE)) { *(__sancov_bools) . = ALIGN(CONSTANT(MAXPAGESIZE)); } } INSERT AFTER .data;\n";

/// The pass by which all functions tell. Not even what is always inlined is inlined.
const ALL: &str = "-Cpasses=sancov-module";

/// The passes by which only those tell that a file of rules leaves. What they call may be inlined into them, because that is done when they tell
/// already.
const SOME: &str = "-Cpasses=rewrite-symbols sancov-module rewrite-symbols always-inline";

/// How the project's own crates tell which of their code runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Covered {
    /// The linker script for what they are in.
    script: Utf8PathBuf,
    /// The file with the rules that say which functions tell, where not all of them do.
    functions: Option<Utf8PathBuf>,
}

impl Covered {
    /// Writes what is needed into the folder for what is built.
    pub(super) fn prepare(counted: &Counted, dir: &Utf8Path) -> Result<Self> {
        let script = dir.join("flags.ld");
        std::fs::write(&script, SCRIPT)
            .map_err(|e| Error::setup(format!("failed to write `{script}`: {e}")))?;
        let functions = match counted {
            // The compiler divides what LLVM is given at spaces.
            Counted::Some(functions) if !dir.as_str().contains(char::is_whitespace) => {
                Some(functions.write(dir)?)
            }
            _ => None,
        };
        Ok(Covered { script, functions })
    }

    /// What rustc, or rustdoc, is given for a crate, besides `arguments`; the script only where the linker is known to take it.
    pub(super) fn arguments<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Vec<String> {
        let passes = match &self.functions {
            Some(rules) => vec![
                SOME.to_owned(),
                format!("-Cllvm-args=-rewrite-map-file={rules}"),
            ],
            None => vec![ALL.to_owned()],
        };
        let flags = FLAGS.map(str::to_owned).into_iter().chain(passes);
        // Checks are on or off as they would be in the optimised crate.
        let is_optimised = codegen(arguments, "opt-level").is_some_and(|level| level != "0")
            || arguments.iter().any(|argument| argument.as_ref() == "-O");
        let is_said = codegen(arguments, "debug-assertions").is_some();
        let checks = (is_optimised && !is_said).then(|| "-Cdebug-assertions=off".to_owned());
        let flags = flags.chain(checks);
        let script = takes_scripts(arguments).then(|| format!("-Clink-arg=-Wl,-T,{}", self.script));
        flags.chain(script).collect()
    }
}

/// These arguments without those that let debug information have other paths than the sources.
pub(super) fn with_own_paths(arguments: Vec<&OsString>) -> Vec<&OsString> {
    const REMAP: &str = "--remap-path-prefix";
    let mut kept: Vec<&OsString> = Vec::with_capacity(arguments.len());
    for argument in arguments {
        if kept.last().is_some_and(|flag| *flag == REMAP) {
            kept.pop();
        } else if !argument
            .to_string_lossy()
            .starts_with("--remap-path-prefix=")
        {
            kept.push(argument);
        }
    }
    kept
}

/// The value of the last of these arguments that is this option of `-C`.
fn codegen<S: AsRef<OsStr>>(arguments: &[S], name: &str) -> Option<String> {
    let arguments = arguments.iter().rev();
    let mut options = arguments.filter_map(|argument| {
        let argument = argument.as_ref().to_str()?;
        let option = argument
            .strip_prefix("-C")
            .or_else(|| argument.strip_prefix("--codegen="))
            .unwrap_or(argument);
        let (option, value) = option
            .trim_start()
            .split_once('=')
            .unwrap_or((option.trim_start(), ""));
        (option.replace('_', "-") == name).then(|| value.to_owned())
    });
    options.next()
}

/// Whether these arguments leave linking to a linker that takes scripts: LLVM's, as the compiler does by itself, or GNU's.
fn takes_scripts<S: AsRef<OsStr>>(arguments: &[S]) -> bool {
    let mut arguments = arguments
        .iter()
        .map(|argument| argument.as_ref().to_string_lossy());
    arguments.all(|argument| {
        let after = |name: &str| argument.split_once(name).map(|(_, value)| value.to_owned());
        let is_driver = |program: &str| {
            let name = Utf8Path::new(program).file_name().unwrap_or_default();
            let is_cross = name.ends_with("-gcc") || name.ends_with("-cc");
            is_cross || ["cc", "gcc", "clang"].contains(&name)
        };
        let by_name = after("-fuse-ld=").is_none_or(|name| ["lld", "bfd"].contains(&&*name));
        let linker = after("linker=").filter(|_| !argument.contains("linker-plugin"));
        by_name
            && !argument.contains("-ld-path=")
            && !argument.contains("linker-flavor")
            && linker.is_none_or(|linker| is_driver(&linker))
    })
}

/// Why the compiler cannot make a program that tells which of its code runs; nothing when it can.
pub(super) fn obstacle(toolchain: &Toolchain) -> Option<String> {
    let source = "pub fn probe(a: u8) -> u8 { if a > 1 { a } else { 2 } }";
    let flags: Vec<&str> = FLAGS.into_iter().chain([ALL]).collect();
    missing(toolchain, &flags, source, TABLE)
}

/// Why what the compiler makes of this library with these flags does not have a name, if it does not.
pub(super) fn missing(
    toolchain: &Toolchain,
    flags: &[&str],
    library: &str,
    name: &str,
) -> Option<String> {
    let mut rustc = Command::new(&toolchain.rustc);
    rustc.args([
        "-",
        "--crate-type=lib",
        "--crate-name=probe",
        "--emit=obj=-",
    ]);
    rustc.args(flags).stdin(Stdio::piped());
    let done = rustc
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .and_then(|mut rustc| {
            if let Some(mut source) = rustc.stdin.take() {
                // One that ends early says why.
                let _ = source.write_all(library.as_bytes());
            }
            rustc.wait_with_output()
        });
    let done = match done {
        Ok(done) => done,
        Err(error) => {
            return Some(format!(
                "failed to run `{}`: {error}",
                toolchain.rustc.display()
            ));
        }
    };
    let said = String::from_utf8_lossy(&done.stderr);
    let has_name = || {
        done.stdout
            .windows(name.len())
            .any(|bytes| bytes == name.as_bytes())
    };
    match (done.status.success(), has_name()) {
        (true, true) => None,
        (true, false) => Some("it has no `SanitizerCoverage`".to_owned()),
        (false, _) => Some(said.lines().next().unwrap_or_default().to_owned()),
    }
}

/// Where the addresses of blocks are.
const TABLE: &str = "__sancov_pcs";

/// A line: the file, absolute and without links, and the number, from 1.
pub type SourceLine = (Utf8PathBuf, u32);

/// Ranges of lines, by file: from the first to the last.
#[derive(Clone, Debug, Default)]
pub struct Ranges(BTreeMap<Utf8PathBuf, Vec<(u32, u32)>>);

impl Ranges {
    /// Adds the lines of a file from the first to the last.
    pub fn add(&mut self, file: &Utf8Path, first: u32, last: u32) {
        let ranges = self.0.entry(file.to_owned()).or_default();
        ranges.push((first, last));
    }

    fn contains(&self, file: &Utf8Path, line: u32) -> bool {
        let ranges = self.0.get(file);
        ranges.is_some_and(|ranges| {
            ranges
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&line))
        })
    }
}

/// The lines of each basic block of an executable.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    lines: BTreeMap<u64, Vec<SourceLine>>,
    /// Whether something that was asked for is in no block.
    is_missing: bool,
}

impl Blocks {
    /// Those of an executable, in which not all functions need to have blocks: but those that have `asked` lines. Nothing is known of an executable that
    /// is not instrumented.
    ///
    /// # Errors
    /// When it cannot be read, or has no lines.
    pub fn of(executable: &Utf8Path, asked: &Ranges) -> Result<Self> {
        let failed = |e: &dyn std::fmt::Display| {
            Error::setup(format!("failed to read the lines of `{executable}`: {e}"))
        };
        let bytes = std::fs::read(executable).map_err(|e| failed(&e))?;
        let file = object::File::parse(&*bytes).map_err(|e| failed(&e))?;
        let starts = starts(&file);
        let functions = functions(&file);
        let ends = ends(&functions, &starts);
        let mut lines: BTreeMap<u64, BTreeSet<SourceLine>> = BTreeMap::new();
        let sections = file
            .sections()
            .filter(|section| section.kind() == SectionKind::Text);
        let code: Vec<Range<u64>> = sections
            .map(|section| section.address()..section.address() + section.size())
            .collect();
        let mut instances = Instances::default();
        let mut is_missing = false;
        let mut add = |addresses: Range<u64>, file: &Utf8Path, line: u32| {
            let around = starts.range(..=addresses.start).next_back();
            let inside = starts.range(addresses.start..addresses.end);
            let mut is_in_block = false;
            for block in around.into_iter().chain(inside) {
                if addresses.start < ends.get(block).copied().unwrap_or(0) {
                    is_in_block = true;
                    let lines = lines.entry(*block).or_default();
                    lines.insert((file.to_owned(), line));
                }
            }
            // What the linker left out has addresses of nothing.
            if addresses.is_empty() || !code.iter().any(|code| code.contains(&addresses.start)) {
                return;
            }
            let is_asked = asked.contains(file, line);
            is_missing |= is_asked && !is_in_block;
            let function = functions.range(..=addresses.start).next_back();
            if let Some((function, _)) = function.filter(|(function, _)| starts.contains(function))
            {
                if *function == addresses.start {
                    let head = instances.heads.entry(*function);
                    head.or_insert_with(|| (file.to_owned(), line));
                }
                if is_asked {
                    let lines = instances.lines.entry(*function).or_default();
                    lines.insert((file.to_owned(), line));
                }
            }
        };
        rows(&file, &mut add).map_err(|e| failed(&e))?;
        // What the compiler adds to begin with has none of its own.
        let mut symbols = file.symbols();
        let main = symbols.find(|symbol| symbol.name() == Ok("main"));
        let main = main.map_or(0..0, |main| main.address()..main.address() + main.size());
        if lines.is_empty() && !starts.iter().all(|start| main.contains(start)) {
            return Err(failed(&"it has none"));
        }
        for (function, folded) in instances.folded() {
            let lines = lines.entry(function).or_default();
            lines.extend(folded);
        }
        Ok(Blocks {
            lines: lines
                .into_iter()
                .map(|(block, lines)| (block, lines.into_iter().collect()))
                .collect(),
            is_missing,
        })
    }

    /// Whether what was asked for is all in blocks.
    #[must_use]
    pub const fn are_all(&self) -> bool {
        !self.is_missing
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

/// The functions that tell. One that is compiled for several types has an instance for each. What is inlined and folded away in one of them may not be so
/// in another.
#[derive(Debug, Default)]
struct Instances {
    /// The line that each begins with, which tells a function from others, by its address.
    heads: BTreeMap<u64, SourceLine>,
    /// The lines of it that are asked for.
    lines: BTreeMap<u64, BTreeSet<SourceLine>>,
}

impl Instances {
    /// The lines that an instance does not have, and another one has: what runs the one may have run them.
    fn folded(&self) -> Vec<(u64, Vec<SourceLine>)> {
        let mut all: BTreeMap<&SourceLine, BTreeSet<&SourceLine>> = BTreeMap::new();
        for (function, lines) in &self.lines {
            if let Some(head) = self.heads.get(function) {
                all.entry(head).or_default().extend(lines);
            }
        }
        let none = BTreeSet::new();
        let folded = self.heads.iter().filter_map(|(function, head)| {
            let own = self.lines.get(function).unwrap_or(&none);
            let others = all.get(head)?.iter().filter(|line| !own.contains(**line));
            let others: Vec<SourceLine> = others.map(|line| (*line).clone()).collect();
            (!others.is_empty()).then_some((*function, others))
        });
        folded.collect()
    }
}

/// Where functions end, by where they begin.
fn functions(file: &object::File<'_>) -> BTreeMap<u64, u64> {
    let functions = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text);
    functions
        .map(|symbol| (symbol.address(), symbol.address() + symbol.size()))
        .collect()
}

/// Where blocks end, by where they begin: at the next one, or with their function.
fn ends(functions: &BTreeMap<u64, u64>, starts: &BTreeSet<u64>) -> BTreeMap<u64, u64> {
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
        let Some(program) = unit.line_program.clone() else {
            continue;
        };
        let mut files: BTreeMap<u64, Utf8PathBuf> = BTreeMap::new();
        let mut rows = program.rows();
        // Where the row before begins, its file and its line.
        let mut before: Option<(u64, u64, u32)> = None;
        while let Some((header, row)) = rows.next_row()? {
            if let Some((start, file, line)) = before.take() {
                add(start..row.address(), &files[&file], line);
            }
            let (Some(line), false) = (row.line(), row.end_sequence()) else {
                continue;
            };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn covered() -> Covered {
        Covered {
            script: "s.ld".into(),
            functions: None,
        }
    }

    #[test]
    fn the_script_is_given_to_linkers_that_are_known_to_take_it() {
        for (arguments, expected) in [
            ("--test -Copt-level=1", true),
            ("-C linker=gcc -Clink-arg=-fuse-ld=lld", true),
            ("-Clinker=/usr/bin/x86_64-linux-gnu-gcc", true),
            ("-Clinker-plugin-lto=no", true),
            ("-C link-arg=-fuse-ld=mold", false),
            ("-Clink-args=-fuse-ld=gold", false),
            ("-Clinker=/opt/wild", false),
            ("-C linker=./link.sh", false),
            ("-Clink-arg=--ld-path=/opt/mold", false),
        ] {
            let words: Vec<&str> = arguments.split(' ').collect();
            assert_eq!(takes_scripts(&words), expected, "{arguments}");
            let all = covered().arguments(&words);
            let script = all.iter().filter(|argument| argument.contains("-T,s.ld"));
            assert_eq!(script.count(), usize::from(expected), "{arguments}");
        }
    }

    #[test]
    fn nothing_is_optimised_and_checks_are_what_they_would_be() {
        for (arguments, is_off) in [
            ("--test", false),
            ("-C opt-level=0", false),
            ("-C opt-level=3", true),
            ("-Copt_level=s --test", true),
            ("-O", true),
            ("-C opt-level=3 -C opt-level=0", false),
            ("--codegen=opt-level=3 -C debug-assertions=on", false),
            ("-C debug-assertions -C opt-level=1", false),
        ] {
            let words: Vec<&str> = arguments.split(' ').collect();
            let all = covered().arguments(&words);
            let off = "-Cdebug-assertions=off".to_owned();
            assert_eq!(all.contains(&off), is_off, "{arguments}");
        }
        let remapped = "-g --remap-path-prefix a=b --test --remap-path-prefix=c=d -O";
        let words: Vec<OsString> = remapped.split(' ').map(OsString::from).collect();
        let kept = with_own_paths(words.iter().collect());
        assert_eq!(kept, ["-g", "--test", "-O"]);
    }

    #[test]
    fn what_one_instance_of_a_function_has_and_another_has_not_may_be_run_by_either() {
        let line = |number: u32| (Utf8PathBuf::from("a.rs"), number);
        let instances = Instances {
            heads: BTreeMap::from([(1, line(7)), (2, line(7)), (3, line(9)), (4, line(7))]),
            lines: BTreeMap::from([
                (1, BTreeSet::from([line(7), line(8)])),
                (2, BTreeSet::from([line(7)])),
                (3, BTreeSet::from([line(9)])),
            ]),
        };
        let expected = [(2, vec![line(8)]), (4, vec![line(7), line(8)])];
        assert_eq!(instances.folded(), expected);
    }

    #[test]
    fn a_compiler_that_cannot_be_run_is_an_obstacle() {
        let toolchain = Toolchain {
            rustc: "/nowhere/rustc".into(),
            ..Toolchain::in_dir(Utf8Path::new(".")).unwrap()
        };
        let why = obstacle(&toolchain).unwrap();
        assert!(why.starts_with("failed to run `/nowhere/rustc`: "), "{why}");
    }
}
