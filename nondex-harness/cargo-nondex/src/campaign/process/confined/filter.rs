//! What a confined process may ask of the kernel.
//!
//! It may read, compute, start threads, sleep, and use what ends with it: memory, pipes, pairs of
//! sockets, timers. It may not create, open for writing, lock, rename or remove anything in a file
//! system, nor start a process, send a signal, or use the network.

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

/// The system calls that only the calling process notices, whatever their arguments. Executing a
/// file is among them: a confined process has to begin, and stays confined.
const HARMLESS: &[libc::c_long] = &[
    // Memory and threads.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mincore,
    libc::SYS_mlock,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munlock,
    libc::SYS_munmap,
    libc::SYS_futex,
    libc::SYS_get_robust_list,
    libc::SYS_getcpu,
    libc::SYS_rseq,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    // The process itself.
    libc::SYS_chdir,
    libc::SYS_execve,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fchdir,
    libc::SYS_getcwd,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getgroups,
    libc::SYS_getpgid,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpriority,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_getsid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_prctl,
    libc::SYS_sysinfo,
    libc::SYS_times,
    libc::SYS_umask,
    libc::SYS_uname,
    libc::SYS_wait4,
    libc::SYS_waitid,
    // Signals to itself, and time.
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_getitimer,
    libc::SYS_gettimeofday,
    libc::SYS_nanosleep,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_setitimer,
    libc::SYS_sigaltstack,
    libc::SYS_timer_create,
    libc::SYS_timer_delete,
    libc::SYS_timer_getoverrun,
    libc::SYS_timer_gettime,
    libc::SYS_timer_settime,
    // Reading, and writing to what could be opened: no file that exists.
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_copy_file_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_ftruncate,
    libc::SYS_getdents64,
    libc::SYS_lseek,
    libc::SYS_memfd_create,
    libc::SYS_newfstatat,
    libc::SYS_pipe2,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_pselect6,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_read,
    libc::SYS_readahead,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_sendfile,
    libc::SYS_signalfd4,
    libc::SYS_splice,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_tee,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_gettime,
    libc::SYS_timerfd_settime,
    libc::SYS_write,
    libc::SYS_writev,
    // Pairs of sockets: no other can be had.
    libc::SYS_getpeername,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    libc::SYS_socketpair,
];

/// Older forms of the same that this architecture has besides.
#[cfg(target_arch = "x86_64")]
const OLDER: &[libc::c_long] = &[
    libc::SYS_access,
    libc::SYS_alarm,
    libc::SYS_arch_prctl,
    libc::SYS_dup2,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_getdents,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_lstat,
    libc::SYS_pause,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_select,
    libc::SYS_signalfd,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[libc::c_long] = &[];

/// What asks for more than reading when a file is opened.
const CHANGES: libc::c_int = libc::O_WRONLY
    | libc::O_RDWR
    | libc::O_CREAT
    | libc::O_TRUNC
    | (libc::O_TMPFILE & !libc::O_DIRECTORY);

/// What may be done with a descriptor that ends with it: neither locks, nor leases, nor signals.
const DESCRIPTOR: &[libc::c_int] = &[
    libc::F_ADD_SEALS,
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_GETFL,
    libc::F_GETPIPE_SZ,
    libc::F_GET_SEALS,
    libc::F_SETFD,
    libc::F_SETFL,
    libc::F_SETPIPE_SZ,
];

/// Requests to a device that are allowed.
const DEVICE: &[libc::Ioctl] = &[
    libc::FIOCLEX,
    libc::FIONBIO,
    libc::FIONCLEX,
    libc::FIONREAD,
    libc::TCGETS,
    libc::TIOCGWINSZ,
];

/// The filters: the first one makes newer libraries start threads in the older way, whose flags can
/// be seen.
static FILTERS: LazyLock<Option<[BpfProgram; 2]>> = LazyLock::new(|| {
    if !is_action_known() {
        return None;
    }
    Some([without_clone3().ok()?, confinement().ok()?])
});

/// See [`confine`](super::confine).
pub(super) fn apply(command: &mut Command) -> bool {
    let Some(filters) = &*FILTERS else {
        return false;
    };
    let confine = move || {
        without_core_dump();
        for filter in filters {
            apply_filter(filter).map_err(|_| io::Error::from_raw_os_error(libc::ENOSYS))?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec it makes system calls, and takes no memory.
    unsafe { command.pre_exec(confine) };
    true
}

/// What ends a confined run is no crash. With room for one byte, a core dump goes neither to a file
/// nor to a program.
fn without_core_dump() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: it is written, and read.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_CORE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max.min(1);
            libc::setrlimit(libc::RLIMIT_CORE, &raw const limit);
        }
    }
}

/// Whether the kernel has filters that end a process.
fn is_action_known() -> bool {
    let action = libc::SECCOMP_RET_KILL_PROCESS;
    // SAFETY: the action is only read.
    let known = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_GET_ACTION_AVAIL,
            0,
            &raw const action,
        )
    };
    known == 0
}

/// Ends the process at everything that is not harmless.
fn confinement() -> Result<BpfProgram, seccompiler::Error> {
    let calls = HARMLESS.iter().chain(OLDER).map(|call| (*call, Vec::new()));
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = calls.collect();
    let reads = |flags| argument(flags, SeccompCmpOp::MaskedEq(bits(CHANGES)), 0);
    // The record of the run is of this process only.
    let is_record = |mode| argument(mode, SeccompCmpOp::Eq, u64::from(RECORD_MODE));
    rules.insert(libc::SYS_openat, vec![reads(2)?, is_record(3)?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, vec![reads(1)?, is_record(2)?]);
    let thread = bits(libc::CLONE_THREAD);
    let is_thread = argument(0, SeccompCmpOp::MaskedEq(thread), thread)?;
    rules.insert(libc::SYS_clone, vec![is_thread]);
    // The other filter has it fail.
    rules.insert(libc::SYS_clone3, Vec::new());
    // To whom a pair of sockets is connected.
    let is_connected = argument(4, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_sendto, vec![is_connected]);
    // Limits of this process.
    let is_own = argument(0, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![is_own]);
    let commands = DESCRIPTOR.iter();
    let commands = commands.map(|command| argument(1, SeccompCmpOp::Eq, bits(*command)));
    rules.insert(libc::SYS_fcntl, commands.collect::<Result<_, _>>()?);
    let requests = DEVICE.iter();
    let requests = requests.map(|request| argument(1, SeccompCmpOp::Eq, *request));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    compile(rules, SeccompAction::KillProcess, SeccompAction::Allow)
}

/// `clone3` is what the kernel does not know, as before Linux 5.3: its flags are in memory, where a
/// filter cannot look.
fn without_clone3() -> Result<BpfProgram, seccompiler::Error> {
    let rules = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let unknown = SeccompAction::Errno(libc::ENOSYS as u32);
    compile(rules, SeccompAction::Allow, unknown)
}

fn compile(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    otherwise: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, seccompiler::Error> {
    let architecture = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, otherwise, listed, architecture)?;
    Ok(filter.try_into()?)
}

/// A call with such an argument, of 32 bits.
fn argument(
    number: u8,
    operation: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::Error> {
    let condition = SeccompCondition::new(number, SeccompCmpArgLen::Dword, operation, value)?;
    Ok(SeccompRule::new(vec![condition])?)
}

/// Flags as an argument of a system call has them.
const fn bits(flags: libc::c_int) -> u64 {
    flags as u32 as u64
}
