//! What is used of the C library, declared for the two platforms that most people have.
//!
//! The crate `libc` is the largest of all that a test would be linked with, and a tenth of the time
//! until the first test. A test compares what is here with it, and on other platforms it is used
//! itself. Whatever else is needed is to be added here.

#![expect(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    missing_debug_implementations,
    reason = "the names are C's"
)]

mod constants;
mod message;

pub use ::std::ffi::{c_char, c_int, c_long, c_short, c_uchar, c_uint, c_ulong, c_ushort, c_void};

pub use constants::*;
pub use message::*;

pub type clockid_t = c_int;
pub type dev_t = u64;
pub type gid_t = u32;
pub type id_t = u32;
pub type ino64_t = u64;
pub type mode_t = u32;
pub type nfds_t = c_ulong;
pub type off64_t = i64;
pub type pid_t = i32;
pub type pthread_key_t = c_uint;
pub type pthread_t = c_ulong;
pub type sa_family_t = u16;
pub type size_t = usize;
pub type socklen_t = u32;
pub type uid_t = u32;

/// Types that only C looks into.
macro_rules! opaque {
    ($($name:ident)*) => {
        $(#[repr(C)]
        pub struct $name {
            inside: [u8; 0],
        })*
    };
}

opaque! { DIR FILE hostent pthread_attr_t sigevent }

#[repr(C)]
pub struct in_addr {
    pub s_addr: u32,
}

#[repr(C)]
pub struct sockaddr {
    pub sa_family: sa_family_t,
    pub sa_data: [c_char; 14],
}

#[repr(C)]
pub struct sockaddr_in {
    pub sin_family: sa_family_t,
    pub sin_port: u16,
    pub sin_addr: in_addr,
    pub sin_zero: [u8; 8],
}

#[repr(C, align(4))]
pub struct in6_addr {
    pub s6_addr: [u8; 16],
}

#[repr(C)]
pub struct sockaddr_in6 {
    pub sin6_family: sa_family_t,
    pub sin6_port: u16,
    pub sin6_flowinfo: u32,
    pub sin6_addr: in6_addr,
    pub sin6_scope_id: u32,
}

#[repr(C)]
pub struct sockaddr_un {
    pub sun_family: sa_family_t,
    pub sun_path: [c_char; 108],
}

#[repr(C, align(8))]
pub struct sockaddr_storage {
    pub ss_family: sa_family_t,
    rest: [u8; 126],
}

#[repr(C)]
pub struct addrinfo {
    pub ai_flags: c_int,
    pub ai_family: c_int,
    pub ai_socktype: c_int,
    pub ai_protocol: c_int,
    pub ai_addrlen: socklen_t,
    pub ai_addr: *mut sockaddr,
    pub ai_canonname: *mut c_char,
    pub ai_next: *mut addrinfo,
}

#[repr(C)]
pub struct pollfd {
    pub fd: c_int,
    pub events: c_short,
    pub revents: c_short,
}

#[cfg_attr(target_arch = "x86_64", repr(C, packed))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C))]
#[derive(Clone, Copy)]
pub struct epoll_event {
    pub events: u32,
    pub u64: u64,
}

