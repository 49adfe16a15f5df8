//! Descriptors: a thread that would wait for one in the kernel lets the others run until it is ready.
//!
//! What is on the other side may be another thread of the test, which comes to it only if this one does not wait in the kernel. So a
//! call is made when it can be done at once; more bytes than fit are written piece by piece, as the kernel does it.

use ::std::ffi::{c_char, c_int, c_short, c_void};
use ::std::sync::atomic::Ordering;

use nondex_core::StateKind;

use super::shared::{NOW, tick};
use super::{
    Object, Operation, Woken, kernel, now, outside, point, point_after, point_on, stamps, wait_for,
};
use crate::{Errno, errno, libc, original, own, set_errno};

/// What is said of a call that waits until everything is there that was asked for.
pub(crate) const WAITS_FOR_ALL: c_int = libc::MSG_WAITALL;

type Fcntl = unsafe extern "C" fn(c_int, c_int, ...) -> c_int;
type Poll = unsafe extern "C" fn(*mut libc::pollfd, libc::nfds_t, c_int) -> c_int;
type Getsockopt =
    unsafe extern "C" fn(c_int, c_int, c_int, *mut c_void, *mut libc::socklen_t) -> c_int;
type Send = unsafe extern "C" fn(c_int, *const c_void, usize, c_int) -> isize;
type Write = unsafe extern "C" fn(c_int, *const c_void, usize) -> isize;

/// So many bytes fit into a pipe that is said to be ready (`PIPE_BUF`).
const PIECE: usize = 4096;

/// What a descriptor is, as far as waiting for it is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Nobody waits for it: a file or a folder.
    File,
    /// Nor for this: one that was told not to wait, or none.
    Ready,
    Pipe,
    /// A socket of a stream.
    Stream,
    /// Another socket, an event counter, a terminal.
    Other,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}

impl Kind {
    const fn is_ready(self) -> bool {
        matches!(self, Kind::File | Kind::Ready)
    }
}

impl Direction {
    const fn events(self) -> c_short {
        match self {
            Direction::In => libc::POLLIN,
            Direction::Out => libc::POLLOUT,
        }
    }

    const fn time_limit(self) -> c_int {
        match self {
            Direction::In => libc::SO_RCVTIMEO,
            Direction::Out => libc::SO_SNDTIMEO,
        }
    }
}

/// Whether the calls of this thread are scheduled: not when our own work makes them.
#[inline]
pub(crate) fn is_scheduled() -> bool {
    super::is_on() && !own::is_working()
}

/// How long a call of the kernel takes, in nanoseconds of virtual time, beside what every operation does. It is more than that of an
/// atomic, so that a thread that makes calls only has its turn no longer than it would have on a machine.
const CALL: u64 = 2_000;

/// Lets time pass for a call of the kernel that this thread, which is scheduled, is about to make.
pub(super) fn call_takes_time() {
    NOW.fetch_add(CALL, Ordering::Relaxed);
    tick();
}

/// An operation on a file, a folder, or the environment.
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

fn kind(fd: c_int) -> Kind {
    let Some(mode) = kernel::mode(fd) else {
        return Kind::Ready;
    };
    match mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => Kind::File,
        _ if !waits(fd) => Kind::Ready,
        libc::S_IFIFO => Kind::Pipe,
        libc::S_IFSOCK if option(fd, libc::SO_TYPE) == Some(libc::SOCK_STREAM) => Kind::Stream,
        _ => Kind::Other,
    }
}

/// Whether calls on a descriptor wait.
fn waits(fd: c_int) -> bool {
    // SAFETY: the function takes any number, and this command has no argument.
    let flags = original!(c"fcntl": Fcntl).map(|fcntl| unsafe { fcntl(fd, libc::F_GETFL) });
    flags.is_some_and(|flags| flags != -1 && flags & libc::O_NONBLOCK == 0)
}

/// An option of a socket that has the size of `T`.
fn option<T: Default>(fd: c_int, name: c_int) -> Option<T> {
    let mut value = T::default();
    let mut len = size_of::<T>() as libc::socklen_t;
    let getsockopt = original!(c"getsockopt": Getsockopt)?;
    // SAFETY: the kernel writes at most as many bytes as there is room for, and any are a value of the types that are asked for.
    let result = unsafe {
        let value = (&raw mut value).cast();
        getsockopt(fd, libc::SOL_SOCKET, name, value, &raw mut len)
    };
    (result == 0).then_some(value)
}

/// The virtual time at which a socket's own time limit is over.
fn deadline(fd: c_int, direction: Direction) -> Option<u64> {
    let [seconds, micros] = option::<[i64; 2]>(fd, direction.time_limit())?;
    let limit = seconds.cast_unsigned() * 1_000_000_000 + micros.cast_unsigned() * 1_000;
    (limit != 0).then(|| now() + limit)
}

