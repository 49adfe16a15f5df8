//! Descriptors: a thread that would wait for one in the kernel lets other threads run until it is
//! ready.
//!
//! The other end may belong to another thread of the test, which runs only if this one does not
//! block in the kernel. So a call is made once it can be done immediately. A write of more bytes
//! than fit is split into pieces, as the kernel does it.

use ::std::ffi::{c_char, c_int, c_void};

use nondex_core::{Source, StateKind, context};

use super::readiness::{Direction, Kind, deadline, is_ready, kind, waits};
use super::shared::{LEASE, tick};
use super::{
    Object, Operation, Woken, filter, outside, point, point_after, point_on, stamps, wait_for,
};
use crate::{Errno, errno, failed, libc, originals, own};

/// Flag of a call that waits until all requested bytes are there.
pub(crate) const WAITS_FOR_ALL: c_int = libc::MSG_WAITALL;

/// Number of bytes that fit into a pipe that is reported as ready (`PIPE_BUF`).
const PIECE: usize = 4096;

/// Returns whether the calls of this thread are scheduled. Those of the tool's own code are not.
#[inline]
pub(crate) fn is_scheduled() -> bool {
    super::is_on() && !own::is_working()
}

/// Duration of a kernel call, in nanoseconds of virtual time, in addition to that of every
/// operation. It is longer than that of an atomic operation. So a thread that only makes calls
/// keeps the run token no longer than it would run on a real machine.
const CALL: u64 = 2_000;

/// Advances virtual time for a kernel call that this thread, which is scheduled, is about to make.
pub(super) fn call_takes_time() {
    LEASE.pass(CALL);
    tick();
}

/// Marks an operation on a file, a directory, or the environment.
#[inline]
pub(crate) fn file(kind: StateKind, writes: bool, name: *const c_char) {
    if is_scheduled() {
        call_takes_time();
        if writes && kind == StateKind::File {
            stamps::written();
        }
        point_on(Operation::File, Object::State(kind, writes, name));
    }
}

/// Waits until a descriptor is ready. Fails with `EAGAIN` when its time limit is over, and with
/// `EINTR` after a signal.
fn wait(operation: Operation, fd: c_int, direction: Direction) -> Result<(), c_int> {
    let deadline = deadline(fd, direction);
    let mut is_ready = || is_ready(fd, direction.events());
    let object = Object::Descriptor(fd, direction == Direction::Out);
    match wait_for(operation, object, deadline, &mut is_ready) {
        Woken::Time => Err(libc::EAGAIN),
        Woken::Signal => Err(libc::EINTR),
        Woken::Done | Woken::Free => Ok(()),
    }
}

/// Makes a call that waits until `fd` is readable, unless `flags` has `MSG_DONTWAIT`.
#[inline]
pub(crate) fn read(fd: c_int, flags: c_int, next: impl Fn() -> isize) -> isize {
    if !is_scheduled() {
        return next();
    }
    receive(Operation::Read, fd, flags, &next)
}

/// Makes a call that accepts a connection, as [`read`] does.
#[inline]
pub(crate) fn accept(fd: c_int, next: impl Fn() -> c_int) -> c_int {
    if !is_scheduled() {
        return next();
    }
    receive(Operation::Accept, fd, 0, &|| next() as isize) as c_int
}

#[cold]
fn receive(operation: Operation, fd: c_int, flags: c_int, call: &dyn Fn() -> isize) -> isize {
    call_takes_time();
    if filter::is_there() {
        // The writer may be a thread of the test, which must run meanwhile.
        return outside(operation, call);
    }
    if flags & (libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE) != 0 || kind(fd).is_ready() {
        point_on(operation, Object::Descriptor(fd, false));
        return call();
    }
    if flags & libc::MSG_WAITALL != 0 {
        return outside(operation, call);
    }
    match wait(operation, fd, Direction::In) {
        Ok(()) => call(),
        Err(error) => failed(error) as isize,
    }
}

/// Makes a call that writes or sends these bytes to `fd`.
///
/// # Safety
/// The buffer must be valid for reads.
#[inline]
pub(crate) unsafe fn write(
    fd: c_int,
    buffer: *const c_void,
    len: usize,
    flags: c_int,
    next: impl Fn() -> isize,
) -> isize {
    if !is_scheduled() {
        return next();
    }
    // SAFETY: as the caller promises.
    unsafe {
        write_when_ready(
            fd,
            &[libc::iovec { iov_base: buffer.cast_mut(), iov_len: len }],
            flags,
            &next,
        )
    }
}

/// Makes a call that writes several buffers, as [`write()`] does.
///
/// # Safety
/// The list must be null or have this number of buffers, each valid for reads.
#[inline]
pub(crate) unsafe fn write_vectored(
    fd: c_int,
    buffers: *const libc::iovec,
    count: c_int,
    flags: c_int,
    next: impl Fn() -> isize,
) -> isize {
    if !is_scheduled() {
        return next();
    }
    let buffers = if buffers.is_null() {
        &[]
    } else {
        let count = usize::try_from(count).unwrap_or(0);
        // SAFETY: as the caller promises.
        unsafe { ::std::slice::from_raw_parts(buffers, count) }
    };
    // SAFETY: as the caller promises.
    unsafe { write_when_ready(fd, buffers, flags, &next) }
}

