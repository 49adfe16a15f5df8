//! Programs that a test starts: they are observed too, by a library that the loader puts before their libc.
//!
//! The functions that start a program add the library to the environment that it is given, and the library takes itself
//! out of it again before `main`: neither the test nor the program sees it. Only a program whose loader is glibc's, of our
//! own machine type, is given it; any other would only complain, and all that is known of it is how it ended.
//!
//! Not seen is what `execl` and its kin start, which call libc's own `execve`; Rust cannot define functions with variable
//! arguments. Between `fork` and `exec` little is allowed, so what has to be done for every program takes no memory from
//! the heap.

mod argument;
mod program;
mod shell;
mod unobserved;

use ::std::ffi::{CStr, CString, c_char, c_int, c_void};
use ::std::io::Read;
use ::std::os::unix::ffi::OsStrExt;
use ::std::sync::OnceLock;

use nondex_core::NetworkMode;
use nondex_core::context::Context;

use self::program::{HEADER, MAX_PATH, Program};
use super::super::operations;
use super::{Errno, errno, original};

/// The start of the entry of an environment that names libraries to the loader.
const PRELOAD: &CStr = c"LD_PRELOAD=";

/// How many variables an environment may have; with more, a program is not observed.
const MAX_VARIABLES: usize = 2048;

/// The library.
struct Library {
    /// The entry of the environment that names it.
    entry: CString,
    /// Class, byte order and machine of the programs that can load it.
    kind: [u8; 4],
}

static LIBRARY: OnceLock<Library> = OnceLock::new();

/// Makes the programs that this one starts be observed, if its run is.
pub(crate) fn prepare(context: &Context) {
    let spec = context.spec();
    let Some(path) = spec
        .preload
        .as_ref()
        .filter(|_| spec.network != NetworkMode::Off)
    else {
        return;
    };
    let mut header = [0; HEADER];
    let read = ::std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    let mut entry = PRELOAD.to_bytes().to_vec();
    entry.extend(path.as_os_str().as_bytes());
    // The loader takes a colon or a space for the end of a path.
    let is_one_path = !path
        .as_os_str()
        .as_bytes()
        .iter()
        .any(|b| b": ".contains(b));
    if let (Ok(()), Ok(entry), true) = (read, CString::new(entry), is_one_path) {
        let kind = program::kind(&header);
        let _ = LIBRARY.set(Library { entry, kind });
        unobserved::prepare();
    }
}

/// The parts as one string in `buffer`, if it has room.
fn join<'a>(buffer: &'a mut [u8], parts: &[&[u8]]) -> Option<&'a CStr> {
    let mut length = 0;
    for part in parts {
        buffer
            .get_mut(length..length + part.len())?
            .copy_from_slice(part);
        length += part.len();
    }
    *buffer.get_mut(length)? = 0;
    CStr::from_bytes_with_nul(&buffer[..=length]).ok()
}

type Strings = *const *const c_char;

/// How a program is found by what a function is given.
type Find = fn(&CStr, &Library) -> Program;

/// The program that is to be started; the default when nothing is observed.
///
/// # Safety
/// `name` must be null or end with NUL.
unsafe fn found(name: *const c_char, find: Find) -> Program {
    let Some(library) = LIBRARY.get().filter(|_| !name.is_null()) else {
        return Program::default();
    };
    let _errno = Errno::save();
    // SAFETY: as the caller promises.
    find(unsafe { CStr::from_ptr(name) }, library)
}

/// Calls `start` with the environment that `program` is given.
///
/// # Safety
/// `environment` must be null or end with a null pointer, as must each of its entries with NUL.
unsafe fn observed(
    program: Program,
    environment: Strings,
    start: impl FnOnce(Strings) -> c_int,
) -> c_int {
    let Some(library) = LIBRARY
        .get()
        .filter(|_| program.loads && !environment.is_null())
    else {
        return start(environment);
    };
    let mut entries = [::std::ptr::null(); MAX_VARIABLES];
    let mut others = None;
    // The first place is for our own entry; the last one stays null, and ends the list.
    let mut count = 1;
    for i in 0.. {
        // SAFETY: every entry up to the null pointer was read before.
        let entry = unsafe { *environment.add(i) };
        if entry.is_null() {
            break;
        }
        // SAFETY: an entry ends with NUL.
        let text = unsafe { CStr::from_ptr(entry) }.to_bytes();
        if text.starts_with(library.entry.to_bytes()) || count == MAX_VARIABLES - 1 {
            return start(environment);
        }
        match text.strip_prefix(PRELOAD.to_bytes()) {
            Some(libraries) if others.is_none() => others = Some(libraries),
            _ => {
                entries[count] = entry;
                count += 1;
            }
        }
    }
    let mut buffer = [0; 2 * MAX_PATH];
    let own = match others {
        None => Some(library.entry.as_c_str()),
        Some(others) => join(&mut buffer, &[library.entry.to_bytes(), b":", others]),
    };
    let Some(own) = own else {
        return start(environment);
    };
    entries[0] = own.as_ptr();
    start(entries.as_ptr())
}