/// Whether a descriptor is ready, or broken.
pub(super) fn is_ready(fd: c_int, events: c_short) -> bool {
    let mut entry = libc::pollfd {
        fd,
        events,
        revents: 0,
    };
    // SAFETY: the list has one entry.
    original!(c"poll": Poll).is_none_or(|poll| unsafe { poll(&raw mut entry, 1, 0) } != 0)
}

/// Waits until a descriptor is ready; false when its time limit is over.
fn wait(operation: Operation, fd: c_int, direction: Direction) -> bool {
    let deadline = deadline(fd, direction);
    let mut is_ready = || is_ready(fd, direction.events());
    let object = Object::Descriptor(fd, direction == Direction::Out);
    wait_for(operation, object, deadline, &mut is_ready) != Woken::Time
}

/// Makes a call that waits until `fd` can be read from, unless its `flags` say otherwise.
#[inline]
pub(crate) fn read(fd: c_int, flags: c_int, call: impl FnOnce() -> isize) -> isize {
    if !is_scheduled() {
        return call();
    }
    receive(Operation::Read, fd, flags, call)
}

/// As [`read`], for a connection.
#[inline]
pub(crate) fn accept(fd: c_int, call: impl FnOnce() -> c_int) -> c_int {
    if !is_scheduled() {
        return call();
    }
    receive(Operation::Accept, fd, 0, || call() as isize) as c_int
}

#[cold]
fn receive(operation: Operation, fd: c_int, flags: c_int, call: impl FnOnce() -> isize) -> isize {
    call_takes_time();
    if flags & (libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE) != 0 || kind(fd).is_ready() {
        point_on(operation, Object::Descriptor(fd, false));
        return call();
    }
    if flags & libc::MSG_WAITALL != 0 {
        return outside(operation, call);
    }
    if wait(operation, fd, Direction::In) {
        return call();
    }
    set_errno(libc::EAGAIN);
    -1
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
    call: impl FnOnce() -> isize,
) -> isize {
    if !is_scheduled() {
        return call();
    }
    // SAFETY: as the caller promises.
    unsafe {
        write_when_ready(
            fd,
            &[libc::iovec {
                iov_base: buffer.cast_mut(),
                iov_len: len,
            }],
            flags,
            call,
        )
    }
}

/// As [`write`], for several buffers.
///
/// # Safety
/// The list must be null or have so many buffers, each valid for reads.
#[inline]
pub(crate) unsafe fn write_vectored(
    fd: c_int,
    buffers: *const libc::iovec,
    count: usize,
    flags: c_int,
    call: impl FnOnce() -> isize,
) -> isize {
    if !is_scheduled() {
        return call();
    }
    let buffers = if buffers.is_null() {
        &[]
    } else {
        // SAFETY: as the caller promises.
        unsafe { ::std::slice::from_raw_parts(buffers, count) }
    };
    // SAFETY: as the caller promises.
    unsafe { write_when_ready(fd, buffers, flags, call) }
}

/// Makes a call that sends `fd`'s peer, or somebody else, a message.
#[inline]
pub(crate) fn send_message(fd: c_int, flags: c_int, call: impl FnOnce() -> isize) -> isize {
    if !is_scheduled() {
        return call();
    }
    // SAFETY: there is no buffer.
    unsafe { write_when_ready(fd, &[], flags, call) }
}

/// # Safety
/// The buffers must be valid for reads.
#[cold]
unsafe fn write_when_ready(
    fd: c_int,
    buffers: &[libc::iovec],
    flags: c_int,
    call: impl FnOnce() -> isize,
) -> isize {
    call_takes_time();
    let kind = if flags & libc::MSG_DONTWAIT == 0 {
        kind(fd)
    } else {
        Kind::Ready
    };
    if kind.is_ready() {
        if kind == Kind::File {
            stamps::written();
        }
        // Between a file's creation and its first bytes others may meet it.
        point_on(Operation::Write, Object::Descriptor(fd, true));
        let result = call();
        let _errno = Errno::save();
        point_after(Operation::Write, Object::Descriptor(fd, true));
        return result;
    }
    if !wait(Operation::Write, fd, Direction::Out) {
        set_errno(libc::EAGAIN);
        return -1;
    }
    let len: usize = buffers.iter().map(|buffer| buffer.iov_len).sum();
    let result = match kind {
        Kind::Pipe if len > PIECE => {
            // SAFETY: as the caller promises.
            unsafe { write_pieces(fd, buffers, PIECE, |at, len| write_piece(fd, at, len)) }
        }
        Kind::Stream if len > 0 => {
            // SAFETY: as the caller promises.
            unsafe {
                write_pieces(fd, buffers, usize::MAX, |at, len| {
                    send_piece(fd, at, len, flags)
                })
            }
        }
        _ => call(),
    };
    let _errno = Errno::save();
    point_after(Operation::Write, Object::Descriptor(fd, true));
    result
}

