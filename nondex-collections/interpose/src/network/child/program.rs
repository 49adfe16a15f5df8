//! Properties of a program that is to be started: whether its loader loads the library, and whether
//! the library observes all that it does.
//!
//! The program is examined between `fork` and `exec`, where little is allowed, so nothing here
//! allocates memory.

use ::std::ffi::{CStr, c_int};

use super::{Library, join};
use crate::libc;

/// Program that is to be started. The default is one that does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    /// Whether its loader is glibc's, for this machine's type, and loads the library. Any other
    /// loader would only print a warning.
    pub(super) loads: bool,
    /// Whether it calls the kernel without libc, or does not load the library.
    pub(super) is_opaque: bool,
}

const OPAQUE: Program = Program { loads: false, is_opaque: true };

/// Length of an ELF file's header, in bytes.
pub(super) const HEADER: usize = size_of::<libc::Elf64_Ehdr>();

/// Returns the fields of a header that must agree between a program and a library.
pub(super) const fn kind(header: &[u8; HEADER]) -> [u8; 4] {
    [header[4], header[5], header[18], header[19]]
}

/// Maximum length of a path.
pub(super) const MAX_PATH: usize = libc::PATH_MAX as usize;

/// File that is read between `fork` and `exec`.
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

    /// Returns whether the program gains privileges when it starts. Its loader then ignores the
    /// libraries that the environment names.
    fn gains_rights(&self) -> bool {
        // SAFETY: a `stat` is plain data, for which zeros are valid.
        let mut stat = unsafe { ::std::mem::zeroed::<libc::stat64>() };
        // SAFETY: `stat` is valid for writes; the other functions only return numbers. Without a
        // buffer, the length of an attribute is queried.
        unsafe {
            if libc::fstat64(self.0, &raw mut stat) != 0 {
                return false;
            }
            let own = (libc::getuid(), libc::getgid());
            let name = c"security.capability".as_ptr();
            is_run_as_another(stat.st_mode, (stat.st_uid, stat.st_gid), own)
                || own.0 != 0 && libc::fgetxattr(self.0, name, ::std::ptr::null_mut(), 0) > 0
        }
    }
}

/// Returns whether a program of this mode, user and group changes the user or group of the process,
/// which are `own`.
const fn is_run_as_another(
    mode: libc::mode_t,
    (user, group): (libc::uid_t, libc::gid_t),
    own: (libc::uid_t, libc::gid_t),
) -> bool {
    let of_group = libc::S_ISGID | libc::S_IXGRP;
    mode & libc::S_ISUID != 0 && user != own.0 || mode & of_group == of_group && group != own.1
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: this code owns the descriptor.
        unsafe { libc::close(self.0) };
    }
}

/// Examines the program at `path`, or the interpreter of the script there.
pub(crate) fn by_path(path: &CStr, library: &Library) -> Program {
    look(path, library, false)
}

fn look(path: &CStr, library: &Library, is_script: bool) -> Program {
    let Some(file) = File::open(path) else { return Program::default() };
    let mut header = [0; HEADER];
    if file.read(0, &mut header) < HEADER || !header.starts_with(b"\x7fELF") {
        return if !is_script && header.starts_with(b"#!") {
            interpreter(&file, library)
        } else {
            Program::default()
        };
    }
    if kind(&header) != library.kind || file.gains_rights() {
        return OPAQUE;
    }
    let word = |at: usize| u64::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    let table = u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| header[32 + i]));
    let (size, count) = (word(54), word(56));
    let mut program = OPAQUE;
    let mut is_go = false;
    for i in 0..count {
        let mut entry = [0; size_of::<libc::Elf64_Phdr>()];
        let read = file.read(table.saturating_add(i * size), &mut entry);
        let word = |at: usize| u64::from_ne_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|i| entry[at + i]));
        let mut content = [0; 256];
        let length = usize::try_from(word(32)).map_or(content.len(), |len| len.min(content.len()));
        let mut contains = |parts: &[&[u8]]| {
            let length = file.read(word(8), &mut content[..length]);
            let is_at = |at: &[u8]| parts.iter().any(|part| at.starts_with(part));
            (0..length).any(|start| is_at(&content[start..length]))
        };
        match u32::from_ne_bytes([0, 1, 2, 3].map(|i| entry[i])) {
            _ if read < entry.len() => {}
            libc::PT_INTERP => program.loads = contains(&[b"ld-li", b"ld64."]),
            // Go marks every binary with this name, and its programs call the kernel without libc.
            libc::PT_NOTE => is_go |= contains(&[b"\x04\0\0\0Go\0\0"]),
            _ => {}
        }
    }
    program.is_opaque = !program.loads || is_go;
    program
}

fn interpreter(script: &File, library: &Library) -> Program {
    let mut line = [0; 256];
    let length = script.read(2, &mut line[..255]);
    let is_space = |byte: &u8| b" \t".contains(byte);
    let start = line[..length].iter().take_while(|byte| is_space(byte)).count();
    let word = line[start..length].iter().position(|byte| is_space(byte) || *byte == b'\n');
    let Some(end) = word.map(|length| start + length) else { return Program::default() };
    line[end] = 0;
    CStr::from_bytes_until_nul(&line[start..])
        .map_or(Program::default(), |path| look(path, library, true))
}

