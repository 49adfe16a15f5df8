//! Statics of an executable: their names, and where they are defined.

use std::collections::BTreeMap;
use std::ops::Range;

use camino::Utf8Path;
use gimli::{AttributeValue, Dwarf, Operation, Unit};
use nondex_core::protocol::site::is_of_std;
use nondex_core::{StateId, StateKind};
use object::{Object, ObjectSymbol, SymbolKind};

use super::dwarf::{self, DebugInfo, Reader};
use super::locks;
use super::suite::Moved;
use crate::error::{OrSetup, Result};

/// Static of an executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Static {
    /// Addresses of its bytes, as in the names of [states](StateId).
    pub bytes: Range<usize>,
    /// Path of the static, without the parts that macros add.
    pub name: String,
    /// Crate of the static. Empty if it is not from Rust code.
    pub krate: String,
    /// File of the definition, as the compiler recorded it.
    pub file: Option<String>,
    /// Line of the definition, from 1.
    pub line: Option<u32>,
    /// Offsets in bytes of the poison flags of the locks in it.
    pub poison_flags: Vec<usize>,
}

impl Static {
    /// Returns the static as a part of the state that tests share. It has the same name in every
    /// run of the executable.
    pub fn state(&self) -> StateId {
        StateId {
            kind: StateKind::Static,
            name: StateId::name_of_bytes(self.bytes.start, self.bytes.len()),
        }
    }

    /// Returns the file and line of the definition. For statics that one macro call defines, the
    /// compiler records only where the call begins. In this case, the line comes from the source,
    /// if it can be read.
    pub fn place(&self) -> Option<(String, u32)> {
        let (file, line) = (self.file.clone()?, self.line?);
        let name = self.name.rsplit("::").next().unwrap_or_default();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let skipped = usize::try_from(line).ok()?.checked_sub(1)?;
        let defines = |text: &&str| {
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.any(|word| word == "static") && words.any(|word| word == name)
        };
        let mut lines = text.lines().skip(skipped).take(MAX_MACRO);
        let further = lines.position(|text| defines(&text)).unwrap_or(0);
        Some((file, line + u32::try_from(further).ok()?))
    }

    /// Returns whether the static only concerns how tests run. Such statics are those of this tool,
    /// std's state of threads, panics and output, and the processor features that `memchr` caches.
    /// The panic hook is not one of them.
    pub fn is_noise(&self) -> bool {
        let of_std = ["std", "core", "alloc", "std_detect", "memchr"];
        let is_std = of_std.contains(&self.krate.as_str());
        self.krate.starts_with("nondex_")
            // A package of the user may be called like the toolchain's crate.
            || self.krate == "test" && self.file.as_deref().is_none_or(is_of_std)
            || self.krate == "_rust_extern_with_linkage"
            || is_std && self.name != PANIC_HOOK
    }
}

/// Maximum number of lines of a macro call that defines statics.
const MAX_MACRO: usize = 200;

/// Path of std's static with the panic hook.
const PANIC_HOOK: &str = "std::panicking::HOOK";

/// Suffixes that `thread_local!` and std add to the path of a static.
const SUFFIXES: [&str; 3] = ["::VAL", "::__KEY", "::__RUST_STD_INTERNAL_VAL"];

/// Statics of an executable, by their addresses.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    statics: BTreeMap<usize, Static>,
}

impl Symbols {
    /// Reads the statics of `executable`. Without debug information, they have no file and line. A
    /// stripped executable has none.
    ///
    /// # Errors
    /// Returns an error if the executable cannot be read or parsed.
    pub fn of(executable: &Utf8Path) -> Result<Self> {
        let failed = format!("failed to read the symbols of `{executable}`");
        let bytes = std::fs::read(executable).or_setup(&failed)?;
        let file = object::File::parse(&*bytes).or_setup(&failed)?;
        let mut symbols = Symbols::default();
        for symbol in file.symbols() {
            if symbol.kind() != SymbolKind::Data {
                continue;
            }
            let (Ok(name), Ok(start), Ok(length)) =
                (symbol.name(), usize::try_from(symbol.address()), usize::try_from(symbol.size()))
            else {
                continue;
            };
            if length > 0 {
                let (name, krate) = path(name);
                symbols.statics.entry(start).or_insert(Static {
                    bytes: start..start + length,
                    name,
                    krate,
                    file: None,
                    line: None,
                    poison_flags: Vec::new(),
                });
            }
        }
        // Statics are also useful without their locations, so an error is ignored.
        let _ = symbols.add_places(&file);
        Ok(symbols)
    }

