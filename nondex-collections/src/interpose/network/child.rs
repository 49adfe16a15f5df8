//! Programs that a test starts: they are observed too, by a library that the loader puts before their libc.
//!
//! The functions that start a program add the library to the environment that it is given, and the library takes itself
//! out of it again before `main`: neither the test nor the program sees it. Only a program whose loader is glibc's, of our
//! own machine type, is given it; any other would only complain. What `system` and `popen` start, libc starts without
//! asking us.
//!
//! Between `fork` and `exec` little is allowed, so nothing here takes memory from the heap.

use ::std::ffi::{CStr, CString, c_char, c_int, c_void};
use ::std::io::Read;
use ::std::os::unix::ffi::OsStrExt;
use ::std::sync::OnceLock;

use nondex_core::NetworkMode;
use nondex_core::context::Context;

use super::super::operations;
use super::{Errno, errno, original};

/// The start of the entry of an environment that names libraries to the loader.
const PRELOAD: &CStr = c"LD_PRELOAD=";

/// How many variables an environment may have; with more, a program is not observed.
const MAX_VARIABLES: usize = 2048;

/// How long a path may be.
const MAX_PATH: usize = libc::PATH_MAX as usize;

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
        let kind = kind(&header);
        let _ = LIBRARY.set(Library { entry, kind });
    }
}

/// How much of an ELF file is its header.
const HEADER: usize = size_of::<libc::Elf64_Ehdr>();

/// What must agree between a program and a library.
const fn kind(header: &[u8; HEADER]) -> [u8; 4] {
    [header[4], header[5], header[18], header[19]]
}

/// A file that is read between `fork` and `exec`.
struct File(c_int);

impl File {
    fn open(path: &CStr) -> Option<Self> {
        // SAFETY: the path ends with NUL.
        let fd = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        (fd >= 0).then_some(File(fd))
    }

    fn read(&self, at: u64, buffer: &mut [u8]) -> usize {
        let at = at.try_into().unwrap_or(libc::off64_t::MAX);
        // SAFETY: the buffer is valid for writes of its length.
        let read = unsafe { libc::pread64(self.0, buffer.as_mut_ptr().cast(), buffer.len(), at) };
        read.try_into().unwrap_or(0)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours.
        unsafe { libc::close(self.0) };
    }
}

/// Whether the program at `path`, or the interpreter of the script there, loads libraries as the C library of this one does.
fn loads(path: &CStr, library: &Library, is_script: bool) -> bool {
    let Some(file) = File::open(path) else {
        return false;
    };
    let mut header = [0; HEADER];
    if file.read(0, &mut header) < HEADER || !header.starts_with(b"\x7fELF") {
        return !is_script && header.starts_with(b"#!") && interpreter_loads(&file, library);
    }
    let word = |at: usize| u64::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    let table = u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| header[32 + i]));
    let (size, count) = (word(54), word(56));
    kind(&header) == library.kind
        && (0..count).any(|i| {
            let mut entry = [0; size_of::<libc::Elf64_Phdr>()];
            let read = file.read(table.saturating_add(i * size), &mut entry);
            let word =
                |at: usize| u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| entry[at + i]));
            let kind = u32::from_ne_bytes([0, 1, 2, 3].map(|i| entry[i]));
            if read < entry.len() || kind != libc::PT_INTERP {
                return false;
            }
            let mut loader = [0; 64];
            let length = file.read(word(8), &mut loader);
            loader[..length]
                .windows(5)
                .any(|part| part == b"ld-li" || part == b"ld64.")
        })
}

fn interpreter_loads(script: &File, library: &Library) -> bool {
    let mut line = [0; 256];
    let length = script.read(2, &mut line[..255]);
    let is_space = |byte: &u8| b" \t".contains(byte);
    let start = line[..length]
        .iter()
        .take_while(|byte| is_space(byte))
        .count();
    let end = line[start..length]
        .iter()
        .position(|byte| is_space(byte) || *byte == b'\n');
    let Some(end) = end.map(|end| start + end) else {
        return false;
    };
    line[end] = 0;
    CStr::from_bytes_until_nul(&line[start..]).is_ok_and(|path| loads(path, library, true))
}

