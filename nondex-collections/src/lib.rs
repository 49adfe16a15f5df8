//! A mirror of std whose unspecified orders and values are drawn from a seed.
//!
//! Paths equal std's: replacing `std::` by `nondex_collections::` compiles. Without the feature
//! `nondex` everything here *is* std, type for type. With it, the collections, directories,
//! environment and threads are shims, and a run decides what std's documentation does not specify.
//! `cargo nondex` requests the run; in a plain `cargo test`, `NONDEX_SEED` and `NONDEX_LEVEL` do.
//! Without either, the shims behave as std does. The network is observed at libc's functions, on
//! Linux with glibc.
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
//! In the runtime of `cargo nondex` this very crate is compiled under the name `std`. So type names
//! and messages read as std's, and stands in for it (`--extern std=…`). Inside, the real std is
//! always written `::std`.

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
