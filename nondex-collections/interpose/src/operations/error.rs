//! Names of errors that a spec can request.

use ::std::ffi::c_int;

use crate::libc;

macro_rules! names {
    ($($name:ident)*) => {
        /// Returns the name of an `errno`, if it is one of
        /// [`ERRORS`](nondex_core::protocol::operation::ERRORS).
        pub(super) const fn name(errno: c_int) -> Option<&'static str> {
            match errno {
                $(libc::$name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

nondex_core::observed_errors!(names);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_that_can_be_asked_for_is_recognised() {
        assert_eq!(name(libc::EROFS), Some("EROFS"));
        assert_eq!(name(0), None);
    }
}
