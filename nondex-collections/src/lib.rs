//! A mirror of std that draws unspecified orders and values from a seed.
//!
//! Paths equal std's: code still compiles with `nondex_collections::` in place of `std::`. Without
//! the feature `nondex` everything here *is* std, type for type. With it, the collections,
//! directories, environment and threads are shims. A run then decides what std's documentation
//! leaves open. `cargo nondex` requests the run; in a plain `cargo test`, `NONDEX_SEED` and
//! `NONDEX_LEVEL` do. Without either, the shims behave as std does. The network is observed at the
//! functions of libc, on Linux with glibc.
//!
//! ```
//! use nondex_collections::collections::HashMap;
//!
//! let ages = HashMap::from([("Ada", 36), ("Grace", 85)]);
//! let mut names: Vec<_> = ages.keys().collect();
//! names.sort(); // without this line, the assertion holds in one order of two
//! assert_eq!(names, [&"Ada", &"Grace"]);
//! ```
//!
//! The runtime of `cargo nondex` compiles this very crate under the name `std`, so that type names
//! and messages read as std's. The crate takes std's place (`--extern std=…`). Inside, the real std
//! is always written `::std`.

#[doc(no_inline)]
pub use ::std::*;

#[cfg(feature = "nondex")]
#[doc(hidden)]
#[path = "own.rs"]
pub mod __nondex;
#[cfg(feature = "nondex")]
mod caller;
#[cfg(all(feature = "nondex", not(nondex_std_collections)))]
pub mod collections;
#[cfg(feature = "nondex")]
pub mod env;
#[cfg(feature = "nondex")]
pub mod fs;
#[cfg(all(feature = "nondex", not(nondex_std_collections)))]
pub mod hash;
#[cfg(feature = "nondex")]
mod known;
#[cfg(any(feature = "facade", all(feature = "nondex", test)))]
#[doc(hidden)]
pub mod macros;
#[cfg(not(feature = "facade"))]
mod open;
#[cfg(feature = "facade")]
pub mod prelude;
#[cfg(all(feature = "nondex", not(test)))]
mod system;
#[cfg(all(feature = "nondex", test))]
pub mod system;
#[cfg(feature = "nondex")]
pub mod thread;

#[cfg(not(feature = "facade"))]
pub use open::{choose, permute};
