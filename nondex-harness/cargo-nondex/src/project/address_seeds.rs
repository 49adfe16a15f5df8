//! Statics in which a hasher keeps a seed that it derives from addresses.
//!
//! The default hasher of `hashbrown` has such a seed, so plain runs iterate over its maps in
//! different orders. No system call shows that a test uses the hasher, but a write to the static
//! does.

use std::fs::File;

use camino::Utf8Path;
use nondex_core::{StateId, StateKind};
use object::elf::{STT_OBJECT, Sym64};
use object::read::elf::{ElfFile64, Sym};
use object::{Endianness, Object, ObjectSection, ReadCache, StringTable};

/// Crates with such hashers, each with the static that is written when the first hasher is created.
const HASHERS: [(&str, &str); 1] = [("foldhash", "GLOBAL_SEED_STORAGE")];

/// Returns these statics of an executable. Returns none if it cannot be read or has no symbols.
/// Reads only the symbols and their names.
pub fn of(executable: &Utf8Path) -> Vec<StateId> {
    let Ok(file) = File::open(executable) else { return Vec::new() };
    read(&ReadCache::new(file)).unwrap_or_default()
}

fn read(file: &ReadCache<File>) -> object::Result<Vec<StateId>> {
    let file = ElfFile64::<Endianness, _>::parse(file)?;
    let (endian, symbols) = (file.endian(), file.elf_symbol_table());
    // One read for all names: an executable has tens of thousands of symbols.
    let names = file.section_by_index(symbols.string_section())?.data()?;
    let names = StringTable::new(names, 0, names.len() as u64);
    let is_seed = |name: &str| {
        HASHERS.iter().any(|(krate, seed)| name.contains(krate) && name.contains(seed))
    };
    let state = |symbol: &Sym64<Endianness>| {
        let name = std::str::from_utf8(symbol.name(endian, names).ok()?).ok()?;
        let start = usize::try_from(symbol.st_value(endian)).ok().filter(|_| is_seed(name))?;
        let length = usize::try_from(symbol.st_size(endian)).ok()?;
        Some(StateId { kind: StateKind::Static, name: StateId::name_of_bytes(start, length) })
    };
    let is_static = |symbol: &&Sym64<Endianness>| symbol.st_type() == STT_OBJECT;
    Ok(symbols.iter().filter(is_static).filter_map(state).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Module with the same static as the crate of this name.
    mod foldhash {
        use std::sync::atomic::AtomicU64;

        pub(super) static GLOBAL_SEED_STORAGE: AtomicU64 = AtomicU64::new(0);
        pub(super) static OTHER_STORAGE: AtomicU64 = AtomicU64::new(0);
    }

    #[test]
    fn the_static_of_a_hasher_is_found_by_its_name_in_an_executable_with_symbols() {
        let used = [&foldhash::GLOBAL_SEED_STORAGE, &foldhash::OTHER_STORAGE];
        for one in used {
            one.store(1, std::sync::atomic::Ordering::Relaxed);
        }
        let executable = std::env::current_exe().unwrap();
        let found = of(Utf8Path::from_path(&executable).unwrap());
        let lengths: Vec<_> = found.iter().map(|state| state.bytes().unwrap().1).collect();
        assert_eq!(lengths, [8]);
        assert_eq!(of(Utf8Path::new("/dev/null")), []);
    }
}
