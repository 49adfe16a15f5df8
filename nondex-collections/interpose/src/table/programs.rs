//! Other programs: started, in place of this one or as children, and waited for.

use ::std::ffi::{c_char, c_int, c_uint, c_void};
use ::std::ptr;

use crate::libc::{self, FILE, pid_t, siginfo_t};
use crate::network::child::Strings;
use crate::network::child::execute::{execute, execute_at, execute_here, execute_open};
use crate::network::child::program::{by_name, by_path};
use crate::network::child::shell;
use crate::network::child::spawn::{child_of, start, substituted};
use crate::network::child::unobserved::{waited, waited_for};
use crate::schedule::child;

type Data = *const c_void;

c_functions! {
    fn execve(program: *const c_char, arguments: Strings, environment: Strings) -> c_int,
        missing -1, layers [execute(program, by_path, arguments, environment) => (environment)];
    fn execvpe(program: *const c_char, arguments: Strings, environment: Strings) -> c_int,
        missing -1, layers [execute(program, by_name, arguments, environment) => (environment)];
    fn execv(program: *const c_char, arguments: Strings) -> c_int, missing -1,
        layers [execute_here(program, arguments, execve)];
    fn execvp(program: *const c_char, arguments: Strings) -> c_int, missing -1,
        layers [execute_here(program, arguments, execvpe)];
    fn fexecve(file: c_int, arguments: Strings, environment: Strings) -> c_int, missing -1,
        layers [execute_open(file, arguments, environment) => (environment)];
    /// The C library has this since glibc 2.34.
    fn execveat(folder: c_int, name: *const c_char, arguments: Strings, environment: Strings,
        flags: c_int) -> c_int,
        missing libc::syscall(libc::SYS_execveat, folder, name, arguments, environment, flags)
            as c_int,
        layers [execute_at(folder, name, arguments, environment) => (environment)];

    fn posix_spawn @ c"GLIBC_2.15" (child: *mut c_int, name: *const c_char, actions: Data,
        attributes: Data, arguments: Strings, environment: Strings) -> c_int, missing libc::ENOSYS,
        layers [start(child, |pid| pid, (name, by_path), arguments, environment)
            => (child, environment)];
    fn posix_spawnp @ c"GLIBC_2.15" (child: *mut c_int, name: *const c_char, actions: Data,
        attributes: Data, arguments: Strings, environment: Strings) -> c_int, missing libc::ENOSYS,
        layers [start(child, |pid| pid, (name, by_name), arguments, environment)
            => (child, environment)];
    fn pidfd_spawn(child: *mut c_int, name: *const c_char, actions: Data, attributes: Data,
        arguments: Strings, environment: Strings) -> c_int, missing libc::ENOSYS,
        layers [
            substituted(&originals::pidfd_spawn, child, |child| {
                posix_spawn(child, name, actions, attributes, arguments, environment)
            }),
            start(child, child_of, (name, by_path), arguments, environment)
                => (child, environment)
        ];
    fn pidfd_spawnp(child: *mut c_int, name: *const c_char, actions: Data, attributes: Data,
        arguments: Strings, environment: Strings) -> c_int, missing libc::ENOSYS,
        layers [
            substituted(&originals::pidfd_spawnp, child, |child| {
                posix_spawnp(child, name, actions, attributes, arguments, environment)
            }),
            start(child, child_of, (name, by_name), arguments, environment)
                => (child, environment)
        ];

    fn system(command: *const c_char) -> c_int, missing -1,
        layers [shell::replaced(command) => (command), child::run()];
    fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE, missing ptr::null_mut(),
        layers [shell::replaced(command) => (command),
            child::start(|file: *mut FILE| !file.is_null())];
    fn pclose(file: *mut FILE) -> c_int, missing -1, layers [shell::closed()];

    fn wait(status: *mut c_int) -> pid_t, missing -1, layers [waited(status, 0) => (status)];
    fn waitpid(pid: pid_t, status: *mut c_int, options: c_int) -> pid_t, missing -1,
        layers [waited(status, options) => (status)];
    fn wait3(status: *mut c_int, options: c_int, usage: *mut c_void) -> pid_t, missing -1,
        layers [waited(status, options) => (status)];
    fn wait4(pid: pid_t, status: *mut c_int, options: c_int, usage: *mut c_void) -> pid_t,
        missing -1, layers [waited(status, options) => (status)];
    fn waitid(kind: c_uint, id: libc::id_t, info: *mut siginfo_t, options: c_int) -> c_int,
        missing -1, layers [waited_for(info, options) => (info)];
}
