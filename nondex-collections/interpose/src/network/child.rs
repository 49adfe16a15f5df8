//! Programs that a test starts. They are observed too, by a library that the loader puts before
//! their libc.
//!
//! The functions that start a program add two variables to its environment: the library, and an
//! identity among all programs that the test starts. The library removes both before `main`, so
//! neither the test nor the program sees them. Only a program with glibc's loader and this
//! machine's type gets the library. Any other loader would only print a warning, so of such a
//! program only the exit status is known.
//!
//! Programs that `execl` and its variants start are not observed. These call libc's own `execve`,
//! and Rust cannot define functions with variable arguments. Between `fork` and `exec` little is
//! allowed, so code that runs for every program allocates no memory.

mod argument;
pub(crate) mod execute;
pub(crate) mod program;
pub(crate) mod shell;
pub(crate) mod spawn;
pub(crate) mod unobserved;

use ::std::ffi::{CStr, c_char, c_int};
use ::std::io::Read;
use ::std::os::unix::ffi::OsStrExt;
use ::std::sync::OnceLock;

use nondex_core::NetworkMode;
use nondex_core::context::{Context, name_child};
use nondex_core::protocol::spec::CHILD_VARIABLE;

use self::program::{HEADER, MAX_PATH, Program};
pub(super) use self::unobserved::{after_fork, before_fork};
use super::{Errno, fork, socket};
use crate::schedule::counter;

/// Beginning of the environment's entry that names libraries to the loader.
const PRELOAD: &CStr = c"LD_PRELOAD=";

/// Maximum number of variables in the environment of an observed program.
const MAX_VARIABLES: usize = 2048;

/// The library that observes programs.
pub(crate) struct Library {
    /// Entry of the environment that names it.
    entry: &'static CStr,
    /// Class, byte order and machine of the programs that can load it.
    kind: [u8; 4],
}

static LIBRARY: OnceLock<Library> = OnceLock::new();

/// Sets up the observation of programs that this one starts, if the run requests it.
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "called before `main`")]
pub(crate) fn prepare(context: &Context) {
    let spec = context.spec();
    if spec.network.mode() != NetworkMode::Off {
        fork::watch();
        if !context.is_own_process() {
            socket::inherit();
        }
    }
    let Some(path) = spec.preload.as_ref().filter(|_| spec.network.mode() != NetworkMode::Off)
    else {
        return;
    };
    let mut header = [0; HEADER];
    let read = ::std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    let mut entry = PRELOAD.to_bytes().to_vec();
    entry.extend(path.as_os_str().as_bytes());
    // The loader takes a colon or a space for the end of a path, so such a path cannot be used.
    let is_one_path = !path.as_os_str().as_bytes().iter().any(|b| b": ".contains(b));
    if let (Ok(()), Ok(entry), true) = (read, ::std::ffi::CString::new(entry), is_one_path) {
        let kind = program::kind(&header);
        let entry = Box::leak(entry.into_boxed_c_str());
        let _ = LIBRARY.set(Library { entry, kind });
        unobserved::prepare();
    }
}

/// Maximum length of the entry with a program's identity.
const MAX_NAME: usize = 256;

/// Counts a program that is to be started, and returns its identity: [`CHILD_VARIABLE`] with its
/// value.
fn name(buffer: &mut [u8; MAX_NAME]) -> Option<&CStr> {
    let start = CHILD_VARIABLE.len() + 1;
    buffer[..start - 1].copy_from_slice(CHILD_VARIABLE.as_bytes());
    buffer[start - 1] = b'=';
    let end = start + name_child(&mut buffer[start..MAX_NAME - 1])?;
    buffer[end] = 0;
    CStr::from_bytes_with_nul(&buffer[..=end]).ok()
}

/// Returns whether an entry of an environment is [`CHILD_VARIABLE`].
fn is_name(entry: &[u8]) -> bool {
    let rest = entry.strip_prefix(CHILD_VARIABLE.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"="))
}

/// Joins the parts to one string in `buffer`, if they fit.
fn join<'a>(buffer: &'a mut [u8], parts: &[&[u8]]) -> Option<&'a CStr> {
    let mut length = 0;
    for part in parts {
        buffer.get_mut(length..length + part.len())?.copy_from_slice(part);
        length += part.len();
    }
    *buffer.get_mut(length)? = 0;
    CStr::from_bytes_with_nul(&buffer[..=length]).ok()
}

pub(crate) type Strings = *const *const c_char;

/// Function that finds a program by its path or name.
pub(crate) type Find = fn(&CStr, &Library) -> Program;

/// Finds the program that is to be started. Returns the default if nothing is observed.
///
/// # Safety
/// `name` must be null or end with NUL.
unsafe fn found(name: *const c_char, find: Find) -> Program {
    let Some(library) = LIBRARY.get().filter(|_| !name.is_null()) else {
        return Program::default();
    };
    let _errno = Errno::save();
    // SAFETY: as the caller promises.
    find(unsafe { CStr::from_ptr(name) }, library)
}

/// Calls `start` with the environment that `program` must get.
///
/// # Safety
/// `environment` must be null or end with a null pointer, as must each of its entries with NUL.
unsafe fn observed(
    program: Program,
    environment: Strings,
    start: impl FnOnce(Strings) -> c_int,
) -> c_int {
    let start = |environment| counter::allowed(|| start(environment));
    let Some(library) = LIBRARY.get().filter(|_| program.loads && !environment.is_null()) else {
        return start(environment);
    };
    let mut entries = [::std::ptr::null(); MAX_VARIABLES];
    let (mut given, mut others) = (None, None);
    // The first two places are for the tool's entries. The last one stays null, and ends the list.
    let mut count = 2;
    for i in 0.. {
        // SAFETY: every entry up to the null pointer was read before.
        let entry = unsafe { *environment.add(i) };
        if entry.is_null() {
            break;
        }
        // SAFETY: an entry ends with NUL.
        let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
        if count == MAX_VARIABLES - 1 {
            return start(environment);
        }
        match text.strip_prefix(PRELOAD.to_bytes()) {
            Some(_) if text.starts_with(library.entry.to_bytes()) => given = Some(entry),
            Some(libraries) if others.is_none() => others = Some(libraries),
            _ if is_name(text) => {}
            _ => {
                entries[count] = entry;
                count += 1;
            }
        }
    }
    let mut buffer = [0; 2 * MAX_PATH];
    let own = match (given, others) {
        (Some(entry), _) => Some(entry),
        (None, None) => Some(library.entry.as_ptr()),
        (None, Some(others)) => {
            join(&mut buffer, &[library.entry.to_bytes(), b":", others]).map(CStr::as_ptr)
        }
    };
    let Some(own) = own else { return start(environment) };
    entries[1] = own;
    let mut buffer = [0; MAX_NAME];
    match name(&mut buffer) {
        Some(name) => {
            entries[0] = name.as_ptr();
            start(entries.as_ptr())
        }
        None => start(entries[1..].as_ptr()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_joined_where_there_is_room() {
        let mut buffer = [0; 5];
        assert_eq!(join(&mut buffer, &[b"ab", b"cd"]), Some(c"abcd"));
        assert_eq!(join(&mut buffer, &[b"ab", b"cde"]), None);
    }
}
