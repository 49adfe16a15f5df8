//! The caller of a shim.

use ::std::panic::Location;

use nondex_core::context::stack::Stack;
use nondex_core::protocol::site::is_of_std;
use nondex_core::{Caller, context};

use crate::known::Known;
use crate::system;

/// Returns the caller of the `#[track_caller]` function in which this is called.
///
/// A call through a function pointer or a trait object (`{:?}` is one) has no caller:
/// `#[track_caller]` then names the shim itself. Code of std that iterates (`vec.extend(&map)`) is
/// not a call site of the project either. In both cases, the stack identifies the caller, where it
/// can be read.
#[track_caller]
#[inline]
pub(crate) fn caller() -> Caller {
    of(Location::caller())
}

/// Returns the caller as [`caller`] does, for a call that was made from `place`.
pub(crate) fn of(place: &'static Location<'static>) -> Caller {
    static HIDDEN: Known = Known::new();
    let is_hidden = HIDDEN.ask(place, || is_hidden(place.file()));
    if is_hidden && context::level().is_some() {
        if let Some(caller) = system::hidden_caller() {
            return caller;
        }
    }
    Caller::from(place)
}

/// Returns a place as a stack, unless it is in the mirror or in std.
pub(crate) fn visible(place: &'static Location<'static>) -> Option<Stack> {
    (!is_hidden(place.file())).then(|| Stack::at(Caller::from(place)))
}

/// Returns whether a source file belongs to the mirror or to std.
fn is_hidden(file: &str) -> bool {
    const THIS: &str = "caller.rs";
    // Older compilers use this path where generic code of this crate is compiled in another crate.
    const ABSOLUTE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
    // The mirror's own tests are ordinary callers.
    if cfg!(test) && file.ends_with("/tests.rs") {
        return false;
    }
    let ours = file!().len() - THIS.len();
    file.as_bytes().starts_with(&file!().as_bytes()[..ours])
        || file.starts_with(ABSOLUTE)
        || is_of_std(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_and_std_are_nobodys_call_sites() {
        assert!(is_hidden(file!()));
        assert!(is_hidden(concat!(env!("CARGO_MANIFEST_DIR"), "/src/env.rs")));
        assert!(is_hidden("/rustc/59807616e/library/alloc/src/vec/mod.rs"));
        assert!(is_hidden("/usr/src/rustc-1.85.0/library/alloc/src/vec/mod.rs"));
        assert!(!is_hidden("src/caller.rs"));
        assert!(!is_hidden("/home/me/src/lib.rs"));
    }
}
