//! System calls that a confined process may make.
//!
//! It may read, compute, start threads, sleep, and use resources that end with it: memory, pipes,
//! socket pairs, timers. It may not create, open for writing, lock, rename or remove anything in a
//! file system. It may not start a process, send a signal, or use the network.

#![expect(
    unsafe_code,
    reason = "what is done between fork and exec, which only std's unsafe function can do"
)]

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::LazyLock;

use nix::libc;
use nondex_core::channel::RECORD_MODE;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

/// List of constants of libc by their names.
macro_rules! named {
    ($($name:ident)*) => { &[$(libc::$name),*] };
}

/// System calls that only the calling process notices, whatever their arguments. Executing a file
/// is among them, because every confined process begins with it. The process stays confined.
const HARMLESS: &[libc::c_long] = named![
    // Memory and threads.
    SYS_brk SYS_madvise SYS_membarrier SYS_mincore SYS_mlock SYS_mmap SYS_mprotect SYS_mremap
    SYS_munlock SYS_munmap SYS_futex SYS_get_robust_list SYS_getcpu SYS_rseq SYS_sched_getaffinity
    SYS_sched_getparam SYS_sched_getscheduler SYS_sched_yield SYS_set_robust_list
    SYS_set_tid_address
    // The process itself.
    SYS_chdir SYS_execve SYS_exit SYS_exit_group SYS_fchdir SYS_getcwd SYS_getegid SYS_geteuid
    SYS_getgid SYS_getgroups SYS_getpgid SYS_getpid SYS_getppid SYS_getpriority SYS_getrandom
    SYS_getrusage SYS_getsid SYS_gettid SYS_getuid SYS_prctl SYS_sysinfo SYS_times SYS_umask
    SYS_uname SYS_wait4 SYS_waitid
    // Signals to itself, and time.
    SYS_clock_getres SYS_clock_gettime SYS_clock_nanosleep SYS_getitimer SYS_gettimeofday
    SYS_nanosleep SYS_restart_syscall SYS_rt_sigaction SYS_rt_sigpending SYS_rt_sigprocmask
    SYS_rt_sigreturn SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_setitimer SYS_sigaltstack
    SYS_timer_create SYS_timer_delete SYS_timer_getoverrun SYS_timer_gettime SYS_timer_settime
    // Reading, and writing to open descriptors. No existing file can be opened for writing.
    SYS_close SYS_close_range SYS_copy_file_range SYS_dup SYS_dup3 SYS_epoll_create1 SYS_epoll_ctl
    SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_faccessat SYS_faccessat2 SYS_fadvise64
    SYS_fallocate SYS_fstat SYS_fstatfs SYS_ftruncate SYS_getdents64 SYS_lseek SYS_memfd_create
    SYS_newfstatat SYS_pipe2 SYS_ppoll SYS_pread64 SYS_preadv SYS_pselect6 SYS_pwrite64 SYS_pwritev
    SYS_read SYS_readahead SYS_readlinkat SYS_readv SYS_sendfile SYS_signalfd4 SYS_splice SYS_statfs
    SYS_statx SYS_tee SYS_timerfd_create SYS_timerfd_gettime SYS_timerfd_settime SYS_write
    SYS_writev
    // Socket pairs. No other sockets can be created.
    SYS_getpeername SYS_getsockname SYS_getsockopt SYS_recvfrom SYS_recvmsg SYS_setsockopt
    SYS_shutdown SYS_socketpair
];