unsafe extern "C" {
    static environ: Strings;
}

/// Runs a program in place of this one by `start`, which is given an environment.
///
/// # Safety
/// The arguments must be those of `execve`, but for the `name`, by which the program is found.
unsafe fn execute(
    name: *const c_char,
    find: Find,
    arguments: Strings,
    environment: Strings,
    start: impl FnOnce(Strings) -> c_int,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        let program = found(name, find);
        let word = program
            .is_opaque
            .then(|| unobserved::leave_word(name, arguments));
        let result = observed(program, environment, start);
        drop(word);
        operations::not_started(name, errno(), true);
        result
    }
}

/// Declares one of the functions that run a program in place of this one. Those without an environment take our own.
macro_rules! exec {
    ($name:ident($($environment:ident)?), $original:literal, $find:path) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            program: *const c_char,
            arguments: Strings,
            $($environment: Strings,)?
        ) -> c_int {
            let Some(original) =
                original!($original: unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int)
            else {
                return -1;
            };
            // SAFETY: the caller's arguments, with the environment that libc takes for them.
            unsafe {
                let environment = [$($environment,)? environ][0];
                execute(program, $find, arguments, environment, |environment| {
                    original(program, arguments, environment)
                })
            }
        }
    };
}

exec!(execve(environment), c"execve", program::by_path);
exec!(execv(), c"execve", program::by_path);
exec!(execvpe(environment), c"execvpe", program::by_name);
exec!(execvp(), c"execvpe", program::by_name);

/// The path of an open file, and of what is found from there, for as long as this process has it open.
fn path_of<'a>(buffer: &'a mut [u8], file: c_int, rest: &[u8]) -> Option<&'a CStr> {
    let mut digits = [0; 10];
    let mut start = digits.len();
    let mut left = u32::try_from(file).ok()?;
    while left > 0 || start == digits.len() {
        start -= 1;
        digits[start] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    let slash: &[u8] = if rest.is_empty() { b"" } else { b"/" };
    join(buffer, &[b"/proc/self/fd/", &digits[start..], slash, rest])
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fexecve(file: c_int, arguments: Strings, environment: Strings) -> c_int {
    let Some(original) =
        original!(c"fexecve": unsafe extern "C" fn(c_int, Strings, Strings) -> c_int)
    else {
        return -1;
    };
    let mut buffer = [0; MAX_PATH];
    let path = path_of(&mut buffer, file, b"").map_or(::std::ptr::null(), CStr::as_ptr);
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        execute(
            path,
            program::by_path,
            arguments,
            environment,
            |environment| original(file, arguments, environment),
        )
    }
}

type Execveat = unsafe extern "C" fn(c_int, *const c_char, Strings, Strings, c_int) -> c_int;

#[unsafe(no_mangle)]
unsafe extern "C" fn execveat(
    folder: c_int,
    name: *const c_char,
    arguments: Strings,
    environment: Strings,
    flags: c_int,
) -> c_int {
    let original = original!(c"execveat": Execveat);
    let mut buffer = [0; MAX_PATH];
    let path = if name.is_null() || folder == libc::AT_FDCWD {
        name
    } else {
        // SAFETY: the name ends with NUL.
        match unsafe { CStr::from_ptr(name) }.to_bytes() {
            [b'/', ..] => name,
            rest => path_of(&mut buffer, folder, rest).map_or(name, CStr::as_ptr),
        }
    };
    // SAFETY: the caller's arguments, unchanged.
    unsafe {
        execute(
            path,
            program::by_path,
            arguments,
            environment,
            |environment| match original {
                Some(original) => original(folder, name, arguments, environment, flags),
                // Since glibc 2.34.
                None => {
                    let number = libc::SYS_execveat;
                    libc::syscall(number, folder, name, arguments, environment, flags) as c_int
                }
            },
        )
    }
}

type Spawn = unsafe extern "C" fn(
    *mut c_int,
    *const c_char,
    *const c_void,
    *const c_void,
    Strings,
    Strings,
) -> c_int;

/// The child that a descriptor stands for.
fn child_of(descriptor: c_int) -> libc::pid_t {
    match original!(c"pidfd_getpid": unsafe extern "C" fn(c_int) -> libc::pid_t) {
        // SAFETY: it takes any number.
        Some(original) => unsafe { original(descriptor) },
        None => -1,
    }
}