/// Makes a call that sends a message to `fd`'s peer, or to another address.
#[inline]
pub(crate) fn send_message(fd: c_int, flags: c_int, next: impl Fn() -> isize) -> isize {
    if !is_scheduled() {
        return next();
    }
    // SAFETY: there is no buffer.
    unsafe { write_when_ready(fd, &[], flags, &next) }
}

/// Makes a write once the descriptor is ready, in pieces where the kernel would split it, too.
///
/// # Safety
/// The buffers must be valid for reads.
#[cold]
unsafe fn write_when_ready(
    fd: c_int,
    buffers: &[libc::iovec],
    flags: c_int,
    call: &dyn Fn() -> isize,
) -> isize {
    call_takes_time();
    let kind = if flags & libc::MSG_DONTWAIT == 0 { kind(fd) } else { Kind::Ready };
    if kind.is_ready() {
        if kind == Kind::File {
            stamps::written();
        }
        // Between a file's creation and its first bytes others may see it.
        point_on(Operation::Write, Object::Descriptor(fd, true));
        let result = call();
        let _errno = Errno::save();
        point_after(Operation::Write, Object::Descriptor(fd, true));
        return result;
    }
    if let Err(error) = wait(Operation::Write, fd, Direction::Out) {
        return failed(error) as isize;
    }
    let len: usize = buffers.iter().map(|buffer| buffer.iov_len).sum();
    let result = match kind {
        Kind::Pipe if len > PIECE => {
            // SAFETY: as the caller promises.
            unsafe { write_pieces(fd, buffers, PIECE, &|at, len| write_piece(fd, at, len)) }
        }
        Kind::Stream if len > 0 => {
            // SAFETY: as the caller promises.
            unsafe {
                write_pieces(fd, buffers, usize::MAX, &|at, len| send_piece(fd, at, len, flags))
            }
        }
        _ => call(),
    };
    let _errno = Errno::save();
    point_after(Operation::Write, Object::Descriptor(fd, true));
    result
}

/// Writes all of the buffers by calls that do not wait, each when the descriptor is ready. As in
/// the kernel, an error is returned only if nothing was written before it.
///
/// # Safety
/// The buffers must be valid for reads.
unsafe fn write_pieces(
    fd: c_int,
    buffers: &[libc::iovec],
    piece: usize,
    write: &dyn Fn(*const c_void, usize) -> isize,
) -> isize {
    let mut done = 0;
    for buffer in buffers {
        let mut of_buffer = 0;
        while of_buffer < buffer.iov_len {
            let len = (buffer.iov_len - of_buffer).min(piece);
            // SAFETY: it is within the buffer.
            let at = unsafe { buffer.iov_base.byte_add(of_buffer) };
            match write(at, len) {
                written if written >= 0 => of_buffer += written as usize,
                _ if errno() == libc::EAGAIN => {}
                _ if done + of_buffer > 0 => return (done + of_buffer) as isize,
                error => return error,
            }
            if of_buffer == buffer.iov_len {
                break;
            }
            match wait(Operation::Write, fd, Direction::Out) {
                Ok(()) => {}
                Err(_) if done + of_buffer > 0 => return (done + of_buffer) as isize,
                Err(error) => return failed(error) as isize,
            }
        }
        done += of_buffer;
    }
    done as isize
}

fn write_piece(fd: c_int, at: *const c_void, len: usize) -> isize {
    // SAFETY: the bytes are within a buffer of the caller.
    originals::write.get().map_or(-1, |write| unsafe { write(fd, at, len) })
}

fn send_piece(fd: c_int, at: *const c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: the bytes are within a buffer of the caller.
    originals::send
        .get()
        .map_or(-1, |send| unsafe { send(fd, at, len, flags | libc::MSG_DONTWAIT) })
}

/// Makes a call that connects `fd`. A connection within this machine completes immediately; any
/// other waits for an answer from outside.
#[inline]
pub(crate) fn connect(fd: c_int, is_local: bool, next: impl FnOnce() -> c_int) -> c_int {
    if !is_scheduled() {
        return next();
    }
    call_takes_time();
    if is_local || !waits(fd) {
        point(Operation::Connect);
        return next();
    }
    outside(Operation::Connect, next)
}

/// Fails with `ENOSYS` for a scheduled thread, as on an old kernel: such a timer would expire in
/// real time. Most callers then use another way to wait.
pub(crate) fn refuse_timer(next: impl FnOnce() -> c_int) -> c_int {
    if !is_scheduled() {
        return next();
    }
    // The clock is recorded as a source, so a test without another way is judged with real time.
    if own::is_initialized() {
        context::note_source(Source::Clock);
    }
    failed(libc::ENOSYS)
}

/// Waits for the lock of a file in the scheduler if this thread is scheduled.
pub(crate) fn lock_file(fd: c_int, operation: c_int, next: impl Fn(c_int) -> c_int) -> c_int {
    /// Flag that makes the call fail instead of waiting for the lock (`LOCK_NB`).
    const NOT_WAITING: c_int = 4;
    if !is_scheduled() || operation & NOT_WAITING != 0 {
        return next(operation);
    }
    let mut error = 0;
    let mut is_taken = || {
        let is_taken = next(operation | NOT_WAITING) == 0;
        error = if is_taken { 0 } else { errno() };
        error != libc::EAGAIN
    };
    let object = Object::Descriptor(fd, true);
    match wait_for(Operation::File, object, None, &mut is_taken) {
        Woken::Free => next(operation),
        Woken::Signal => failed(libc::EINTR),
        _ if error == 0 => 0,
        _ => failed(error),
    }
}
