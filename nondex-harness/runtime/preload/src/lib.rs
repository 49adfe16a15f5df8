//! Observes the network in a program that a test starts, from outside: a library that the loader puts before libc.
//!
//! The program belongs to the run of the test that started it, or one of its ancestors did. Without such a run, and in a
//! program that is built over the shims itself, the library does nothing.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "interposed functions have C's signatures")]

#[path = "../../../../nondex-collections/src/interpose"]
mod interpose {
    pub(crate) mod network;
    pub(crate) mod operations;
    mod original;
    mod sockaddr;
    pub(crate) mod syscall;
    mod transfer;

    pub(crate) use original::{Errno, Original, original};

    /// Random bytes: those of such a program are the system's.
    mod entropy {
        use std::ffi::c_long;

        pub(super) const unsafe fn syscall(
            _number: c_long,
            _arguments: [c_long; 6],
        ) -> Option<c_long> {
            None
        }
    }

    /// Who called: a program that is none of the project's has no place in its source.
    pub(crate) mod origin {
        use nondex_core::Caller;

        pub(crate) const fn caller() -> Caller {
            Caller {
                file: "",
                line: 0,
                column: 0,
            }
        }
    }
}

use std::ffi::CStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use interpose::network;
use interpose::syscall::syscall;

/// The variable that names this library to the loader, and what else was to be loaded, after a colon.
const PRELOAD: &str = "LD_PRELOAD";

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        let others = std::env::var_os(PRELOAD).and_then(|value| {
            let colon = value.as_bytes().iter().position(|&byte| byte == b':')?;
            Some(std::ffi::OsString::from_vec(
                value.as_bytes()[colon + 1..].to_vec(),
            ))
        });
        // SAFETY: the loader runs initialisers on the only thread of the process.
        unsafe {
            match others {
                Some(others) => std::env::set_var(PRELOAD, others),
                None => std::env::remove_var(PRELOAD),
            }
        }
        if let Some(context) = nondex_core::context::adopt(is_first()) {
            network::child::prepare(context);
            interpose::operations::observe(context);
        }
    }
    start
};

/// Whether no function of ours stands before this library's: not so in a program that is built over the shims.
fn is_first() -> bool {
    // SAFETY: `dlsym` takes any name that ends in NUL.
    let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, CStr::as_ptr(c"syscall")) };
    std::ptr::eq(first, syscall as *const () as *mut libc::c_void)
}
