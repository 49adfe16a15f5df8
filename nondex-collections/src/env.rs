//! `std::env`, with the variables in the order that the run decides.

pub use ::std::env::*;

use ::std::ffi::OsString;
use ::std::fmt;
use ::std::marker::PhantomData;
use ::std::vec::IntoIter;

use nondex_core::{Caller, Model, model};

use nondex_core::choice::arrange;

use crate::system;

/// Mirror of [`::std::env::Vars`], in the order that the run decides.
pub struct Vars {
    inner: VarsOs,
}

/// Mirror of [`::std::env::VarsOs`], in the order that the run decides.
pub struct VarsOs {
    inner: IntoIter<(OsString, OsString)>,
    // std's own type is neither `Send` nor `Sync`.
    local: PhantomData<*const ()>,
}

/// Mirrors [`::std::env::vars`], in the order that the run decides.
#[must_use]
#[track_caller]
pub fn vars() -> Vars {
    Vars { inner: snapshot(&model::ENV_VARS, crate::caller::caller()) }
}

/// Mirrors [`::std::env::vars_os`], in the order that the run decides.
#[must_use]
#[track_caller]
pub fn vars_os() -> VarsOs {
    snapshot(&model::ENV_VARS_OS, crate::caller::caller())
}

/// Mirrors [`::std::env::var_os`], and also finds the run's spec. The harness of a
/// `harness = false` target is compiled with the project and has a separate engine. It needs the
/// spec, which is removed from the environment before `main`.
#[cfg(feature = "facade")]
#[must_use]
pub fn var_os<K: AsRef<::std::ffi::OsStr>>(key: K) -> Option<OsString> {
    if key.as_ref() == nondex_core::protocol::spec::SPEC_VARIABLE {
        return nondex_core::context::global().map(|context| context.spec().to_json().into());
    }
    ::std::env::var_os(key)
}

fn snapshot(model: &'static Model, caller: Caller) -> VarsOs {
    // std reads the variables without a call of libc. This call shows observers of the environment
    // that all of it is read.
    let _ = ::std::env::var_os("");
    let mut variables: Vec<_> = ::std::env::vars_os().collect();
    let own = variables.len() - system::given(&variables);
    arrange(&mut variables, own, model, caller, |(name, _)| name.as_encoded_bytes());
    VarsOs { inner: variables.into_iter(), local: PhantomData }
}

impl Iterator for Vars {
    type Item = (String, String);

    fn next(&mut self) -> Option<(String, String)> {
        self.inner
            .next()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl fmt::Debug for Vars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vars").field("inner", &self.inner.inner.as_slice()).finish()
    }
}

impl Iterator for VarsOs {
    type Item = (OsString, OsString);

    fn next(&mut self) -> Option<(OsString, OsString)> {
        self.inner.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl fmt::Debug for VarsOs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VarsOs").field("inner", &self.inner.as_slice()).finish()
    }
}
