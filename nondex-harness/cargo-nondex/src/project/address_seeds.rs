//! Statics in which a hasher keeps a seed that it derives from addresses.
//!
//! The default hasher of `hashbrown` has such a seed, so plain runs iterate over its maps in
//! different orders. No system call shows that a test uses the hasher, but a write to the static
//! does.

use std::fs::File;

use camino::Utf8Path;
use nondex_core::{StateId, StateKind};
use object::{Object, ObjectSymbol, ReadCache};

/// Crates with such hashers, each with the static that is written when the first hasher is created.
const HASHERS: [(&str, &str); 1] = [("foldhash", "GLOBAL_SEED_STORAGE")];

/// Returns these statics of an executable. Returns none if it cannot be read or has no symbols.
/// Reads only the symbols.
pub fn of(executable: &Utf8Path) -> Vec<StateId> {
    let Ok(file) = File::open(executable) else { return Vec::new() };
    let cache = ReadCache::new(file);
    let Ok(file) = object::File::parse(&cache) else { return Vec::new() };
    let is_seed = |name: &str| {
        HASHERS.iter().any(|(krate, seed)| name.contains(krate) && name.contains(seed))
    };
    let state = |start: u64, length: u64| {
        let bytes = [usize::try_from(start).ok()?, usize::try_from(length).ok()?];
        Some(StateId { kind: StateKind::Static, name: StateId::name_of_bytes(bytes[0], bytes[1]) })
    };
    file.symbols()
        .filter(|symbol| symbol.name().is_ok_and(is_seed))
        .filter_map(|symbol| state(symbol.address(), symbol.size()))
        .collect()
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
