//! Call sites: the places in the source at which a modelled API is called.

use std::fmt;
use std::panic::Location;

use crate::catalogue::{Family, Model};
use crate::hash;
use crate::json;

/// A place in the source, as the compiler reports it. Cheap to copy; its path is the one that was
/// passed to rustc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caller {
    /// Path that was passed to rustc.
    pub file: &'static str,
    /// Line number, from 1.
    pub line: u32,
    /// Column number, from 1.
    pub column: u32,
}

impl Caller {
    /// Returns the caller of the `#[track_caller]` function in which this is called.
    #[track_caller]
    #[inline]
    pub const fn here() -> Self {
        Caller::at(Location::caller())
    }

    const fn at(location: &'static Location<'static>) -> Self {
        Caller { file: location.file(), line: location.line(), column: location.column() }
    }
}

impl From<&'static Location<'static>> for Caller {
    fn from(location: &'static Location<'static>) -> Self {
        Caller::at(location)
    }
}

/// A call site of a modelled API: the unit that the search for a culprit turns on and off.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Path of the API, as in [`Model::api`](crate::Model::api).
    pub api: String,
    /// Family under which it is recorded.
    pub family: Family,
    /// Source file, the same on every machine: see [`portable_path`].
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// Column number, from 1.
    pub column: u32,
}

json::object!(Site { api, family, file, line, column });

impl Site {
    /// Returns the site of calls of `model` by `caller`.
    pub fn new(model: &Model, family: Family, caller: Caller) -> Self {
        Site {
            api: model.api.to_owned(),
            family,
            file: portable_path(caller.file).to_owned(),
            line: caller.line,
            column: caller.column,
        }
    }

    /// Returns whether this is the site of calls of `model` by `caller`. Does not allocate.
    pub(crate) fn is_of(&self, model: &Model, family: Family, caller: Caller) -> bool {
        (self.line, self.column, self.family) == (caller.line, caller.column, family)
            && self.api == model.api
            && self.file == portable_path(caller.file)
    }

    /// Returns the [fixed hash](hash::of) of [`Site::new`]. Does not allocate.
    pub(crate) fn hash_of(model: &Model, family: Family, caller: Caller) -> u64 {
        let file = portable_path(caller.file);
        hash::of(&(model.api, family, file, caller.line, caller.column))
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}:{}", self.api, self.file, self.line, self.column)
    }
}

/// One frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Frame {
    /// Path of the function.
    pub function: String,
    /// Source file, as in [`Site::file`].
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
}

json::object!(Frame { function, file, line });

/// Returns a source path without the part that differs between machines. Paths in the workspace are
/// relative already. Those of published dependencies become `name-version/…`, of git dependencies
/// `name-hash/revision/…`, and of std `library/…`.
pub fn portable_path(file: &str) -> &str {
    fn after<'a>(file: &'a str, marker: &str, skip: usize) -> Option<&'a str> {
        let mut rest = &file[file.find(marker)? + marker.len()..];
        for _ in 0..skip {
            rest = &rest[rest.find(['/', '\\'])? + 1..];
        }
        Some(rest)
    }
    after(file, "/registry/src/", 1)
        .or_else(|| after(file, "\\registry\\src\\", 1))
        .or_else(|| after(file, "/git/checkouts/", 0))
        .or_else(|| path_in_std(file))
        .unwrap_or(file)
}

/// Returns whether a source file is std's, judging by the path that the build of the toolchain
/// recorded.
pub fn is_of_std(file: &str) -> bool {
    path_in_std(file).is_some()
}

/// Returns the path of one of std's source files from the root of Rust's repository: `library/…`.
///
/// Rust's own builds map that root to `/rustc/` and the commit; the component `rust-src` is below
/// `rustlib`. Builds of distributions have the path of an unpacked release, such as Debian's
/// `/usr/src/rustc-1.85.0/library/…`.
fn path_in_std(file: &str) -> Option<&str> {
    let in_release = || {
        file.match_indices("/rustc-").find_map(|(start, marker)| {
            let (_version, rest) = file[start + marker.len()..].split_once('/')?;
            rest.starts_with("library/").then_some(rest)
        })
    };
    if let Some(rest) = file.strip_prefix("/rustc/") {
        return Some(&rest[rest.find('/')? + 1..]);
    }
    file.split_once("/rustlib/src/rust/").map(|(_, rest)| rest).or_else(in_release)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::model::{HASH_MAP_ITER, HASH_MAP_KEYS};

    #[test]
    fn a_site_is_known_without_being_made() {
        let of = |line, file| Caller { file, line, column: 3 };
        let calls = [
            (&HASH_MAP_ITER, Family::HashMap, of(7, "src/lib.rs")),
            (&HASH_MAP_KEYS, Family::HashMap, of(7, "src/lib.rs")),
            (&HASH_MAP_ITER, Family::FixedHasher, of(7, "src/lib.rs")),
            (&HASH_MAP_ITER, Family::HashMap, of(8, "src/lib.rs")),
            (&HASH_MAP_ITER, Family::HashMap, of(7, "/rustc/1/src/lib.rs")),
        ];
        for (one, (model, family, caller)) in calls.into_iter().enumerate() {
            let site = Site::new(model, family, caller);
            assert_eq!(Site::hash_of(model, family, caller), hash::of(&site));
            for (other, (model, family, caller)) in calls.into_iter().enumerate() {
                let is_same = one == other || one % 4 == 0 && other % 4 == 0;
                assert_eq!(site.is_of(model, family, caller), is_same, "{one} {other}");
            }
        }
    }

    #[test]
    fn a_path_loses_what_differs_between_machines_and_nothing_else() {
        for (found, expected) in [
            ("src/lib.rs", "src/lib.rs"),
            ("/home/me/other/src/lib.rs", "/home/me/other/src/lib.rs"),
            (
                "/home/me/.cargo/registry/src/index-1949/serde-1.0.0/src/ser.rs",
                "serde-1.0.0/src/ser.rs",
            ),
            ("/home/me/.cargo/git/checkouts/egg-77/ab12/src/lib.rs", "egg-77/ab12/src/lib.rs"),
            ("/rustc/59807616e/library/alloc/src/vec/mod.rs", "library/alloc/src/vec/mod.rs"),
            ("/usr/src/rustc-1.85.0/library/alloc/src/vec/mod.rs", "library/alloc/src/vec/mod.rs"),
            ("/home/me/rustc-1.85.0/src/lib.rs", "/home/me/rustc-1.85.0/src/lib.rs"),
        ] {
            assert_eq!(portable_path(found), expected);
        }
    }

    #[test]
    fn std_is_known_by_its_path_whoever_built_it() {
        for root in [
            "/rustc/59807616e1fa2540724bfbac14d7976d7e4a3860",
            "/root/.rustup/toolchains/stable/lib/rustlib/src/rust",
            "/usr/src/rustc-1.85.0",
            "/build/rustc-1.85.0-src",
            "/home/buildozer/rustc-driver/src/rustc-1.85.0-src",
        ] {
            assert!(is_of_std(&format!("{root}/library/std/src/fs.rs")), "{root}");
        }
        for file in [
            "library/src/lib.rs",
            "/home/me/library/std/src/fs.rs",
            "/home/me/rustc-wrapper/src/lib.rs",
            "/home/me/rustc-1.85.0",
        ] {
            assert!(!is_of_std(file), "{file}");
        }
    }
}