    /// Returns the statics with the current paths of their files, if the sources have `moved` since
    /// the build.
    #[must_use]
    pub fn in_sources(mut self, moved: Option<&Moved>) -> Self {
        for known in self.statics.values_mut() {
            if let (Some(moved), Some(file)) = (moved, &mut known.file) {
                *file = moved.now(file);
            }
        }
        self
    }

    /// Returns the statics that contain any of these bytes, sorted by address. Returns none for
    /// another kind of state.
    pub fn at(&self, state: &StateId) -> Vec<&Static> {
        let bytes = state.bytes().filter(|_| state.kind == StateKind::Static);
        let Some((start, length)) = bytes else { return Vec::new() };
        let end = start.saturating_add(length);
        let mut found: Vec<&Static> = self
            .statics
            .range(..end)
            .rev()
            .map(|(_, found)| found)
            // Statics that the linker merged overlap. So the search goes back past a static that
            // ends before the bytes, in case an earlier one contains it, up to `MAX_LENGTH`.
            .take_while(|found| found.bytes.end > start || found.bytes.start + MAX_LENGTH > start)
            .filter(|found| found.bytes.end > start)
            .collect();
        found.reverse();
        found
    }

    /// Returns the static with this path.
    pub fn named(&self, name: &str) -> Option<&Static> {
        self.statics.values().find(|found| found.name == name)
    }

    /// Reads from the debug information where the statics are defined.
    fn add_places(&mut self, file: &object::File<'_>) -> gimli::Result<()> {
        let debug_info = DebugInfo::of(file)?;
        let dwarf = debug_info.read();
        let mut units = dwarf.units();
        while let Some(header) = units.next()? {
            let unit = dwarf.unit(header)?;
            // An error in one unit does not affect the others.
            let _ = self.add_places_of(&dwarf, &unit);
        }
        Ok(())
    }

    fn add_places_of<'a>(
        &mut self,
        dwarf: &Dwarf<Reader<'a>>,
        unit: &Unit<Reader<'a>>,
    ) -> gimli::Result<()> {
        let mut entries = unit.entries();
        while let Some(entry) = entries.next_dfs()? {
            if entry.tag() != gimli::DW_TAG_variable {
                continue;
            }
            let Some(AttributeValue::Exprloc(place)) = entry.attr_value(gimli::DW_AT_location)
            else {
                continue;
            };
            let mut operations = place.operations(unit.encoding());
            let address = match (operations.next()?, operations.next()?) {
                (Some(Operation::Address { address }), None) => address,
                (Some(Operation::AddressIndex { index }), None) => dwarf.address(unit, index)?,
                _ => continue,
            };
            let known =
                usize::try_from(address).ok().and_then(|address| self.statics.get_mut(&address));
            let Some(known) = known else { continue };
            if let Some(line) =
                entry.attr_value(gimli::DW_AT_decl_line).and_then(|line| line.udata_value())
            {
                known.line = u32::try_from(line).ok();
                known.file = file_of(dwarf, unit, entry.attr_value(gimli::DW_AT_decl_file));
            }
            if let Some(AttributeValue::UnitRef(place)) = entry.attr_value(gimli::DW_AT_type) {
                known.poison_flags = locks::poison_flags(dwarf, unit, place);
            }
        }
        Ok(())
    }
}

/// Maximum length in bytes of a static that contains other statics.
const MAX_LENGTH: usize = 1 << 20;

/// Returns the path of a file that an entry names.
fn file_of<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    unit: &Unit<Reader<'a>>,
    file: Option<AttributeValue<Reader<'a>>>,
) -> Option<String> {
    let Some(AttributeValue::FileIndex(index)) = file else { return None };
    let header = unit.line_program.as_ref()?.header();
    Some(dwarf::path(dwarf, unit, header, header.file(index)?)?.into_string())
}

