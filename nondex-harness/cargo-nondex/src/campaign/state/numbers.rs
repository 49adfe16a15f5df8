//! Names of signals and resource limits, by their numbers in the system.

/// Names of the signals that programs use, by their numbers on most machines, from 1.
pub(super) const SIGNALS: [&str; 17] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
];

/// Names of the resource limits, by their numbers, from 1.
pub(super) const LIMITS: [&str; 15] = [
    "RLIMIT_FSIZE",
    "RLIMIT_DATA",
    "RLIMIT_STACK",
    "RLIMIT_CORE",
    "RLIMIT_RSS",
    "RLIMIT_NPROC",
    "RLIMIT_NOFILE",
    "RLIMIT_MEMLOCK",
    "RLIMIT_AS",
    "RLIMIT_LOCKS",
    "RLIMIT_SIGPENDING",
    "RLIMIT_MSGQUEUE",
    "RLIMIT_NICE",
    "RLIMIT_RTPRIO",
    "RLIMIT_RTTIME",
];

/// Returns the name with this number, from 1. Returns `number` itself if it has no name or is not a
/// number.
pub(super) fn named_number(number: &str, names: &[&str]) -> String {
    let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let name = place.and_then(|place| names.get(place));
    (*name.unwrap_or(&number)).to_owned()
}
