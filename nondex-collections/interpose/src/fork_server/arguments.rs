//! Arguments of a process, which a fork replaces.

use ::std::ffi::{CStr, c_int, c_long};
use ::std::ptr;
use ::std::str;

use super::{List, Room, close};
use crate::libc;
use crate::system::call;

/// `PR_SET_MM` and `PR_SET_MM_MAP`, which describe the memory of the process to the system.
const SET_MEMORY: c_int = 35;
const WHOLE_MAP: c_int = 14;

/// Arguments of the program after its name: the list, and the memory of the texts, one after the
/// other.
pub(super) struct Arguments {
    list: List,
    count: usize,
    texts: Room,
    /// Description by the system, if it can be read.
    memory: Option<Memory>,
}

impl Arguments {
    /// Returns the arguments, or `None` if there are none.
    ///
    /// # Safety
    /// `all` must be the list of the system, with the name of the program.
    pub(super) unsafe fn of(all: List) -> Option<Self> {
        // SAFETY: the list ends with a null pointer, and each entry with NUL. The system puts the
        // texts one after the other.
        unsafe {
            let list = if (*all).is_null() { all } else { all.add(1) };
            let count = (0..).take_while(|at| !(*list.add(*at)).is_null()).count();
            let last = *list.add(count.checked_sub(1)?);
            let end = last.add(CStr::from_ptr(last).to_bytes_with_nul().len());
            let start = *list;
            let length = end.addr().checked_sub(start.addr())?;
            let texts = Room { start: start.cast(), length };
            Some(Arguments { list, count, texts, memory: Memory::read() })
        }
    }

    /// Replaces the arguments by others, each with NUL at its end, as far as there is room. Their
    /// list then ends before the number of arguments that `main` gets; std ends at either.
    ///
    /// # Safety
    /// Nobody else may use the arguments.
    pub(super) unsafe fn replace(&self, texts: &[u8]) {
        let mut start = self.texts.start;
        // SAFETY: pointers into the memory of the texts are written into the list, up to its end.
        unsafe {
            self.texts.replace(texts);
            let end = self.texts.start.addr() + texts.len();
            for at in 0..self.count {
                let is_left = start.addr() < end;
                *self.list.add(at) = if is_left { start.cast() } else { ptr::null_mut() };
                start = start.add(CStr::from_ptr(start.cast()).to_bytes_with_nul().len());
            }
            if let Some(memory) = &self.memory {
                memory.end_command_line(end);
            }
        }
    }
}

/// Description of the memory of a process: `prctl_mm_map` of the system.
#[repr(C)]
#[derive(Clone, Default)]
struct Memory {
    start_code: u64,
    end_code: u64,
    start_data: u64,
    end_data: u64,
    start_brk: u64,
    brk: u64,
    start_stack: u64,
    arg_start: u64,
    arg_end: u64,
    env_start: u64,
    env_end: u64,
    auxv: u64,
    auxv_size: u32,
    exe_fd: u32,
}

impl Memory {
    /// Reads the description of this process.
    fn read() -> Option<Self> {
        let mut buffer = [0; 1024];
        let memory = Self::parse(read_stat(&mut buffer)?)?;
        // SAFETY: asks where the heap ends.
        let brk = unsafe { call(libc::SYS_brk, [0; 6]) } as u64;
        Some(Memory { brk, exe_fd: u32::MAX, ..memory })
    }

    /// Parses a `stat` file; see `proc_pid_stat(5)` for the numbers of its fields.
    fn parse(stat: &str) -> Option<Self> {
        // The third field follows the name in parentheses.
        let (_, fields) = stat.rsplit_once(')')?;
        let mut memory = Memory::default();
        for (number, text) in (3..).zip(fields.split_ascii_whitespace()) {
            let place = match number {
                26 => &mut memory.start_code,
                27 => &mut memory.end_code,
                28 => &mut memory.start_stack,
                45 => &mut memory.start_data,
                46 => &mut memory.end_data,
                47 => &mut memory.start_brk,
                48 => &mut memory.arg_start,
                49 => &mut memory.arg_end,
                50 => &mut memory.env_start,
                51 => &mut memory.env_end,
                _ => continue,
            };
            *place = text.parse().ok()?;
        }
        (memory.env_end != 0).then_some(memory)
    }

    /// Ends the command line in `/proc` at this address. On a system that does not
    /// allow it, the command line ends with empty arguments.
    fn end_command_line(&self, end: usize) {
        let changed = Memory { arg_end: end as u64, ..self.clone() };
        let (place, size) = (ptr::from_ref(&changed).addr(), size_of::<Memory>());
        let arguments =
            [SET_MEMORY.into(), WHOLE_MAP.into(), place as c_long, size as c_long, 0, 0];
        // SAFETY: the system reads a description of the memory as it is, but for this end.
        unsafe { call(libc::SYS_prctl, arguments) };
    }
}

/// Reads the `stat` file of this process.
fn read_stat(buffer: &mut [u8]) -> Option<&str> {
    let path = c"/proc/self/stat".as_ptr().addr() as c_long;
    let (start, length) = (buffer.as_mut_ptr().addr() as c_long, buffer.len() as c_long);
    // SAFETY: the path ends in NUL, and the system fills the buffer up to its length.
    let read = unsafe {
        let flags = c_long::from(libc::O_RDONLY | libc::O_CLOEXEC);
        let file = call(libc::SYS_openat, [libc::AT_FDCWD.into(), path, flags, 0, 0, 0]) as c_int;
        let read = call(libc::SYS_read, [file.into(), start, length, 0, 0, 0]);
        close(file);
        read
    };
    str::from_utf8(buffer.get(..usize::try_from(read).ok()?)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_of_the_command_line_are_read_whatever_the_program_is_called() {
        let numbers: Vec<String> = (4..=52).map(|number: u32| number.to_string()).collect();
        let memory = Memory::parse(&format!("7 (a) b (c) S {}", numbers.join(" "))).unwrap();
        assert_eq!((memory.start_code, memory.start_brk), (26, 47));
        assert_eq!((memory.arg_start, memory.arg_end, memory.env_end), (48, 49, 51));
        assert!(Memory::parse("7 (a) S 1 2 3").is_none());
    }
}
