//! Constants of the C library and of the kernel.

use ::std::ffi::{c_int, c_long, c_short, c_uint, c_ulong, c_void};

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
    CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 1, CLOCK_MONOTONIC_RAW = 4, CLOCK_REALTIME_COARSE = 5,
    CLOCK_MONOTONIC_COARSE = 6, CLOCK_BOOTTIME = 7, CLOCK_TAI = 11,
    EPOLLIN = 1, EPOLL_CTL_DEL = 2,
    F_GETFL = 3,
    MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 0x10, MAP_ANONYMOUS = 0x20,
    MSG_DONTWAIT = 0x40, MSG_WAITALL = 0x100, MSG_ERRQUEUE = 0x2000,
    NI_NUMERICHOST = 1,
    O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0o100, O_TRUNC = 0o1000, O_NONBLOCK = 0o4000,
    O_CLOEXEC = 0o2_000_000, O_PATH = 0o10_000_000,
    PATH_MAX = 4096,
    PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2,
    PR_SET_PDEATHSIG = 1, PR_SET_SECCOMP = 22, PR_SET_TSC = 26, PR_TSC_ENABLE = 1,
    PR_TSC_SIGSEGV = 2, PR_SET_PTRACER = 0x5961_6d61, PR_SET_CHILD_SUBREAPER = 36,
    PR_GET_CHILD_SUBREAPER = 37,
    SCM_RIGHTS = 1,
    SEEK_CUR = 1,
    SA_SIGINFO = 4, SA_ONSTACK = 0x800_0000, SA_RESTART = 0x1000_0000, SA_NODEFER = 0x4000_0000,
    SIG_BLOCK = 0, SIG_SETMASK = 2, SIGILL = 4, SIGTRAP = 5, SIGBUS = 7, SIGFPE = 8, SIGKILL = 9,
    SIGSEGV = 11, SIGCHLD = 17,
    SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_NONBLOCK = 0o4000, SOCK_CLOEXEC = 0o2_000_000,
    SOL_SOCKET = 1, SO_TYPE = 3, SO_ERROR = 4, SO_RCVTIMEO = 20, SO_SNDTIMEO = 21,
    SO_ACCEPTCONN = 30, SO_DOMAIN = 39,
    WNOHANG = 1, WEXITED = 4, WNOWAIT = 0x100_0000,
    X_OK = 1,
    __WALL = 0x4000_0000,
}

constants! { c_int:
    EPERM = 1, ENOENT = 2, EINTR = 4, EIO = 5, ENXIO = 6, E2BIG = 7, ENOEXEC = 8, EBADF = 9,
    ECHILD = 10, EAGAIN = 11, ENOMEM = 12,
    EACCES = 13, EFAULT = 14, EBUSY = 16, EEXIST = 17, ENODEV = 19, ENOTDIR = 20, EISDIR = 21,
    EINVAL = 22, ENFILE = 23,
    EMFILE = 24, ETXTBSY = 26, EFBIG = 27, ENOSPC = 28, EROFS = 30, EPIPE = 32, ERANGE = 34,
    ENAMETOOLONG = 36, ENOSYS = 38,
    ELOOP = 40, ENOTSOCK = 88, EDESTADDRREQ = 89, EMSGSIZE = 90, EPROTOTYPE = 91,
    EAFNOSUPPORT = 97, EADDRINUSE = 98,
    EADDRNOTAVAIL = 99, ENETDOWN = 100, ENETUNREACH = 101, ENETRESET = 102, ECONNABORTED = 103,
    ECONNRESET = 104, ENOBUFS = 105,
    EISCONN = 106, ENOTCONN = 107, ETIMEDOUT = 110, ECONNREFUSED = 111, EHOSTDOWN = 112,
    EHOSTUNREACH = 113, EALREADY = 114,
    EINPROGRESS = 115, EDQUOT = 122,
    EAI_BADFLAGS = -1, EAI_NONAME = -2, EAI_AGAIN = -3, EAI_FAIL = -4, EAI_NODATA = -5,
    EAI_FAMILY = -6, EAI_SOCKTYPE = -7,
    EAI_SERVICE = -8, EAI_MEMORY = -10, EAI_SYSTEM = -11,
}