#[repr(C)]
pub struct fd_set {
    bits: [c_ulong; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct sigset_t {
    bits: [c_ulong; 16],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct sigaction {
    pub sa_sigaction: size_t,
    pub sa_mask: sigset_t,
    pub sa_flags: c_int,
    pub sa_restorer: Option<extern "C" fn()>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct timespec {
    pub tv_sec: i64,
    pub tv_nsec: c_long,
}

#[repr(C)]
pub struct timeval {
    pub tv_sec: i64,
    pub tv_usec: i64,
}

/// As `waitid` fills it.
#[repr(C, align(8))]
pub struct siginfo_t {
    pub si_signo: c_int,
    pub si_errno: c_int,
    pub si_code: c_int,
    padding: c_int,
    pid: pid_t,
    uid: uid_t,
    status: c_int,
    rest: [c_int; 25],
}

impl siginfo_t {
    /// # Safety
    /// None: it is so in the crate `libc`, where the fields are a union.
    pub unsafe fn si_pid(&self) -> pid_t {
        self.pid
    }

    /// # Safety
    /// None, as above: where a fault has its address.
    pub unsafe fn si_addr(&self) -> *mut c_void {
        let low = self.pid as u32 as usize;
        ::std::ptr::without_provenance_mut((self.uid as usize) << 32 | low)
    }

    /// # Safety
    /// None, as above.
    pub unsafe fn si_status(&self) -> c_int {
        self.status
    }
}

#[repr(C)]
pub struct statfs64 {
    pub f_type: c_long,
    rest: [c_long; 14],
}

#[repr(C)]
pub struct dirent64 {
    pub d_ino: ino64_t,
    pub d_off: off64_t,
    pub d_reclen: c_ushort,
    pub d_type: c_uchar,
    pub d_name: [c_char; 256],
}

#[cfg(target_arch = "x86_64")]
#[repr(C)]
pub struct stat64 {
    pub st_dev: dev_t,
    pub st_ino: ino64_t,
    pub st_nlink: u64,
    pub st_mode: mode_t,
    pub st_uid: uid_t,
    pub st_gid: gid_t,
    rest: [c_int; 27],
}

#[cfg(not(target_arch = "x86_64"))]
#[repr(C)]
pub struct stat64 {
    pub st_dev: dev_t,
    pub st_ino: ino64_t,
    pub st_mode: mode_t,
    pub st_nlink: u32,
    pub st_uid: uid_t,
    pub st_gid: gid_t,
    rest: [u64; 12],
}

#[repr(C)]
pub struct Elf64_Ehdr {
    pub e_ident: [c_uchar; 16],
    pub e_type: u16,
    pub e_machine: u16,
    pub e_version: u32,
    pub e_entry: u64,
    pub e_phoff: u64,
    pub e_shoff: u64,
    pub e_flags: u32,
    pub e_ehsize: u16,
    pub e_phentsize: u16,
    pub e_phnum: u16,
    pub e_shentsize: u16,
    pub e_shnum: u16,
    pub e_shstrndx: u16,
}

#[repr(C)]
pub struct Elf64_Phdr {
    pub p_type: u32,
    pub p_flags: u32,
    pub p_offset: u64,
    pub p_vaddr: u64,
    pub p_paddr: u64,
    pub p_filesz: u64,
    pub p_memsz: u64,
    pub p_align: u64,
}

/// The loader's information about a library.
#[repr(C)]
pub struct dl_phdr_info {
    pub dlpi_addr: u64,
    pub dlpi_name: *const c_char,
    pub dlpi_phdr: *const Elf64_Phdr,
    pub dlpi_phnum: u16,
    pub dlpi_adds: u64,
    pub dlpi_subs: u64,
    pub dlpi_tls_modid: size_t,
    pub dlpi_tls_data: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct rlimit {
    pub rlim_cur: u64,
    pub rlim_max: u64,
}

#[repr(C)]
pub struct Dl_info {
    pub dli_fname: *const c_char,
    pub dli_fbase: *mut c_void,
    pub dli_sname: *const c_char,
    pub dli_saddr: *mut c_void,
}

unsafe extern "C" {
    pub fn __errno_location() -> *mut c_int;
    pub fn _exit(status: c_int) -> !;
    pub fn atexit(function: extern "C" fn()) -> c_int;
    pub fn access(path: *const c_char, mode: c_int) -> c_int;
    pub fn close(file: c_int) -> c_int;
    pub fn dl_iterate_phdr(
        each: Option<unsafe extern "C" fn(*mut dl_phdr_info, size_t, *mut c_void) -> c_int>,
        data: *mut c_void,
    ) -> c_int;
    pub fn dirfd(dir: *mut DIR) -> c_int;
    pub fn dladdr(address: *const c_void, info: *mut Dl_info) -> c_int;
    pub fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
    pub fn dup2(file: c_int, number: c_int) -> c_int;
    pub fn fgetxattr(file: c_int, name: *const c_char, value: *mut c_void, size: size_t) -> isize;
    pub fn fork() -> pid_t;
    pub fn fstat64(file: c_int, stat: *mut stat64) -> c_int;
    pub fn fstatfs64(file: c_int, of: *mut statfs64) -> c_int;
    pub fn getauxval(kind: c_ulong) -> c_ulong;
    pub fn getenv(name: *const c_char) -> *mut c_char;
    pub fn getgid() -> gid_t;
    pub fn gethostname(name: *mut c_char, len: size_t) -> c_int;
    pub fn getpeername(socket: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    pub fn getpid() -> pid_t;
    pub fn getppid() -> pid_t;
    pub fn getrlimit(resource: c_uint, limit: *mut rlimit) -> c_int;
    pub fn getsockname(socket: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    pub fn getsockopt(
        socket: c_int,
        level: c_int,
        name: c_int,
        value: *mut c_void,
        len: *mut socklen_t,
    ) -> c_int;
    pub fn getuid() -> uid_t;
    pub fn kill(pid: pid_t, signal: c_int) -> c_int;
    pub fn lseek64(file: c_int, offset: off64_t, whence: c_int) -> off64_t;
    pub fn mmap(
        address: *mut c_void,
        len: size_t,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: off64_t,
    ) -> *mut c_void;
    pub fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn poll(list: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    pub fn prctl(option: c_int, ...) -> c_int;
    pub fn pread64(file: c_int, buffer: *mut c_void, len: size_t, offset: off64_t) -> isize;
    pub fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
    pub fn pthread_key_create(
        key: *mut pthread_key_t,
        destructor: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    pub fn pthread_setspecific(key: pthread_key_t, value: *const c_void) -> c_int;
    pub fn pthread_sigmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int;
    pub fn ptrace(request: c_uint, ...) -> c_long;
    pub fn qsort(
        base: *mut c_void,
        len: size_t,
        size: size_t,
        compare: Option<unsafe extern "C" fn(*const c_void, *const c_void) -> c_int>,
    );
    pub fn readlink(path: *const c_char, target: *mut c_char, size: size_t) -> isize;
    pub fn setenv(name: *const c_char, value: *const c_char, overwrite: c_int) -> c_int;
    pub fn setpgid(pid: pid_t, group: pid_t) -> c_int;
    pub fn setrlimit(resource: c_uint, limit: *const rlimit) -> c_int;
    pub fn sigismember(set: *const sigset_t, signal: c_int) -> c_int;
    pub fn sigaction(signal: c_int, new: *const sigaction, old: *mut sigaction) -> c_int;
    pub fn strlen(text: *const c_char) -> size_t;
    pub fn syscall(number: c_long, ...) -> c_long;
    pub fn umask(mask: mode_t) -> mode_t;
    pub fn unsetenv(name: *const c_char) -> c_int;
    pub fn waitid(kind: c_uint, id: id_t, info: *mut siginfo_t, options: c_int) -> c_int;
    pub fn waitpid(pid: pid_t, status: *mut c_int, options: c_int) -> pid_t;
}

pub const fn WIFEXITED(status: c_int) -> bool {
    status & 0x7f == 0
}

pub const fn WEXITSTATUS(status: c_int) -> c_int {
    (status >> 8) & 0xff
}

pub const fn WIFSIGNALED(status: c_int) -> bool {
    ((status & 0x7f) + 1) as i8 >= 2
}

pub const fn WTERMSIG(status: c_int) -> c_int {
    status & 0x7f
}

#[cfg(test)]
mod tests;