/// Whether the program that is found by `name` in `PATH` does.
fn loads_by_name(name: &CStr, library: &Library) -> bool {
    if name.to_bytes().contains(&b'/') {
        return loads(name, library, false);
    }
    // SAFETY: the name ends with NUL; what is returned stays while nobody changes the environment, as for libc itself.
    let path = unsafe { libc::getenv(c"PATH".as_ptr()) };
    let folders = if path.is_null() {
        b"/bin:/usr/bin"
    } else {
        // SAFETY: a value of the environment ends with NUL.
        unsafe { CStr::from_ptr(path) }.to_bytes()
    };
    let mut buffer = [0; MAX_PATH];
    for folder in folders.split(|&byte| byte == b':') {
        let folder = if folder.is_empty() { b"." } else { folder };
        let Some(path) = join(&mut buffer, &[folder, b"/", name.to_bytes()]) else {
            continue;
        };
        // SAFETY: the path ends with NUL.
        if unsafe { libc::access(path.as_ptr(), libc::X_OK) } == 0 {
            return loads(path, library, false);
        }
    }
    false
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

/// Calls `start` with the environment that the program is given.
///
/// # Safety
/// `program` must end with NUL, and `environment` with a null pointer, as must each of its entries with NUL.
unsafe fn observed(
    program: *const c_char,
    loads: fn(&CStr, &Library) -> bool,
    environment: Strings,
    start: impl FnOnce(Strings) -> c_int,
) -> c_int {
    let Some(library) = LIBRARY.get() else {
        return start(environment);
    };
    let is_observed = || {
        let _errno = Errno::save();
        // SAFETY: the program's name ends with NUL.
        !program.is_null() && loads(unsafe { CStr::from_ptr(program) }, library)
    };
    if environment.is_null() || !is_observed() {
        return start(environment);
    }
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

type Exec = unsafe extern "C" fn(*const c_char, Strings, Strings) -> c_int;

/// Runs the program in place of this one, by the function `by` of libc.
///
/// # Safety
/// The arguments must be those of `execve`.
unsafe fn execute(
    by: Option<Exec>,
    loads: fn(&CStr, &Library) -> bool,
    program: *const c_char,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    let Some(by) = by else { return -1 };
    // SAFETY: as the caller promises.
    unsafe {
        let result = observed(program, loads, environment, |environment| {
            by(program, arguments, environment)
        });
        operations::not_started(program, errno(), true);
        result
    }
}

fn loads_by_path(path: &CStr, library: &Library) -> bool {
    loads(path, library, false)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execve(
    path: *const c_char,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    let by = original!(c"execve": Exec);
    // SAFETY: the caller's arguments, unchanged.
    unsafe { execute(by, loads_by_path, path, arguments, environment) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execv(path: *const c_char, arguments: Strings) -> c_int {
    let by = original!(c"execve": Exec);
    // SAFETY: the caller's arguments, with the environment that libc takes for them.
    unsafe { execute(by, loads_by_path, path, arguments, environ) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execvpe(
    name: *const c_char,
    arguments: Strings,
    environment: Strings,
) -> c_int {
    let by = original!(c"execvpe": Exec);
    // SAFETY: the caller's arguments, unchanged.
    unsafe { execute(by, loads_by_name, name, arguments, environment) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn execvp(name: *const c_char, arguments: Strings) -> c_int {
    let by = original!(c"execvpe": Exec);
    // SAFETY: the caller's arguments, with the environment that libc takes for them.
    unsafe { execute(by, loads_by_name, name, arguments, environ) }
}

type Spawn = unsafe extern "C" fn(
    *mut libc::pid_t,
    *const c_char,
    *const c_void,
    *const c_void,
    Strings,
    Strings,
) -> c_int;

/// Declares one of the functions that start a child.
macro_rules! spawn {
    ($name:ident, $original:literal, $loads:ident) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            pid: *mut libc::pid_t,
            program: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            arguments: Strings,
            environment: Strings,
        ) -> c_int {
            let Some(original) = original!($original: Spawn) else {
                return libc::ENOSYS;
            };
            // SAFETY: the caller's arguments, unchanged.
            unsafe {
                let error = observed(program, $loads, environment, |environment| {
                    original(pid, program, actions, attributes, arguments, environment)
                });
                if error != 0 {
                    operations::not_started(program, error, false);
                }
                error
            }
        }
    };
}

spawn!(posix_spawn, c"posix_spawn", loads_by_path);
spawn!(posix_spawnp, c"posix_spawnp", loads_by_name);

#[cfg(test)]
mod tests {
    use super::*;

    /// What the library would be, if it were of the kind of this program.
    fn library() -> Library {
        let mut header = [0; HEADER];
        let mut file = ::std::fs::File::open("/proc/self/exe").unwrap();
        file.read_exact(&mut header).unwrap();
        Library {
            entry: c"LD_PRELOAD=/library.so".to_owned(),
            kind: kind(&header),
        }
    }

    #[test]
    fn only_programs_of_glibc_load_the_library() {
        let library = library();
        assert!(loads_by_path(c"/proc/self/exe", &library));
        assert!(loads_by_name(c"sh", &library));
        assert!(!loads_by_name(c"no-such-program", &library));
        assert!(!loads_by_path(c"/etc/passwd", &library));
        let other = Library {
            kind: [0; 4],
            ..library
        };
        assert!(!loads_by_path(c"/proc/self/exe", &other));
    }

    #[test]
    fn a_script_is_judged_by_its_interpreter() {
        let library = library();
        for (line, expected) in [
            ("#!/bin/sh\n", true),
            ("#! /usr/bin/env sh\n", true),
            ("#!/no/such/interpreter\n", false),
            ("#!/bin/sh", false),
            ("echo\n", false),
        ] {
            let mut name = ::std::env::temp_dir().into_os_string();
            name.push(format!("/nondex-script-{}", ::std::process::id()));
            ::std::fs::write(&name, line).unwrap();
            let path = CString::new(name.as_bytes()).unwrap();
            assert_eq!(loads_by_path(&path, &library), expected, "{line}");
            ::std::fs::remove_file(name).unwrap();
        }
    }

    #[test]
    fn strings_are_joined_where_there_is_room() {
        let mut buffer = [0; 5];
        assert_eq!(join(&mut buffer, &[b"ab", b"cd"]), Some(c"abcd"));
        assert_eq!(join(&mut buffer, &[b"ab", b"cde"]), None);
    }
}
