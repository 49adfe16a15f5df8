//! The context of a process.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "called before `main`"
)]

use std::sync::{Arc, OnceLock};

use super::inheritance;
use super::run::Context;
use crate::catalogue::Level;
use crate::protocol::spec::{LEVEL_VARIABLE, RunSpec, SEED_VARIABLE, SPEC_VARIABLE};

/// Context of a fork that runs a test. It takes precedence over the context of the parent.
static FORKED: OnceLock<Arc<Context>> = OnceLock::new();

pub(super) static GLOBAL: OnceLock<Option<Arc<Context>>> = OnceLock::new();

/// Returns the context of this process, from [`SPEC_VARIABLE`], or from [`SEED_VARIABLE`] and
/// [`LEVEL_VARIABLE`], or from an ancestor, if there is one.
///
/// If a variable is invalid, ends the process with code 96 and a message on stderr: a run must
/// never be skipped silently.
pub fn global() -> Option<&'static Arc<Context>> {
    if let Some(context) = FORKED.get() {
        return Some(context);
    }
    GLOBAL
        .get_or_init(|| match from_environment() {
            Ok(Some(spec)) => Some(Context::new(spec)),
            Ok(None) => inheritance::find().map(Context::of_child),
            Err(message) => {
                eprintln!("nondex: {message}");
                std::process::exit(96);
            }
        })
        .as_ref()
}

/// Returns the context of this process, or `Some(None)` if it has none. Returns `None` while the
/// context is not known. Where functions of libc are interposed, it must not be initialised here,
/// because that happens before `main`.
pub(super) fn known() -> Option<Option<&'static Arc<Context>>> {
    if let Some(context) = FORKED.get() {
        return Some(Some(context));
    }
    if cfg!(all(target_os = "linux", target_env = "gnu", not(target_feature = "crt-static"))) {
        return GLOBAL.get().map(Option::as_ref);
    }
    Some(global())
}

/// Returns whether this process must report the files that it writes.
#[inline]
pub fn tells_writes() -> bool {
    known().flatten().is_some_and(|context| context.spec().writes)
}

/// Records that this process may have written the file at `path`, or any file without a path.
/// Neither allocates nor locks, so that it may be called anywhere.
pub fn note_written(path: Option<&str>) {
    if let Some(context) = known().flatten() {
        context.note_written(path);
    }
}

/// Gives this process, a fork that is to run the test of `spec`, a separate context. The parent's
/// state that is common to all tests continues in it.
pub fn fork_global(spec: RunSpec) -> Option<&'static Arc<Context>> {
    let forked = global()?.of_fork(spec);
    FORKED.set(forked).ok()?;
    FORKED.get()
}

/// Makes the process have no context, even if an ancestor has one.
pub fn renounce() {
    let _ = GLOBAL.set(None);
}

fn from_environment() -> Result<Option<RunSpec>, String> {
    if let Some(text) = std::env::var_os(SPEC_VARIABLE) {
        let text = text.to_str().ok_or_else(|| format!("{SPEC_VARIABLE} is not UTF-8"))?;
        return RunSpec::from_variable(text).map(Some).map_err(|e| format!("{SPEC_VARIABLE}: {e}"));
    }
    let Some(seed) = std::env::var_os(SEED_VARIABLE) else { return Ok(None) };
    let seed = seed.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
        format!("{SEED_VARIABLE} is {seed:?}, expected a whole number below 2^64")
    })?;
    let level = match std::env::var(LEVEL_VARIABLE) {
        Ok(text) => text.parse::<Level>().map_err(|e| format!("{LEVEL_VARIABLE}: {e}"))?,
        Err(std::env::VarError::NotPresent) => Level::Full,
        Err(e) => return Err(format!("{LEVEL_VARIABLE}: {e}")),
    };
    Ok(Some(RunSpec::new("", level, seed)))
}
