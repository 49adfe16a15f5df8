//! Who called a shim.

use ::std::panic::Location;

use nondex_core::context::stack::Stack;
use nondex_core::protocol::site::is_of_std;
use nondex_core::{Caller, context};

use crate::known::Known;
use crate::system;

/// The caller of the function this is called in, when that is `#[track_caller]`.
///
/// A call through a function pointer or a trait object (`{:?}` is one) has no caller:
/// `#[track_caller]` then names the shim itself. And code of std that iterates (`vec.extend(&map)`)
/// is nobody's call site. Their stacks distinguish both instead, where those can be read.
#[track_caller]
#[inline]
pub(crate) fn caller() -> Caller {
    of(Location::caller())
}

/// As [`caller`], for a call that was made from `place`.
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

/// A place as a stack, unless it is the mirror's or std's.
pub(crate) fn visible(place: &'static Location<'static>) -> Option<Stack> {
    (!is_hidden(place.file())).then(|| Stack::at(Caller::from(place)))
}

/// Whether a source file is the mirror's or std's.
fn is_hidden(file: &str) -> bool {
    const THIS: &str = "caller.rs";
    // How older compilers name it where generic code of this crate is compiled in another one.
    const ABSOLUTE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/");
    // The mirror's own tests are callers like any other.
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