constants! { c_short: POLLIN = 1, POLLOUT = 4, POLLRDNORM = 0x40 }
constants! { u32: PT_LOAD = 1, PT_INTERP = 3, PT_NOTE = 4, PT_GNU_RELRO = 0x6474_e552,
PF_W = 2 }
constants! { c_long: PROC_SUPER_MAGIC = 0x9fa0 }
constants! { usize: SIG_DFL = 0, SIG_IGN = 1 }
constants! { u64: RLIM_INFINITY = u64::MAX }
constants! { c_ulong: AT_SYSINFO_EHDR = 33 }
constants! { u32: S_IXGRP = 0o10, S_ISGID = 0o2000, S_ISUID = 0o4000, S_IFIFO = 0o10_000,
S_IFDIR = 0o40_000, S_IFBLK = 0o60_000, S_IFREG = 0o100_000, S_IFLNK = 0o120_000,
S_IFSOCK = 0o140_000, S_IFMT = 0o170_000 }
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
constants! { c_int:
    O_NOFOLLOW = 0o400_000,
}

#[cfg(not(target_arch = "x86_64"))]
constants! { c_int:
    O_NOFOLLOW = 0o100_000,
}

#[cfg(target_arch = "x86_64")]
constants! { c_long:
    SYS_read = 0, SYS_write = 1, SYS_close = 3, SYS_fstat = 5, SYS_rt_sigaction = 13,
    SYS_sched_yield = 24, SYS_nanosleep = 35, SYS_prctl = 157, SYS_seccomp = 317, SYS_futex = 202,
    SYS_exit_group = 231, SYS_openat = 257,
    SYS_getcwd = 79, SYS_getpid = 39, SYS_getppid = 110, SYS_getpgid = 121, SYS_getsid = 124,
    SYS_connect = 42, SYS_sendto = 44, SYS_recvfrom = 45, SYS_sendmsg = 46, SYS_recvmsg = 47,
    SYS_getsockopt = 55,
    SYS_getdents64 = 217, SYS_recvmmsg = 299, SYS_sendmmsg = 307, SYS_gettid = 186,
    SYS_tgkill = 234, SYS_waitid = 247, SYS_readlinkat = 267, SYS_process_vm_readv = 310,
    SYS_getrandom = 318, SYS_clock_gettime = 228, SYS_execveat = 322, SYS_pidfd_open = 434,
    SYS_sched_setaffinity = 203, SYS_sched_getaffinity = 204, SYS_getcpu = 309,
}

#[cfg(not(target_arch = "x86_64"))]
constants! { c_long:
    SYS_openat = 56, SYS_close = 57, SYS_read = 63, SYS_write = 64, SYS_fstat = 80,
    SYS_exit_group = 94, SYS_futex = 98, SYS_nanosleep = 101, SYS_sched_yield = 124,
    SYS_rt_sigaction = 134, SYS_prctl = 167, SYS_seccomp = 277,
    SYS_getcwd = 17, SYS_getpid = 172, SYS_getppid = 173, SYS_getpgid = 155, SYS_getsid = 156,
    SYS_getdents64 = 61, SYS_connect = 203, SYS_sendto = 206, SYS_recvfrom = 207,
    SYS_getsockopt = 209, SYS_sendmsg = 211,
    SYS_recvmsg = 212, SYS_recvmmsg = 243, SYS_sendmmsg = 269, SYS_gettid = 178, SYS_tgkill = 131,
    SYS_waitid = 95, SYS_readlinkat = 78, SYS_process_vm_readv = 270, SYS_getrandom = 278,
    SYS_clock_gettime = 113, SYS_execveat = 281, SYS_pidfd_open = 434,
    SYS_sched_setaffinity = 122, SYS_sched_getaffinity = 123, SYS_getcpu = 168,
}
