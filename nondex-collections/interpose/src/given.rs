//! Environment variables that the process was started with, as opposed to those that it has set.

#![expect(clippy::disallowed_types, reason = "a caller's list is only read")]

use ::std::ffi::{CStr, OsString, c_char};
use ::std::os::unix::ffi::OsStrExt;
use ::std::ptr;
use ::std::slice;
use ::std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// List of C strings, which ends with a null pointer.
pub type Words = *const *const c_char;

/// Start of the initial variables, where the system has put them: one after the other, each with a
/// NUL at its end.
static GIVEN: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Length of all initial variables in bytes.
static LEN: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of leading variables that the process was started with and still has.
#[must_use]
pub fn given(variables: &[(OsString, OsString)]) -> usize {
    let mut words = words().split(|byte| *byte == 0);
    let is_given = |(name, _): &&(OsString, OsString)| {
        let name = name.as_bytes();
        words.any(|word| word.strip_prefix(name).is_some_and(|rest| rest.starts_with(b"=")))
    };
    variables.iter().take_while(is_given).count()
}

fn words() -> &'static [u8] {
    let (given, len) = (GIVEN.load(Ordering::Relaxed), LEN.load(Ordering::Relaxed));
    if given.is_null() {
        return &[];
    }
    // SAFETY: the variables stay above the stack of the main thread as long as the process lives. A
    // program that overwrites them to show a title only shortens what is found.
    unsafe { slice::from_raw_parts(given, len) }
}

/// Records where the initial variables are.
///
/// # Safety
/// `list` must be the one of the system, which lies below the strings that it lists. The C library
/// may have replaced some of them.
pub(crate) unsafe fn remember(list: Words) {
    let mut ends: Option<(*const c_char, *const c_char)> = None;
    let mut next = list;
    // SAFETY: as the caller promises.
    while let Some(word) = unsafe { next.as_ref() }.filter(|word| !word.is_null()) {
        if *word > list.cast() {
            let (first, last) = ends.unwrap_or((*word, *word));
            ends = Some((first.min(*word), last.max(*word)));
        }
        next = next.wrapping_add(1);
    }
    if let Some((first, last)) = ends {
        // SAFETY: it is a word of the list.
        let last_len = unsafe { CStr::from_ptr(last) }.to_bytes().len();
        LEN.store(last.addr() - first.addr() + last_len, Ordering::Relaxed);
        GIVEN.store(first.cast_mut().cast(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Layout of the system: the list, and above it the strings, one after the other.
    #[repr(C)]
    struct Stack {
        list: [*const c_char; 4],
        words: [u8; 17],
    }

    #[test]
    fn what_a_process_sets_or_takes_away_is_told_from_what_it_was_given() {
        let replaced = c"BC=other";
        let stack =
            Box::leak(Box::new(Stack { list: [ptr::null(); 4], words: *b"A=1\0BC=2\0A_LONG=\0" }));
        let word = |at: usize| stack.words[at..].as_ptr().cast::<c_char>();
        stack.list = [word(0), replaced.as_ptr(), word(9), ptr::null()];
        // SAFETY: the list stays, and has the system's layout; the replaced string stays, too.
        unsafe { remember(stack.list.as_ptr()) };
        for (names, expected) in [
            (&["A", "BC", "A_LONG"][..], 3),
            (&["A", "BC", "A_LONG", "NEW", "A"], 3),
            (&["A", "A_LONG", "BC"], 2),
            (&["BC", "NEW"], 1),
            (&["A_LONG"], 1),
            (&["A_LO", "A"], 0),
            (&["NEW", "A"], 0),
            (&[], 0),
        ] {
            let variables: Vec<(OsString, OsString)> =
                names.iter().map(|name| ((*name).into(), "x".into())).collect();
            assert_eq!(given(&variables), expected, "{names:?}");
        }
    }
}
