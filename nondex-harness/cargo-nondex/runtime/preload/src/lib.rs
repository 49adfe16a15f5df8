//! Observes the network in a program that a test starts, from outside: a library that the loader
//! puts before libc.
//!
//! The program belongs to the run of the test that started it, or one of its ancestors did. Without
//! such a run, and in a program that is built over the shims itself, the library does nothing.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "interposed functions have C's signatures")]

mod environment;

use nondex_core::arena::Arena;
use nondex_core::protocol::spec::CHILD_VARIABLE;
use nondex_interpose::libc;

/// What the library takes memory from, whatever allocator the program has in place of C's.
#[global_allocator]
static MEMORY: Arena = Arena;

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = {
    extern "C" fn start() {
        if !is_first() {
            // The program's own runtime is used, not this one, and takes its variables itself.
            nondex_core::context::renounce();
            // SAFETY: the loader runs initialisers on the only thread of the process.
            unsafe { environment::remove(&[]) };
            return;
        }
        let context = nondex_core::context::adopt();
        // SAFETY: as above.
        unsafe { environment::remove(&[CHILD_VARIABLE]) };
        if let Some(context) = context {
            nondex_interpose::observe(context);
        }
    }
    start
};

/// Whether no function of ours stands before this library's: not so in a program that is built over
/// the shims.
fn is_first() -> bool {
    // SAFETY: `dlsym` takes any name that ends in NUL.
    let first = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"syscall".as_ptr()) };
    // Not the address of our own `syscall`, which the loader takes from the first library that has
    // one.
    let own = is_first as *const () as *const libc::c_void;
    library_of(first).is_some_and(|library| Some(library) == library_of(own))
}

/// Where the library is loaded that has what is at `address`.
fn library_of(address: *const libc::c_void) -> Option<*mut libc::c_void> {
    // SAFETY: the information is plain data, for which zeros are valid; any address can be passed
    // about.
    unsafe {
        let mut found = std::mem::zeroed::<libc::Dl_info>();
        (libc::dladdr(address, &raw mut found) != 0).then_some(found.dli_fbase)
    }
}
