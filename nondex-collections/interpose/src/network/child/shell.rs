//! Commands of the shell: `system` and `popen`.
//!
//! libc starts the shell itself, without an interposed function, and passes the environment
//! unchanged. So the command is replaced by one that starts the shell again, with the library. This
//! second shell is observed like any other program, and neither it nor its children see the
//! library. The cost is one more `exec`.

use ::std::ffi::{CStr, c_char, c_int};

use nondex_core::hidden;

use super::{LIBRARY, Library, MAX_NAME, PRELOAD, name, program};
use crate::schedule::{child, counter};
use crate::{Errno, libc};

const SHELL: &CStr = c"/bin/sh";

/// Maximum length of a program's argument on Linux.
const MAX_ARGUMENT: usize = 128 * 1024;

/// Returns a command that runs `command` in an observed shell; `None` if that is impossible.
fn observed(command: &CStr) -> Option<hidden::Vec<u8>> {
    let library = LIBRARY.get()?;
    let _errno = Errno::save();
    if !program::by_path(SHELL, library).loads {
        return None;
    }
    // SAFETY: the name ends with NUL. The value stays valid until the environment is changed, as
    // libc itself assumes.
    let others = unsafe {
        let value = libc::getenv(c"LD_PRELOAD".as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value).to_bytes())
    };
    let mut buffer = [0; MAX_NAME];
    let name = name(&mut buffer).map(CStr::to_bytes);
    let mut text = wrapped(command.to_bytes(), library, name, others);
    // None of the parts contains a NUL.
    text.push(0);
    (text.len() <= MAX_ARGUMENT).then_some(text)
}

fn wrapped(
    command: &[u8],
    library: &Library,
    name: Option<&[u8]>,
    others: Option<&[u8]>,
) -> hidden::Vec<u8> {
    let mut libraries = hidden::copy(&library.entry.to_bytes()[PRELOAD.count_bytes()..]);
    if let Some(others) = others {
        libraries.push(b':');
        libraries.extend_from_slice(others);
    }
    let mut text = hidden::copy(b"export LD_PRELOAD=".as_slice());
    quote(&libraries, &mut text);
    if let Some(name) = name {
        text.push(b' ');
        quote(name, &mut text);
    }
    text.extend_from_slice(b"; exec /bin/sh -c -- ");
    quote(command, &mut text);
    // The shell's `$0`, as libc sets it.
    text.extend_from_slice(b" sh");
    text
}

/// Appends `word`, quoted for the shell.
fn quote(word: &[u8], text: &mut hidden::Vec<u8>) {
    text.push(b'\'');
    for &byte in word {
        match byte {
            b'\'' => text.extend_from_slice(br"'\''"),
            byte => text.push(byte),
        }
    }
    text.push(b'\'');
}

/// Replaces a command by one that is observed.
///
/// # Safety
/// `command` must be null or end with NUL.
pub(crate) unsafe fn replaced<R>(
    command: *const c_char,
    next: impl FnOnce(*const c_char) -> R,
) -> R {
    // SAFETY: as the caller promises.
    let own = (!command.is_null()).then(|| observed(unsafe { CStr::from_ptr(command) })).flatten();
    counter::allowed(|| next(own.as_ref().map_or(command, |own| own.as_ptr().cast())))
}

/// Waits for a command by the C library's own function.
pub(crate) fn closed(next: impl FnOnce() -> c_int) -> c_int {
    child::wait(0, || (next(), true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_given_to_a_shell_that_is_observed() {
        let library = Library { entry: c"LD_PRELOAD=/library.so", kind: [0; 4] };
        assert_eq!(
            *wrapped(
                b"echo 'a b' \"$0\"",
                &library,
                Some(b"NONDEX_CHILD=12:0/3"),
                Some(b"/other.so")
            ),
            *b"export LD_PRELOAD='/library.so:/other.so' 'NONDEX_CHILD=12:0/3'; \
                exec /bin/sh -c -- 'echo '\\''a b'\\'' \"$0\"' sh"
        );
        assert_eq!(
            *wrapped(b":", &library, None, None),
            *b"export LD_PRELOAD='/library.so'; exec /bin/sh -c -- ':' sh"
        );
    }
}