/// Starts a child by `spawn`, which tells its number, and opens a descriptor for it.
///
/// # Safety
/// The arguments must be those of `posix_spawn`, but for the place for the descriptor.
unsafe fn spawn_and_open(
    spawn: Spawn,
    descriptor: *mut c_int,
    name: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    let mut pid = 0;
    // SAFETY: the caller's arguments, with a place for the number. The system call and the others take any number.
    unsafe {
        let error = spawn(
            &raw mut pid,
            name,
            actions,
            attributes,
            arguments,
            environment,
        );
        if error != 0 {
            return error;
        }
        let opened = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if opened < 0 {
            let error = errno();
            libc::kill(pid, libc::SIGKILL);
            libc::waitpid(pid, ::std::ptr::null_mut(), 0);
            return error;
        }
        descriptor.write(opened as c_int);
        0
    }
}

/// Declares one of the functions that start a child, and what is called where libc has none of that name. It tells the
/// child's number, or a descriptor from which `$pid` knows it.
macro_rules! spawn {
    ($name:ident, $original:literal, $find:path, $pid:expr, $missing:expr) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            child: *mut c_int,
            name: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: Strings,
            environment: Strings,
        ) -> c_int {
            let mut own = 0;
            let child = if child.is_null() { &raw mut own } else { child };
            // SAFETY: the caller's arguments, with a place for the child.
            unsafe {
                let Some(original) = original!($original: Spawn) else {
                    let missing: Option<Spawn> = $missing;
                    return missing.map_or(libc::ENOSYS, |spawn| {
                        spawn_and_open(spawn, child, name, actions, attributes, arguments, environment)
                    });
                };
                let program = found(name, $find);
                let error = observed(program, environment, |environment| {
                    original(child, name, actions, attributes, arguments, environment)
                });
                if error != 0 {
                    operations::not_started(name, error, false);
                } else if program.is_opaque {
                    let pid: fn(c_int) -> libc::pid_t = $pid;
                    unobserved::started(pid(child.read()), name, arguments);
                }
                error
            }
        }
    };
}

spawn!(
    posix_spawn,
    c"posix_spawn",
    program::by_path,
    |pid| pid,
    None
);
spawn!(
    posix_spawnp,
    c"posix_spawnp",
    program::by_name,
    |pid| pid,
    None
);
// Since glibc 2.39. std takes it that they work where they are.
spawn!(
    pidfd_spawn,
    c"pidfd_spawn",
    program::by_path,
    child_of,
    Some(posix_spawn)
);
spawn!(
    pidfd_spawnp,
    c"pidfd_spawnp",
    program::by_name,
    child_of,
    Some(posix_spawnp)
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_joined_where_there_is_room() {
        let mut buffer = [0; 5];
        assert_eq!(join(&mut buffer, &[b"ab", b"cd"]), Some(c"abcd"));
        assert_eq!(join(&mut buffer, &[b"ab", b"cde"]), None);
    }

    #[test]
    fn an_open_file_has_a_path() {
        let mut buffer = [0; MAX_PATH];
        assert_eq!(path_of(&mut buffer, 0, b""), Some(c"/proc/self/fd/0"));
        assert_eq!(
            path_of(&mut buffer, 120, b"a/b"),
            Some(c"/proc/self/fd/120/a/b")
        );
        assert_eq!(path_of(&mut buffer, -1, b""), None);
    }

    #[test]
    fn a_child_is_started_by_a_descriptor_whether_libc_can_or_not() {
        let arguments = [c"sh", c"-c", c"exit 3"].map(CStr::as_ptr);
        let arguments = [arguments[0], arguments[1], arguments[2], ::std::ptr::null()];
        let environment: [*const c_char; 1] = [::std::ptr::null()];
        for spawn in [pidfd_spawn, pidfd_spawnp] {
            let mut descriptor = -1;
            // SAFETY: the arguments are lists of strings, the places are valid for writes, and zeros are valid information.
            unsafe {
                let error = spawn(
                    &raw mut descriptor,
                    c"/bin/sh".as_ptr(),
                    ::std::ptr::null(),
                    ::std::ptr::null(),
                    arguments.as_ptr(),
                    environment.as_ptr(),
                );
                assert_eq!(error, 0);
                let mut info = ::std::mem::zeroed::<libc::siginfo_t>();
                let id = libc::id_t::try_from(descriptor).unwrap();
                assert_eq!(
                    libc::waitid(libc::P_PIDFD, id, &raw mut info, libc::WEXITED),
                    0
                );
                assert_eq!((info.si_code, info.si_status()), (libc::CLD_EXITED, 3));
                libc::close(descriptor);
            }
        }
    }
}
