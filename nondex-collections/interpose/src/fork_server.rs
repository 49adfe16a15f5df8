//! A program that has been loaded, and forks test processes instead of running a test itself.
//!
//! To load a program, with its libraries and their initialisers, often takes longer than its test.
//! The driver therefore starts a test executable once with a spec that only asks for this. It
//! waits on its standard input for requests, each with variables, arguments, and the descriptor of
//! the output. It forks at each, and the fork continues as if it had just been loaded with those.
//! The idea is that of the fork server of AFL: M. Zalewski, "Fuzzing random programs without
//! `execve()`" (2014).
//!
//! No code of the program has run yet, so a fork finds what a new process would find. The exception
//! is what the initialisers of its shared libraries took from chance: it is the same in all forks.
//! The driver uses no server that has other threads or open files by then.
//!
//! A fork is a child of the driver, as a program that it started is, so that the driver can wait
//! for it.

mod arguments;

use ::std::ffi::{CStr, c_char, c_int, c_long};
use ::std::mem::MaybeUninit;
use ::std::ptr;

use nondex_core::protocol::spec::{FORK_SERVER, ForkRequest, SPEC_VARIABLE};

use self::arguments::Arguments;
use crate::given::Words;
use crate::libc;
use crate::system::call;

/// Descriptor of the socket for requests.
const SOCKET: c_int = 0;

/// `PR_GET_TID_ADDRESS`, which the crate `libc` lacks.
const GET_TID_ADDRESS: c_int = 40;

/// List of C strings that the system has put above the stack; it ends with a null pointer.
type List = *mut *mut c_char;

/// Serves requests if the spec asks for it. Returns in each fork, and in a process that is no
/// server.
///
/// # Safety
/// The process must have one thread, as before `main`, and the lists must be those that an
/// initialiser is passed. The originals of all functions must have been looked up.
pub(crate) unsafe fn serve_if_asked(arguments: Words, variables: Words) {
    let (arguments, variables) = (arguments as List, variables as List);
    // SAFETY: as the caller promises.
    unsafe {
        let spec = value(variables, SPEC_VARIABLE.as_bytes());
        if spec.is_some_and(|spec| spec.starts_with(FORK_SERVER)) {
            if let Some(arguments) = Arguments::of(arguments) {
                serve(variables, &arguments);
            }
        }
    }
}

/// Memory above the stack for a text, which is there as long as the process.
#[derive(Clone, Copy)]
struct Room {
    start: *mut u8,
    length: usize,
}

impl Room {
    fn starts_with(self, byte: u8) -> bool {
        // SAFETY: there is a first byte.
        self.length > 0 && unsafe { self.start.read() } == byte
    }

    /// Replaces the text, as far as there is room.
    ///
    /// # Safety
    /// Nobody else may use the text.
    unsafe fn replace(self, text: &[u8]) {
        // SAFETY: no more is written than fits.
        unsafe {
            ptr::write_bytes(self.start, 0, self.length);
            ptr::copy_nonoverlapping(text.as_ptr(), self.start, text.len().min(self.length));
        }
    }
}

/// Returns the value of the variable with this name.
///
/// # Safety
/// `variables` must be the list of the system.
unsafe fn value(variables: List, name: &[u8]) -> Option<Room> {
    let mut next = variables;
    // SAFETY: the list ends with a null pointer, and each entry with NUL.
    unsafe {
        while let Some(&entry) = next.as_ref().filter(|entry| !entry.is_null()) {
            let rest = CStr::from_ptr(entry).to_bytes().strip_prefix(name);
            if let Some(value) = rest.and_then(|rest| rest.strip_prefix(b"=")) {
                return Some(Room { start: entry.add(name.len() + 1).cast(), length: value.len() });
            }
            next = next.add(1);
        }
    }
    None
}

/// Forks for each request, until the driver closes the socket. Returns in the forks, with the
/// variables and the arguments of the request.
///
/// # Safety
/// The process must have one thread, and nobody else may use the variables and the arguments.
unsafe fn serve(variables: List, arguments: &Arguments) {
    send(0);
    loop {
        let mut buffer = [0; ForkRequest::MAX_LENGTH];
        let Some((output, request)) = receive(&mut buffer) else {
            // SAFETY: ends the process.
            unsafe { call(libc::SYS_exit_group, [0; 6]) };
            return;
        };
        // SAFETY: as the caller promises.
        unsafe {
            let child = fork();
            if child == 0 {
                begin(output);
                for (name, text) in request.variables() {
                    if let Some(room) = value(variables, name) {
                        room.replace(text);
                    }
                }
                arguments.replace(request.arguments);
                return;
            }
            close(output);
            send(child);
        }
    }
}

