//! The facts that follow from the type of a collection.

use ::std::alloc::Layout;
use ::std::any::type_name;
use ::std::marker::PhantomData;
use ::std::mem::needs_drop;
use ::std::ptr;

use nondex_core::{Family, Model, model};

use crate::hash::RandomState;
use crate::known::Known;

/// Facts about one type of collection, for code that is not generic over it.
#[derive(Debug)]
pub(super) struct About {
    /// Layout of one entry, `(K, V)` as in std's table.
    pub(super) entry: Layout,
    /// Function that drops an entry in place, if entries need dropping.
    pub(super) drop: Option<unsafe fn(*mut u8)>,
    name: fn() -> &'static str,
    is_repeatable: fn() -> bool,
    models: &'static Models,
}

/// Models of the operations that a collection applies to all its entries without exposing them.
#[derive(Debug)]
pub(super) struct Models {
    clear: &'static Model,
    clone: &'static Model,
    drop: &'static Model,
    eq: &'static Model,
}

const MAP: &Models = &Models {
    clear: &model::HASH_MAP_CLEAR,
    clone: &model::HASH_MAP_CLONE,
    drop: &model::HASH_MAP_DROP,
    eq: &model::HASH_MAP_EQ,
};

const SET: &Models = &Models {
    clear: &model::HASH_SET_CLEAR,
    clone: &model::HASH_SET_CLONE,
    drop: &model::HASH_SET_DROP,
    eq: &model::HASH_SET_EQ,
};

/// Provides the facts about a type of collection.
pub(super) struct Of<K, V, S>(PhantomData<(K, V, S)>);

impl<K, V, S> Of<K, V, S> {
    /// Facts about a map.
    pub(super) const MAP: &'static About = &Self::about(MAP);
    /// Facts about a set.
    pub(super) const SET: &'static About = &Self::about(SET);

    const fn about(models: &'static Models) -> About {
        About {
            entry: Layout::new::<(K, V)>(),
            drop: if needs_drop::<(K, V)>() { Some(drop_entry::<K, V>) } else { None },
            name: type_name::<(K, V)>,
            is_repeatable: is_repeatable::<S>,
            models,
        }
    }
}

/// Drops an entry in place.
///
/// # Safety
/// `entry` must point to a valid `(K, V)` that is not used again.
#[expect(
    unsafe_code,
    reason = "a destructor that is generic would break drop check parity with std"
)]
unsafe fn drop_entry<K, V>(entry: *mut u8) {
    // SAFETY: the caller upholds the contract of this function.
    unsafe { ptr::drop_in_place(entry.cast::<(K, V)>()) }
}

/// Returns whether std's own order is repeatable with this hasher, which makes it the canonical
/// order.
///
/// A hasher need not be `'static`, so this compares its name and not its `TypeId`. No other type
/// has this name.
#[inline]
pub(super) fn is_repeatable<S>() -> bool {
    type_name::<S>() != type_name::<RandomState>()
}

impl About {
    /// Returns the size of an element of std's table, in bytes.
    #[inline]
    pub(super) const fn size(&self) -> usize {
        self.entry.size()
    }

    /// Returns whether the order is repeatable; see [`is_repeatable`].
    pub(super) fn is_repeatable(&self) -> bool {
        (self.is_repeatable)()
    }

    /// Returns the family under which choices about the order of this collection are recorded.
    pub(super) fn family(&self, model: &Model) -> Family {
        if self.is_repeatable() { Family::FixedHasher } else { model.family }
    }

    /// Returns the model of an operation in which only the entries' own code can observe the order.
    /// Returns `None` if that code is known not to reveal it.
    pub(super) fn model(&'static self, act: Act) -> Option<&'static Model> {
        static SILENT: Known = Known::new();
        if SILENT.ask(self, || is_silent((self.name)())) {
            return None;
        }
        Some(match act {
            Act::Clear => self.models.clear,
            Act::Clone => self.models.clone,
            Act::Drop => self.models.drop,
            Act::Eq => self.models.eq,
        })
    }
}

/// An operation on all entries.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Clear,
    Clone,
    Drop,
    Eq,
}

/// Types of std whose destructors, clones, comparisons and hashes do not reveal the order in which
/// they are called.
const SILENT: &[&str] = &[
    "alloc::borrow::Cow",
    "alloc::boxed::Box",
    "alloc::collections::btree::map::BTreeMap",
    "alloc::collections::btree::set::BTreeSet",
    "alloc::collections::vec_deque::VecDeque",
    "alloc::rc::Rc",
    "alloc::string::String",
    "alloc::sync::Arc",
    "alloc::vec::Vec",
    "bool",
    "char",
    "core::cmp::Ordering",
    "core::cmp::Reverse",
    "core::marker::PhantomData",
    "core::net::ip_addr::IpAddr",
    "core::net::ip_addr::Ipv4Addr",
    "core::net::ip_addr::Ipv6Addr",
    "core::net::socket_addr::SocketAddr",
    "core::num::nonzero::NonZero",
    "core::num::wrapping::Wrapping",
    "core::option::Option",
    "core::result::Result",
    "core::time::Duration",
    "f32",
    "f64",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "isize",
    "mut",
    "std::ffi::os_str::OsStr",
    "std::ffi::os_str::OsString",
    "std::path::Path",
    "std::path::PathBuf",
    "std::time::Instant",
    "std::time::SystemTime",
    "str",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
];

/// Returns whether a type with this name consists of [`SILENT`] types only, judging by the name.
fn is_silent(name: &str) -> bool {
    name.split(['(', ')', '[', ']', '<', '>', ',', ';', '&', ' '])
        // Lengths of arrays and lifetimes do not matter.
        .filter(|word| {
            !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit() || c == '\'')
        })
        .all(|word| SILENT.binary_search(&word).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Mine;

    #[test]
    fn silent_types_are_in_order_and_named_as_the_compiler_names_them() {
        assert!(SILENT.is_sorted());
        for name in [
            type_name::<(u64, String)>(),
            type_name::<(&str, &'static mut [Option<Box<[u8; 3]>>])>(),
            type_name::<(::std::path::PathBuf, ())>(),
            type_name::<(::std::num::NonZeroU8, Result<char, ::std::time::Duration>)>(),
            type_name::<(::std::borrow::Cow<'_, str>, ::std::net::SocketAddr)>(),
        ] {
            assert!(is_silent(name), "{name}");
        }
        for name in [
            type_name::<(u64, Mine)>(),
            type_name::<Vec<Option<Mine>>>(),
            type_name::<(fn(u8) -> u8, ())>(),
            type_name::<Box<dyn Iterator<Item = u8>>>(),
        ] {
            assert!(!is_silent(name), "{name}");
        }
    }
}