/// Older variants of these calls, which only this architecture has.
#[cfg(target_arch = "x86_64")]
const OLDER: &[libc::c_long] = named![
    SYS_access SYS_alarm SYS_arch_prctl SYS_dup2 SYS_epoll_create SYS_epoll_wait SYS_eventfd
    SYS_getdents SYS_getpgrp SYS_getrlimit SYS_lstat SYS_pause SYS_pipe SYS_poll SYS_readlink
    SYS_select SYS_signalfd SYS_stat SYS_time
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[libc::c_long] = &[];

/// Flags that open a file for more than reading.
const CHANGES: libc::c_int = libc::O_WRONLY
    | libc::O_RDWR
    | libc::O_CREAT
    | libc::O_TRUNC
    | (libc::O_TMPFILE & !libc::O_DIRECTORY);

/// Commands of `fcntl` whose effects end with the descriptor: no locks, leases or signals.
const DESCRIPTOR: &[libc::c_int] = named![
    F_ADD_SEALS F_DUPFD F_DUPFD_CLOEXEC F_GETFD F_GETFL F_GETPIPE_SZ F_GET_SEALS F_SETFD F_SETFL
    F_SETPIPE_SZ
];

/// Requests of `ioctl` that are allowed.
const DEVICE: &[libc::Ioctl] = named![
    FIOCLEX FIONBIO FIONCLEX FIONREAD TCGETS TIOCGWINSZ
];

/// Filters of a confined process, or `None` if the kernel does not support them. The first one
/// makes newer libraries start threads with `clone`, whose flags a filter can read.
static FILTERS: LazyLock<Option<[BpfProgram; 2]>> = LazyLock::new(|| {
    if !is_action_known() {
        return None;
    }
    Some([without_clone3().ok()?, confinement().ok()?])
});

/// Implements [`confine`](super::confine).
pub(super) fn apply(command: &mut Command) -> bool {
    let Some(filters) = &*FILTERS else { return false };
    let confine = move || {
        without_core_dump();
        for filter in filters {
            apply_filter(filter).map_err(|_| io::Error::from_raw_os_error(libc::ENOSYS))?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec, the closure only makes system calls and allocates no memory.
    unsafe { command.pre_exec(confine) };
    true
}

/// Prevents core dumps: a confined run that a filter ends has not crashed. With a limit of one
/// byte, a core dump goes neither to a file nor to a program.
fn without_core_dump() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the calls only write and read `limit`.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max.min(1);
            libc::setrlimit(libc::RLIMIT_CORE, &raw const limit);
        }
    }
}

/// Returns whether the kernel supports filters that end a process.
fn is_action_known() -> bool {
    let action = libc::SECCOMP_RET_KILL_PROCESS;
    // SAFETY: the kernel only reads the action.
    let known = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action)
    };
    known == 0
}

/// Returns the filter that ends the process at every call that is not harmless.
fn confinement() -> Result<BpfProgram, seccompiler::Error> {
    let calls = HARMLESS.iter().chain(OLDER).map(|call| (*call, Vec::new()));
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = calls.collect();
    let reads = |flags| argument(flags, SeccompCmpOp::MaskedEq(bits(CHANGES)), 0);
    // The record of the run may be opened for writing: only this process uses it. Its mode
    // identifies it.
    let is_record = |mode| argument(mode, SeccompCmpOp::Eq, u64::from(RECORD_MODE));
    rules.insert(libc::SYS_openat, vec![reads(2)?, is_record(3)?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, vec![reads(1)?, is_record(2)?]);
    let thread = bits(libc::CLONE_THREAD);
    let is_thread = argument(0, SeccompCmpOp::MaskedEq(thread), thread)?;
    rules.insert(libc::SYS_clone, vec![is_thread]);
    // Of two filters, the more severe action wins. Without this rule, `clone3` would end the
    // process instead of failing.
    rules.insert(libc::SYS_clone3, Vec::new());
    // Without an address, the data goes to the other end of the socket pair.
    let is_connected = argument(4, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_sendto, vec![is_connected]);
    // Process id 0 means this process.
    let is_own = argument(0, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![is_own]);
    let commands = DESCRIPTOR.iter().map(|command| argument(1, SeccompCmpOp::Eq, bits(*command)));
    rules.insert(libc::SYS_fcntl, commands.collect::<Result<_, _>>()?);
    let requests = DEVICE.iter().map(|request| argument(1, SeccompCmpOp::Eq, *request));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    compile(rules, SeccompAction::KillProcess, SeccompAction::Allow)
}

/// Returns the filter that makes `clone3` fail as unknown, as before Linux 5.3. Its flags are in
/// memory, which a filter cannot read.
fn without_clone3() -> Result<BpfProgram, seccompiler::Error> {
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let unknown = SeccompAction::Errno(libc::ENOSYS as u32);
    compile(rules, SeccompAction::Allow, unknown)
}

/// Compiles rules for this architecture. `listed` is the action for calls with a matching rule, and
/// `otherwise` the one for all others.
fn compile(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, seccompiler::Error> {
    let architecture = std::env::consts::ARCH.try_into()?;
    Ok(SeccompFilter::new(rules, otherwise, listed, architecture)?.try_into()?)
}

/// Returns the rule for calls whose 32-bit argument `number` fulfils this condition.
fn argument(
    number: u8,
    operation: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::Error> {
    let condition = SeccompCondition::new(number, SeccompCmpArgLen::Dword, operation, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}

/// Returns flags in the form of a system call's argument.
const fn bits(flags: libc::c_int) -> u64 {
    flags as u32 as u64
}
