//! `vfork`, which returns twice on one stack, so none of the tool's frames may be on it.
//!
//! The child lives in real time from before it starts. If it cannot start, the next wait finds that
//! there is no child.

use ::std::ffi::c_int;

use super::child;
use crate::{Errno, libc, originals};

type Vfork = unsafe extern "C" fn() -> libc::pid_t;

// Records the child, and jumps to libc's `vfork` as if the caller had called that. A naked function
// would need Rust 1.88. A library exports only symbols that rustc knows of, hence not this one.
// That is no loss, because nothing is scheduled in a program that is observed from outside.
#[cfg(target_arch = "x86_64")]
::std::arch::global_asm!(
    ".pushsection .text.vfork,\"ax\",@progbits",
    ".globl vfork",
    ".type vfork,@function",
    "vfork:",
    // The stack must be aligned to 16 bytes at a call.
    "sub rsp, 8",
    "call {before}",
    "add rsp, 8",
    "jmp rax",
    ".size vfork, .-vfork",
    ".popsection",
    before = sym before,
);

// As above.
#[cfg(target_arch = "aarch64")]
::std::arch::global_asm!(
    ".pushsection .text.vfork,\"ax\",@progbits",
    ".globl vfork",
    ".type vfork,@function",
    "vfork:",
    "stp x29, x30, [sp, #-16]!",
    "bl {before}",
    "mov x16, x0",
    "ldp x29, x30, [sp], #16",
    "br x16",
    ".size vfork, .-vfork",
    ".popsection",
    before = sym before,
);

/// Counts the child that is about to start, and returns the function that starts it.
extern "C" fn before() -> Vfork {
    let _errno = Errno::save();
    child::before_vfork();
    originals::vfork.get().unwrap_or(missing)
}

unsafe extern "C" fn missing() -> c_int {
    -1
}