/// Returns the path of a static and its crate, from a symbol of the linker.
fn path(symbol: &str) -> (String, String) {
    let Ok(demangled) = rustc_demangle::try_demangle(symbol) else {
        return (symbol.to_owned(), String::new());
    };
    let name = format!("{demangled:#}");
    let mut path = name.as_str();
    // `lazy_static!`: `<krate::NAME as core::ops::deref::Deref>::deref::__stability::LAZY`
    if let Some(inner) = path.strip_suffix("::deref::__stability::LAZY")
        && let Some((own, _)) = inner.trim_start_matches('<').split_once(" as ")
    {
        path = own;
    }
    while let Some(shorter) = without_last(path) {
        path = shorter;
    }
    // A static within a method has a path such as `<krate::Type>::method::NAME`.
    let krate = path.trim_start_matches(['<', '&', '*']).split("::").next().unwrap_or_default();
    (path.to_owned(), krate.to_owned())
}

/// Returns a path without its last part if the user did not write that part. Such a part is one of
/// [`SUFFIXES`], or represents a closure or constant: `{{closure}}` in the legacy mangling,
/// `{closure#1}` or `{K#0}` in v0.
fn without_last(path: &str) -> Option<&str> {
    if let Some(shorter) = SUFFIXES.iter().find_map(|after| path.strip_suffix(after)) {
        return Some(shorter);
    }
    let (shorter, last) = path.rsplit_once("::")?;
    (last.starts_with('{') && last.ends_with('}')).then_some(shorter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_may_be_called_like_the_toolchains_crate_of_tests() {
        for (krate, file, is_noise) in [
            ("test", Some("/home/me/test/src/lib.rs"), false),
            ("test", Some("/rustc/2fd6057/library/test/src/helpers/mod.rs"), true),
            ("test", Some("/opt/lib/rustlib/src/rust/library/test/src/lib.rs"), true),
            ("test", Some("/usr/src/rustc-1.85.0/library/test/src/lib.rs"), true),
            ("test", None, true),
            ("std", Some("/home/me/src/lib.rs"), true),
            ("krate", None, false),
        ] {
            let found = Static {
                bytes: 0..8,
                name: format!("{krate}::NAME"),
                krate: krate.to_owned(),
                file: file.map(str::to_owned),
                line: None,
                poison_flags: Vec::new(),
            };
            assert_eq!(found.is_noise(), is_noise, "{krate} {file:?}");
        }
    }

    #[test]
    fn a_path_is_without_what_macros_put_around_it() {
        for (symbol, name, krate) in [
            ("_ZN5krate6module4NAME17h0123456789abcdefE", "krate::module::NAME", "krate"),
            (
                concat!(
                    "_ZN5krate5LOCAL28$u7b$$u7b$constant$u7d$$u7d$27$u7b$$u7b$closure",
                    "$u7d$$u7d$3VAL17h0123456789abcdefE",
                ),
                "krate::LOCAL",
                "krate",
            ),
            (
                concat!(
                    "_ZN55_$LT$krate..LAZY$u20$as$u20$core..ops..deref..Deref$GT$5deref11",
                    "__stability4LAZY17h0123456789abcdefE",
                ),
                "krate::LAZY",
                "krate",
            ),
            ("_RNvNtCs1234_5krate6module4NAME", "krate::module::NAME", "krate"),
            (
                "_RNvNvMNtNtCsjrHSEGnQ3l9_3std6thread2idNtB4_8ThreadId3new7COUNTER",
                "<std::thread::id::ThreadId>::new::COUNTER",
                "std",
            ),
            // The second thread-local in one function, and one in a method of a generic type.
            (
                "_RNvNCNKNvCs7H9TJeda22h_5krate5CONST0s_023___RUST_STD_INTERNAL_VAL",
                "krate::CONST",
                "krate",
            ),
            (
                concat!(
                    "_RNvNCNKNvNvMNtCs7H9TJeda22h_5krate1mINtBa_1TpE1f3TIN0s_023",
                    "___RUST_STD_INTERNAL_VAL",
                ),
                "<krate::m::T<_>>::f::TIN",
                "krate",
            ),
            ("completed.0", "completed.0", ""),
        ] {
            assert_eq!(path(symbol), (name.to_owned(), krate.to_owned()));
        }
    }
}
