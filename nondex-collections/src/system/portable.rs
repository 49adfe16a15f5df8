//! The variant for systems on which no functions of libc are interposed.

pub mod fs;
pub mod thread;

/// Returns no caller: a shim without a call site has none here.
#[must_use]
pub const fn hidden_caller() -> Option<nondex_core::Caller> {
    None
}

/// Returns how many of these variables the process inherited: all, because it is not known which
/// ones the process itself set.
#[must_use]
pub const fn given(variables: &[(::std::ffi::OsString, ::std::ffi::OsString)]) -> usize {
    variables.len()
}