/// Writes all of the buffers by calls that do not wait, each when the descriptor is ready. As the kernel does it, an error is told when
/// nothing was written before it.
///
/// # Safety
/// The buffers must be valid for reads.
unsafe fn write_pieces(
    fd: c_int,
    buffers: &[libc::iovec],
    piece: usize,
    write: impl Fn(*const c_void, usize) -> isize,
) -> isize {
    let mut done = 0;
    for buffer in buffers {
        let mut of_buffer = 0;
        while of_buffer < buffer.iov_len {
            let len = (buffer.iov_len - of_buffer).min(piece);
            // SAFETY: it is within the buffer.
            let at = unsafe { buffer.iov_base.byte_add(of_buffer) };
            match write(at, len) {
                written if written >= 0 => of_buffer += written.cast_unsigned(),
                _ if errno() == libc::EAGAIN => {}
                _ if done + of_buffer > 0 => return (done + of_buffer).cast_signed(),
                error => return error,
            }
            if of_buffer < buffer.iov_len && !wait(Operation::Write, fd, Direction::Out) {
                return (done + of_buffer).cast_signed();
            }
        }
        done += of_buffer;
    }
    done.cast_signed()
}

fn write_piece(fd: c_int, at: *const c_void, len: usize) -> isize {
    // SAFETY: what is written is within a buffer of the caller.
    original!(c"write": Write).map_or(-1, |write| unsafe { write(fd, at, len) })
}

fn send_piece(fd: c_int, at: *const c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: what is sent is within a buffer of the caller.
    original!(c"send": Send).map_or(-1, |send| unsafe {
        send(fd, at, len, flags | libc::MSG_DONTWAIT)
    })
}

/// Makes a call that connects `fd`: within this machine that is done at once, else somebody outside has to answer.
#[inline]
pub(crate) fn connect(fd: c_int, is_local: bool, call: impl FnOnce() -> c_int) -> c_int {
    if !is_scheduled() {
        return call();
    }
    call_takes_time();
    if is_local || !waits(fd) {
        point(Operation::Connect);
        return call();
    }
    outside(Operation::Connect, call)
}

type Accept = unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> c_int;
type Accept4 =
    unsafe extern "C" fn(c_int, *mut libc::sockaddr, *mut libc::socklen_t, c_int) -> c_int;

#[unsafe(no_mangle)]
unsafe extern "C" fn accept4(
    fd: c_int,
    address: *mut libc::sockaddr,
    len: *mut libc::socklen_t,
    flags: c_int,
) -> c_int {
    let Some(original) = original!(c"accept4": Accept4) else {
        return -1;
    };
    // SAFETY: the caller's arguments, unchanged.
    accept(fd, || unsafe { original(fd, address, len, flags) })
}

/// Apart, because it has the name of what it calls.
mod older {
    use super::{Accept, c_int, libc, original};

    #[unsafe(no_mangle)]
    unsafe extern "C" fn accept(
        fd: c_int,
        address: *mut libc::sockaddr,
        len: *mut libc::socklen_t,
    ) -> c_int {
        let Some(original) = original!(c"accept": Accept) else {
            return -1;
        };
        // SAFETY: the caller's arguments, unchanged.
        super::accept(fd, || unsafe { original(fd, address, len) })
    }
}

/// A timer that is a descriptor would go off in real time. Who asks for one is told that there are none, as on an old kernel, and has
/// another way in most cases.
#[unsafe(no_mangle)]
unsafe extern "C" fn timerfd_create(clock: libc::clockid_t, flags: c_int) -> c_int {
    if is_scheduled() {
        set_errno(libc::ENOSYS);
        return -1;
    }
    match original!(c"timerfd_create": unsafe extern "C" fn(libc::clockid_t, c_int) -> c_int) {
        // SAFETY: the caller's arguments, unchanged.
        Some(original) => unsafe { original(clock, flags) },
        None => -1,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn flock(fd: c_int, operation: c_int) -> c_int {
    type Flock = unsafe extern "C" fn(c_int, c_int) -> c_int;
    /// The lock is not waited for.
    const NOT_WAITING: c_int = 4;
    let Some(original) = original!(c"flock": Flock) else {
        return -1;
    };
    // SAFETY: the function takes any numbers.
    let call = |operation| unsafe { original(fd, operation) };
    if !is_scheduled() || operation & NOT_WAITING != 0 {
        return call(operation);
    }
    let mut error = 0;
    let mut is_taken = || {
        let is_taken = call(operation | NOT_WAITING) == 0;
        error = if is_taken { 0 } else { errno() };
        error != libc::EAGAIN
    };
    let object = Object::Descriptor(fd, true);
    match wait_for(Operation::File, object, None, &mut is_taken) {
        Woken::Free => call(operation),
        _ if error == 0 => 0,
        _ => {
            set_errno(error);
            -1
        }
    }
}
