//! What is used of the C library, declared for the two platforms that most people have.
//!
//! The crate `libc` is the largest of all that a test would be linked with, and a tenth of the time until the first test. A test
//! compares what is here with it, and on other platforms it is used itself. Whatever else is needed is to be added here.

#![expect(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    missing_docs,
    missing_debug_implementations,
    reason = "the names are C's"
)]

pub use ::std::ffi::{c_char, c_int, c_long, c_short, c_uchar, c_uint, c_ulong, c_ushort, c_void};

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
#[derive(Clone, Copy)]
pub struct iovec {
    pub iov_base: *mut c_void,
    pub iov_len: size_t,
}

#[repr(C)]
pub struct msghdr {
    pub msg_name: *mut c_void,
    pub msg_namelen: socklen_t,
    pub msg_iov: *mut iovec,
    pub msg_iovlen: size_t,
    pub msg_control: *mut c_void,
    pub msg_controllen: size_t,
    pub msg_flags: c_int,
}

#[repr(C)]
pub struct mmsghdr {
    pub msg_hdr: msghdr,
    pub msg_len: c_uint,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct cmsghdr {
    pub cmsg_len: size_t,
    pub cmsg_level: c_int,
    pub cmsg_type: c_int,
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
    /// None, as above: where a fault says its address.
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

/// What a loader tells of a library.
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

/// Constants of one type.
macro_rules! constants {
    ($type:ty: $($name:ident = $value:expr),* $(,)?) => {
        $(pub const $name: $type = $value;)*
    };
}

constants! { c_int:
    AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10,
    AI_NUMERICHOST = 4,
    AT_FDCWD = -100,
    CLD_EXITED = 1, CLD_KILLED = 2, CLD_DUMPED = 3,
    CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 1,
    EPOLLIN = 1, EPOLL_CTL_DEL = 2,
    F_GETFL = 3,
    MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 0x10, MAP_ANONYMOUS = 0x20,
    MSG_DONTWAIT = 0x40, MSG_WAITALL = 0x100, MSG_ERRQUEUE = 0x2000,
    NI_NUMERICHOST = 1,
    O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0o100, O_TRUNC = 0o1000, O_NONBLOCK = 0o4000, O_CLOEXEC = 0o2_000_000,
    PATH_MAX = 4096,
    PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2,
    PR_SET_PDEATHSIG = 1, PR_SET_TSC = 26, PR_TSC_ENABLE = 1, PR_TSC_SIGSEGV = 2, PR_SET_PTRACER = 0x5961_6d61, PR_SET_CHILD_SUBREAPER = 36, PR_GET_CHILD_SUBREAPER = 37,
    SCM_RIGHTS = 1,
    SEEK_CUR = 1,
    SA_SIGINFO = 4, SA_ONSTACK = 0x800_0000, SA_RESTART = 0x1000_0000, SA_NODEFER = 0x4000_0000,
    SIG_BLOCK = 0, SIG_SETMASK = 2, SIGILL = 4, SIGTRAP = 5, SIGBUS = 7, SIGFPE = 8, SIGKILL = 9, SIGSEGV = 11, SIGCHLD = 17,
    SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_NONBLOCK = 0o4000, SOCK_CLOEXEC = 0o2_000_000,
    SOL_SOCKET = 1, SO_TYPE = 3, SO_ERROR = 4, SO_RCVTIMEO = 20, SO_SNDTIMEO = 21, SO_ACCEPTCONN = 30, SO_DOMAIN = 39,
    WNOHANG = 1, WEXITED = 4, WNOWAIT = 0x100_0000,
    X_OK = 1,
    __WALL = 0x4000_0000,
}

constants! { c_int:
    EPERM = 1, ENOENT = 2, EINTR = 4, EIO = 5, ENXIO = 6, E2BIG = 7, ENOEXEC = 8, EBADF = 9, EAGAIN = 11, ENOMEM = 12,
    EACCES = 13, EFAULT = 14, EBUSY = 16, EEXIST = 17, ENODEV = 19, ENOTDIR = 20, EISDIR = 21, EINVAL = 22, ENFILE = 23,
    EMFILE = 24, ETXTBSY = 26, EFBIG = 27, ENOSPC = 28, EROFS = 30, EPIPE = 32, ERANGE = 34, ENAMETOOLONG = 36, ENOSYS = 38,
    ELOOP = 40, ENOTSOCK = 88, EDESTADDRREQ = 89, EMSGSIZE = 90, EPROTOTYPE = 91, EAFNOSUPPORT = 97, EADDRINUSE = 98,
    EADDRNOTAVAIL = 99, ENETDOWN = 100, ENETUNREACH = 101, ENETRESET = 102, ECONNABORTED = 103, ECONNRESET = 104, ENOBUFS = 105,
    EISCONN = 106, ENOTCONN = 107, ETIMEDOUT = 110, ECONNREFUSED = 111, EHOSTDOWN = 112, EHOSTUNREACH = 113, EALREADY = 114,
    EINPROGRESS = 115, EDQUOT = 122,
    EAI_BADFLAGS = -1, EAI_NONAME = -2, EAI_AGAIN = -3, EAI_FAIL = -4, EAI_NODATA = -5, EAI_FAMILY = -6, EAI_SOCKTYPE = -7,
    EAI_SERVICE = -8, EAI_MEMORY = -10, EAI_SYSTEM = -11,
}

constants! { c_short: POLLIN = 1, POLLOUT = 4, POLLRDNORM = 0x40 }
constants! { u32: PT_LOAD = 1, PT_INTERP = 3, PT_NOTE = 4, PT_TLS = 7, PT_GNU_RELRO = 0x6474_e552, PF_W = 2 }
constants! { size_t: SIG_DFL = 0, SIG_IGN = 1 }
constants! { u64: RLIM_INFINITY = u64::MAX }
constants! { c_ulong: AT_SYSINFO_EHDR = 33 }
constants! { mode_t: S_IXGRP = 0o10, S_ISGID = 0o2000, S_ISUID = 0o4000, S_IFIFO = 0o10_000, S_IFDIR = 0o40_000, S_IFBLK = 0o60_000, S_IFREG = 0o100_000, S_IFLNK = 0o120_000, S_IFSOCK = 0o140_000, S_IFMT = 0o170_000 }
constants! { c_uint:
    P_ALL = 0, P_PIDFD = 3,
    PTRACE_POKEUSER = 6, PTRACE_DETACH = 17, PTRACE_SEIZE = 0x4206, PTRACE_INTERRUPT = 0x4207,
}
constants! { *mut c_void:
    MAP_FAILED = ::std::ptr::without_provenance_mut(usize::MAX),
    RTLD_DEFAULT = ::std::ptr::null_mut(),
    RTLD_NEXT = ::std::ptr::without_provenance_mut(usize::MAX),
}

#[cfg(target_arch = "x86_64")]
constants! { c_long:
    SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_fstat = 5, SYS_rt_sigaction = 13, SYS_sched_yield = 24, SYS_nanosleep = 35, SYS_getpid = 39, SYS_futex = 202, SYS_exit_group = 231, SYS_openat = 257,
    SYS_connect = 42, SYS_sendto = 44, SYS_recvfrom = 45, SYS_sendmsg = 46, SYS_recvmsg = 47, SYS_getsockopt = 55,
    SYS_getdents64 = 217, SYS_recvmmsg = 299, SYS_sendmmsg = 307, SYS_gettid = 186, SYS_process_vm_readv = 310, SYS_getrandom = 318, SYS_clock_gettime = 228, SYS_execveat = 322, SYS_pidfd_open = 434,
}

#[cfg(not(target_arch = "x86_64"))]
constants! { c_long:
    SYS_openat = 56, SYS_close = 57, SYS_read = 63, SYS_write = 64, SYS_fstat = 80, SYS_exit_group = 94, SYS_futex = 98, SYS_nanosleep = 101, SYS_sched_yield = 124, SYS_rt_sigaction = 134, SYS_getpid = 172,
    SYS_getdents64 = 61, SYS_connect = 203, SYS_sendto = 206, SYS_recvfrom = 207, SYS_getsockopt = 209, SYS_sendmsg = 211,
    SYS_recvmsg = 212, SYS_recvmmsg = 243, SYS_sendmmsg = 269, SYS_gettid = 178, SYS_process_vm_readv = 270, SYS_getrandom = 278, SYS_clock_gettime = 113, SYS_execveat = 281, SYS_pidfd_open = 434,
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
    pub fn dladdr(address: *const c_void, info: *mut Dl_info) -> c_int;
    pub fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub fn dup2(file: c_int, number: c_int) -> c_int;
    pub fn fgetxattr(file: c_int, name: *const c_char, value: *mut c_void, size: size_t) -> isize;
    pub fn fork() -> pid_t;
    pub fn fstat64(file: c_int, stat: *mut stat64) -> c_int;
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

/// The first of the control messages of a message.
///
/// # Safety
/// `message` must have been written by `recvmsg`.
pub unsafe fn CMSG_FIRSTHDR(message: *const msghdr) -> *mut cmsghdr {
    // SAFETY: as the caller promises.
    let message = unsafe { &*message };
    if message.msg_controllen < size_of::<cmsghdr>() {
        return ::std::ptr::null_mut();
    }
    message.msg_control.cast()
}

/// What follows the header of a control message.
pub fn CMSG_DATA(header: *const cmsghdr) -> *mut c_uchar {
    header.wrapping_add(1).cast_mut().cast()
}

/// The length of a control message with so many bytes after its header.
pub const fn CMSG_LEN(len: c_uint) -> c_uint {
    size_of::<cmsghdr>() as c_uint + len
}

/// The control message after this one.
///
/// # Safety
/// As for [`CMSG_FIRSTHDR`], and the header must be one of its.
pub unsafe fn CMSG_NXTHDR(message: *const msghdr, header: *const cmsghdr) -> *mut cmsghdr {
    // SAFETY: as the caller promises.
    let (message, len) = unsafe { (&*message, (*header).cmsg_len) };
    let step = len.next_multiple_of(size_of::<usize>());
    let used = header.addr() - message.msg_control.addr();
    if len < size_of::<cmsghdr>()
        || step.saturating_add(used + size_of::<cmsghdr>()) > message.msg_controllen
    {
        return ::std::ptr::null_mut();
    }
    header.wrapping_byte_add(step).cast_mut()
}

#[cfg(test)]
mod tests;
