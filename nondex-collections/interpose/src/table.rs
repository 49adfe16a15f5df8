//! Table of the interposed C functions.
//!
//! A row has the signature from the C header, the value if no library defines the function, and the
//! layers, outermost first. To interpose a function, add a row. The row also defines the original
//! in `originals`, with its type.
//!
//! A layer is a function of the module for its subject. It takes what the row gives it and `next`,
//! which calls the layers below it and then the original. `layer(a, b) => (b)` states that a layer
//! passes another `b` on. A layer that does not call `next` replaces the original.
//!
//! A row calls its layers at any time: before `main`, after the end of the run, in threads outside
//! of the test, and in the tool's own code. There a layer only calls `next`. The layer asks the
//! scheduler, the module `own` or a switch that its module has.

/// Defines interposed functions, and their originals in a module `originals`.
///
/// The version after `@` is the one that today's headers select, if libc has several. It is that on
/// x86-64: other architectures have no older versions, so look-ups there need none.
macro_rules! c_functions {
    ($(
        $(#[doc = $doc:literal])*
        $(#[cfg($($condition:tt)*)])?
        fn $name:ident $(@ $version:literal)? ($($argument:ident: $type:ty),* $(,)?)
            $(-> $result:ty)? $(, missing $missing:expr)?, layers [$($layers:tt)*];
    )*) => {
        $(
            $(#[doc = $doc])*
            $(#[cfg($($condition)*)])?
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                // SAFETY: the caller's arguments, or those of a layer that has the same effect. The
                // caller promises what the C function asks for, and the layers ask for no more.
                unsafe {
                    through!([match originals::$name.get() {
                        Some(original) => original($($argument),*),
                        None => { $($missing)? }
                    }] $($layers)*)
                }
            }
        )*

        originals! {
            $($(#[cfg($($condition)*)])? fn $name $(@ $version)? ($($type),*) $(-> $result)?;)*
        }
    };
}

/// Defines originals of functions, with types but without names of the arguments.
macro_rules! originals {
    ($(
        $(#[cfg($($condition:tt)*)])?
        fn $name:ident $(@ $version:literal)? ($($type:ty),* $(,)?) $(-> $result:ty)?;
    )*) => {
        /// Originals of these functions.
        #[expect(non_upper_case_globals, reason = "they have the names of the functions")]
        pub(crate) mod originals {
            use super::*;
            use crate::Original;

            $(
                $(#[cfg($($condition)*)])?
                pub(crate) static $name: Original<
                    unsafe extern "C" fn($($type),*) $(-> $result)?
                > =
                    // SAFETY: the row has the signature of the function.
                    unsafe { Original::new(concat!(stringify!($name), "\0"), &[$($version)?]) };
            )*
        }

        /// Places where these functions are found.
        pub(super) static ENTRIES: &[&$crate::original::Entry] = &[
            $($(#[cfg($($condition)*)])? originals::$name.entry()),*
        ];
    };
}

/// Calls the first layer, with the others and the original as what it calls next.
macro_rules! through {
    ([$original:expr]) => { $original };
    ([$original:expr] $($layer:ident)::+ ($($given:expr),* $(,)?)
        $(=> ($($changed:ident),+))? $(, $($below:tt)*)?) => {
        $($layer)::+($($given,)* |$($($changed),+)?| through!([$original] $($($below)*)?))
    };
}

pub(crate) mod clocks;
mod descriptors;
pub(crate) mod folders;
pub(crate) mod locks;
#[cfg(feature = "network")]
mod names;
mod others;
mod paths;
mod process;
#[cfg(feature = "network")]
pub(crate) mod programs;
pub(crate) mod random;
#[cfg(feature = "network")]
pub(crate) mod sockets;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod status;
pub(crate) mod threads;

use crate::original::Entry;

/// Originals of the functions in the table, and others that the layers call.
pub(crate) mod originals {
    pub(crate) use super::clocks::originals::*;
    pub(crate) use super::descriptors::originals::*;
    pub(crate) use super::locks::originals::*;
    pub(crate) use super::others::originals::*;
    pub(crate) use super::process::originals::*;
    #[cfg(feature = "network")]
    pub(crate) use super::sockets::originals::*;
    pub(crate) use super::threads::originals::*;
}

/// Looks up the originals of all functions. Must be called before `main`, as
/// [`Entry::prepare`] explains.
pub(crate) fn look_up_all() {
    entries().for_each(Entry::prepare);
}

/// Returns the places of all functions whose originals may be called.
pub(crate) fn entries() -> impl Iterator<Item = &'static Entry> {
    GROUPS.iter().copied().flatten().copied()
}

/// Functions of the table, by group.
static GROUPS: &[&[&Entry]] = &[
    clocks::ENTRIES,
    descriptors::ENTRIES,
    folders::ENTRIES,
    locks::ENTRIES,
    #[cfg(feature = "network")]
    names::ENTRIES,
    others::ENTRIES,
    paths::ENTRIES,
    process::ENTRIES,
    #[cfg(feature = "network")]
    programs::ENTRIES,
    random::ENTRIES,
    #[cfg(feature = "network")]
    sockets::ENTRIES,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    status::ENTRIES,
    threads::ENTRIES,
];