/// Sends a number to the driver.
fn send(number: c_int) {
    let place = (&raw const number).addr() as c_long;
    // SAFETY: the system reads the number.
    unsafe { call(libc::SYS_write, [SOCKET.into(), place, size_of::<c_int>() as c_long, 0, 0, 0]) };
}

/// Receives a request, with the descriptor of the output. Returns `None` at the end, and after an
/// error.
fn receive(buffer: &mut [u8]) -> Option<(c_int, ForkRequest<'_>)> {
    /// Memory for one descriptor, with the alignment that the system expects.
    #[repr(align(16))]
    struct Descriptor([u8; 64]);
    let mut descriptor = Descriptor([0; 64]);
    let mut text = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: zeros are valid for plain data; the system fills the buffers up to their lengths.
    unsafe {
        let mut message: libc::msghdr = MaybeUninit::zeroed().assume_init();
        message.msg_iov = &raw mut text;
        message.msg_iovlen = 1;
        message.msg_control = descriptor.0.as_mut_ptr().cast();
        message.msg_controllen = descriptor.0.len();
        let place = (&raw mut message).addr() as c_long;
        let flags = libc::MSG_CMSG_CLOEXEC.into();
        let length = call(libc::SYS_recvmsg, [SOCKET.into(), place, flags, 0, 0, 0]);
        let request = ForkRequest::parse(buffer.get(..usize::try_from(length).ok()?)?)?;
        let first = libc::CMSG_FIRSTHDR(&raw const message).as_ref()?;
        Some((libc::CMSG_DATA(first).cast::<c_int>().read_unaligned(), request))
    }
}

/// Forks this process, as a child of its parent. Returns 0 in the fork, and its number or a
/// negative value in this process.
///
/// libc's `fork` cannot choose the parent. In a process with one thread, which has registered no
/// handlers, it also passes two addresses to the system: of the thread's number, and of its list of
/// robust mutexes.
///
/// # Safety
/// The process must have one thread.
unsafe fn fork() -> c_int {
    let mut number: *mut c_int = ptr::null_mut();
    let (mut robust, mut length) = (0_usize, 0_usize);
    // SAFETY: the system writes to these variables, and to the number where libc keeps it.
    unsafe {
        let place = (&raw mut number).addr() as c_long;
        if call(libc::SYS_prctl, [GET_TID_ADDRESS.into(), place, 0, 0, 0, 0]) != 0 {
            return -1;
        }
        let (head, size) = ((&raw mut robust).addr() as c_long, (&raw mut length).addr() as c_long);
        let has_list = call(libc::SYS_get_robust_list, [0, head, size, 0, 0, 0]) == 0;
        let flags = libc::CLONE_PARENT
            | libc::CLONE_CHILD_SETTID
            | libc::CLONE_CHILD_CLEARTID
            | libc::SIGCHLD;
        let number = number.addr() as c_long;
        // The last two arguments, one of which is unused, have another order on x86-64.
        let [fourth, fifth] = if cfg!(target_arch = "x86_64") { [number, 0] } else { [0, number] };
        let child = call(libc::SYS_clone, [flags.into(), 0, 0, fourth, fifth, 0]);
        if child == 0 && has_list {
            call(libc::SYS_set_robust_list, [robust as c_long, length as c_long, 0, 0, 0, 0]);
        }
        child as c_int
    }
}

/// Gives a fork what a process has that the driver starts: a group, an empty input, the output, and
/// other random bytes.
fn begin(output: c_int) {
    let null = c"/dev/null".as_ptr().addr() as c_long;
    let flags = c_long::from(libc::O_RDONLY | libc::O_CLOEXEC);
    // SAFETY: the path ends in NUL, and the system has put 16 random bytes at that address, which
    // nobody reads meanwhile.
    unsafe {
        call(libc::SYS_setpgid, [0; 6]);
        let null = call(libc::SYS_openat, [libc::AT_FDCWD.into(), null, flags, 0, 0, 0]) as c_int;
        for (from, to) in [(null, SOCKET), (output, 1), (output, 2)] {
            call(libc::SYS_dup3, [from.into(), to.into(), 0, 0, 0, 0]);
        }
        close(null);
        close(output);
        let random = libc::getauxval(libc::AT_RANDOM) as c_long;
        if random != 0 {
            call(libc::SYS_getrandom, [random, 16, 0, 0, 0, 0]);
        }
    }
}

fn close(descriptor: c_int) {
    // SAFETY: no memory is involved.
    unsafe { call(libc::SYS_close, [descriptor.into(), 0, 0, 0, 0, 0]) };
}