/// Examines the program that is found by `name` in `PATH`.
pub(crate) fn by_name(name: &CStr, library: &Library) -> Program {
    if name.to_bytes().contains(&b'/') {
        return by_path(name, library);
    }
    // SAFETY: the name ends with NUL. The value stays valid until the environment is changed, as
    // libc itself assumes.
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
        let Some(path) = join(&mut buffer, &[folder, b"/", name.to_bytes()]) else { continue };
        // SAFETY: the path ends with NUL.
        if unsafe { libc::access(path.as_ptr(), libc::X_OK) } == 0 {
            return by_path(path, library);
        }
    }
    Program::default()
}

#[cfg(test)]
mod tests {
    use ::std::ffi::CString;
    use ::std::io::Read;
    use ::std::os::unix::ffi::OsStrExt;

    use super::*;

    const OBSERVED: Program = Program { loads: true, is_opaque: false };

    fn own_header() -> [u8; HEADER] {
        let mut header = [0; HEADER];
        let mut file = ::std::fs::File::open("/proc/self/exe").unwrap();
        file.read_exact(&mut header).unwrap();
        header
    }

    /// Returns a library of the same kind as this program.
    fn library() -> Library {
        Library { entry: c"LD_PRELOAD=/library.so", kind: kind(&own_header()) }
    }

    /// Examines a file with this content.
    fn of(content: &[u8], library: &Library) -> Program {
        let mut name = ::std::env::temp_dir().into_os_string();
        name.push(format!("/nondex-program-{}", ::std::process::id()));
        ::std::fs::write(&name, content).unwrap();
        let path = CString::new(name.as_bytes()).unwrap();
        let program = by_path(&path, library);
        ::std::fs::remove_file(name).unwrap();
        program
    }

    #[test]
    fn only_programs_of_glibc_load_the_library() {
        let library = library();
        assert_eq!(by_path(c"/proc/self/exe", &library), OBSERVED);
        assert_eq!(by_name(c"sh", &library), OBSERVED);
        assert_eq!(by_name(c"no-such-program", &library), Program::default());
        assert_eq!(by_path(c"/etc/passwd", &library), Program::default());
        let other = Library { kind: [0; 4], ..library };
        assert_eq!(by_path(c"/proc/self/exe", &other), OPAQUE);
    }

    #[test]
    fn a_program_that_is_run_as_another_user_or_group_gains_rights() {
        for (mode, own, expected) in [
            (0o4755, (1000, 1000), true),
            (0o4755, (0, 1000), false),
            (0o2755, (1000, 1000), true),
            (0o2755, (1000, 0), false),
            // Without the permission to execute, the bit has another meaning.
            (0o2745, (1000, 1000), false),
            (0o0755, (1000, 1000), false),
        ] {
            assert_eq!(is_run_as_another(mode, (0, 0), own), expected, "{mode:o}, {own:?}");
        }
    }

    #[test]
    fn a_file_is_judged_by_what_it_says_of_itself() {
        let library = library();
        for (line, expected) in [
            ("#!/bin/sh\n", OBSERVED),
            ("#! /usr/bin/env sh\n", OBSERVED),
            ("#!/no/such/interpreter\n", Program::default()),
            ("#!/bin/sh", Program::default()),
            ("echo\n", Program::default()),
        ] {
            assert_eq!(of(line.as_bytes(), &library), expected, "{line}");
        }
        let segment = |kind: u32, content: &[u8]| {
            let mut file = own_header().to_vec();
            file[32..40].copy_from_slice(&(HEADER as u64).to_ne_bytes());
            file[54..56].copy_from_slice(&56_u16.to_ne_bytes());
            file[56..58].copy_from_slice(&2_u16.to_ne_bytes());
            let loader = b"/lib64/ld-linux-x86-64.so.2\0";
            let start = HEADER as u64 + 2 * 56;
            let mut entry = |kind: u32, at: u64, len: usize| {
                let words = [u64::from(kind), at, 0, 0, len as u64, 0, 0];
                file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            };
            entry(libc::PT_INTERP, start, loader.len());
            entry(kind, start + loader.len() as u64, content.len());
            file.extend(loader);
            file.extend(content);
            file
        };
        let go = b"\x04\0\0\0\x04\0\0\0\x04\0\0\0Go\0\0abcd";
        let gnu = b"\x04\0\0\0\x04\0\0\0\x03\0\0\0GNU\0abcd";
        let opaque = Program { is_opaque: true, ..OBSERVED };
        for (content, expected) in [
            (segment(libc::PT_NOTE, go), opaque),
            (segment(libc::PT_NOTE, gnu), OBSERVED),
            // The program names no glibc loader, so it counts as linked statically.
            (segment(libc::PT_INTERP, b"/lib/ld-musl-x86_64.so.1\0"), OPAQUE),
            (own_header().to_vec(), OPAQUE),
        ] {
            assert_eq!(of(&content, &library), expected, "{content:?}");
        }
    }
}
