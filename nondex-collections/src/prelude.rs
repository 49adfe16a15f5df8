//! The preludes, with the macros of this crate.

// Items that are newer than this mirror.
#[allow(unused_imports, clippy::allow_attributes, reason = "there may be nothing")]
pub use ::std::prelude::*;

macro_rules! preludes {
    ($($name:ident)*) => {$(
        #[doc(hidden)]
        pub mod $name {
            pub use ::std::prelude::$name::*;

            pub use crate::{dbg, eprint, eprintln};
        }
    )*};
}

preludes! { v1 rust_2015 rust_2018 rust_2021 rust_2024 }
