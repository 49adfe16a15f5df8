//! Pipes that this process inherited for its output. Their reader started the process and waits for
//! none of its threads. So a write to them is like one to a file: it may take real time, but no
//! other thread needs to run meanwhile.

use ::std::ffi::c_int;
use ::std::sync::atomic::{AtomicU64, Ordering};

use super::kernel;
use crate::libc;

const OUTPUTS: [c_int; 2] = [1, 2];

/// Device and inode number of the pipe of each output; zeros if it is no pipe.
static PIPES: [[AtomicU64; 2]; 2] = [const { [const { AtomicU64::new(0) }; 2] }; 2];

/// Records the pipes before `main`. Later, a test may replace them by pipes that its own threads
/// read.
pub(crate) fn prepare() {
    for (fd, [device, number]) in OUTPUTS.into_iter().zip(&PIPES) {
        let stat = kernel::stat(fd).filter(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFIFO);
        if let Some(stat) = stat {
            device.store(stat.st_dev, Ordering::Relaxed);
            number.store(stat.st_ino, Ordering::Relaxed);
        }
    }
}

/// Returns whether this is a pipe that the process inherited for its output.
pub(super) fn is_pipe(stat: &libc::stat64) -> bool {
    PIPES.iter().any(|[device, number]| {
        stat.st_dev == device.load(Ordering::Relaxed)
            && stat.st_ino == number.load(Ordering::Relaxed)
    })
}
