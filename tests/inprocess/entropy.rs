//! The library that seeds the random bytes of plain programs and of builds.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::compile::succeed;

const PROBES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/probes");
const TEMPORARY: &str = env!("CARGO_TARGET_TMPDIR");

/// Program with two threads that make their first system call by number at the same time.
const PROGRAM: &str = r#"
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
unsafe extern "C" { fn syscall(number: i64, ...) -> i64; }
static READY: AtomicUsize = AtomicUsize::new(0);
fn main() {
    let call = || {
        READY.fetch_add(1, SeqCst);
        while READY.load(SeqCst) < 2 { std::hint::spin_loop() }
        // SAFETY: no system call has this number, so that it fails.
        unsafe { syscall(100_000) };
    };
    let both = [std::thread::spawn(call), std::thread::spawn(call)];
    // Without a system call by number before theirs.
    while both.iter().any(|one| !one.is_finished()) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
"#;

/// Library that makes each search for a function slow, so that both threads are in it.
const SLOW: &str = r#"
use std::ffi::{c_char, c_void};
unsafe extern "C" { fn dlvsym(h: *mut c_void, n: *const c_char, v: *const c_char) -> *mut c_void; }
#[unsafe(no_mangle)]
unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    std::thread::sleep(std::time::Duration::from_millis(20));
    unsafe {
        let (next, own) = (usize::MAX as *mut c_void, c"dlsym".as_ptr());
        let versions = [c"GLIBC_2.34", c"GLIBC_2.2.5", c"GLIBC_2.17"];
        let mut found = versions.iter().map(|version| dlvsym(next, own, version.as_ptr()));
        let found = found.find(|found| !found.is_null()).unwrap();
        let found: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void =
            std::mem::transmute(found);
        found(handle, name)
    }
}
"#;

fn compile(folder: &Path, name: &str, source: &Path, arguments: &[&str]) -> PathBuf {
    let built = folder.join(name);
    let mut command = Command::new("rustc");
    command.args(["--edition", "2024", "-Copt-level=1"]);
    succeed(command.args(arguments).arg("-o").arg(&built).arg(source));
    built
}

#[test]
fn threads_that_make_their_first_system_call_at_once_both_come_back() {
    let folder = tempfile::tempdir_in(TEMPORARY).unwrap();
    let folder = folder.path();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let library = ["--crate-type=cdylib", "-Cpanic=abort"];
    let entropy = Path::new(PROBES).join("entropy.rs");
    let entropy = compile(folder, "entropy.so", &entropy, &library);
    let slow = compile(folder, "slow.so", &write("slow.rs", SLOW), &library);
    let program = compile(folder, "program", &write("program.rs", PROGRAM), &[]);
    let output = Command::new(program)
        .env("NONDEX_ENTROPY", "1")
        .env("LD_PRELOAD", format!("{}:{}", entropy.display(), slow.display()))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {stderr}", output.status);
}
