//! The names of what the system numbers.

/// The signals that programs use, by their numbers on most machines, from 1 on.
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

/// The limits, by their numbers, from 1 on.
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

/// The name of what has this number, from 1 on; the number where it has none, or is a name already.
pub(super) fn named_number(number: &str, names: &[&str]) -> String {
    let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let name = place.and_then(|place| names.get(place));
    (*name.unwrap_or(&number)).to_owned()
}
