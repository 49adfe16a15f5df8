//! The variant for systems on which functions of libc are interposed.

use nondex_core::Caller;
pub(crate) use nondex_interpose::given::given;

/// Returns the caller of a shim that has no call site in the project: see
/// [`origin`](nondex_interpose::origin).
pub(crate) fn hidden_caller() -> Option<Caller> {
    Some(nondex_interpose::origin::caller())
}

/// Directories: the interposed `readdir` arranges them, also for `Path::read_dir`.
pub(crate) mod fs {
    use ::std::io;
    use ::std::path::Path;

    pub use ::std::fs::ReadDir;

    use nondex_interpose::{directory, file_times};

    /// As [`::std::fs::read`]. The times of the file are no choice: only its size is used.
    ///
    /// # Errors
    /// As std's.
    pub fn read<P: AsRef<Path>>(path: P) -> io::Result<Vec<u8>> {
        let _copying = file_times::copying();
        ::std::fs::read(path)
    }

    /// As [`::std::fs::read_to_string`], and as [`read`].
    ///
    /// # Errors
    /// As std's.
    pub fn read_to_string<P: AsRef<Path>>(path: P) -> io::Result<String> {
        let _copying = file_times::copying();
        ::std::fs::read_to_string(path)
    }

    /// As [`::std::fs::copy`], and as [`read`].
    ///
    /// # Errors
    /// As std's.
    pub fn copy<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> io::Result<u64> {
        let _copying = file_times::copying();
        ::std::fs::copy(from, to)
    }

    /// Mirrors [`::std::fs::read_dir`], in the order that the run decides.
    ///
    /// # Errors
    /// Returns the errors of std's function.
    #[track_caller]
    pub fn read_dir<P: AsRef<Path>>(path: P) -> io::Result<ReadDir> {
        let _caller = directory::called_by(crate::caller::caller());
        ::std::fs::read_dir(path)
    }

    /// Mirrors [`::std::fs::remove_dir_all`]. The order in which a tree is removed is not a choice,
    /// because it cannot be observed.
    ///
    /// # Errors
    /// Returns the errors of std's function.
    pub fn remove_dir_all<P: AsRef<Path>>(path: P) -> io::Result<()> {
        let _removing = directory::removing();
        ::std::fs::remove_dir_all(path)
    }
}

/// Threads: the interposed `pthread_create` observes every start, and the clock every sleep.
pub(crate) mod thread {
    pub use ::std::thread::{Builder, Scope, park_timeout, scope, sleep, spawn};
}

mod start {
    use ::std::ffi::c_int;

    use nondex_interpose::given::Words;

    /// The first code of the runtime in a process. Its priority places it after std's own
    /// initialiser, which provides the arguments. The program's initialisers, which may read a
    /// clock, follow.
    #[expect(unsafe_code, reason = "the loader finds it by its section")]
    #[used]
    #[unsafe(link_section = ".init_array.00100")]
    static START: extern "C" fn(c_int, Words, Words) = {
        extern "C" fn start(_: c_int, arguments: Words, variables: Words) {
            // SAFETY: the dynamic loader runs initialisers on the only thread of the process. (A
            // library initialised earlier could have started one; it would have to read the
            // environment in this very moment.)
            unsafe { nondex_interpose::begin(arguments, variables) }
        }
        start
    };
}
