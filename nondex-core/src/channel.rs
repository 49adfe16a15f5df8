//! The record channel: a shared mapping that a test process fills and the driver reads.
//!
//! The process maps the file of its record before `main`. After that, appending an event is one
//! atomic addition and a copy: no file is opened, no memory is taken, no system call is made. So an
//! event arrives whatever the test has done to its limits, descriptors, root folder or user. An
//! event that was appended outlives a SIGKILL. A forked child inherits the mapping and writes into
//! it as any thread does.
//!
//! The file is a header of `HEADER` bytes and slots of `SLOT` bytes. A slot begins with a head
//! word; the rest is payload. An event takes as many slots in a row as its payload needs. The head
//! of the first one has the event's length and is stored last. A head of 0 is a *hole*: a slot that
//! was taken and not filled, because its thread was killed. Every slot has a head, so a reader
//! finds the next event after a hole. Events without room are counted in the header. The last slots
//! are reserved for how tests end, which arrives however much came before. Numbers are in the byte
//! order of the machine.

#![expect(
    unsafe_code,
    reason = "a mapping that several processes write into is reached through raw pointers"
)]

mod read;

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

pub use read::{Contents, read};

use crate::pages;

/// Bytes before the first slot.
const HEADER: usize = 4096;

/// Bytes of a slot: a cache line, so that two threads that append do not write into one.
const SLOT: usize = 64;

/// Bytes of a slot without its head.
const PAYLOAD: usize = SLOT - size_of::<u64>();

/// Number of slots. The first reach of a call site by a thread takes about five, so there is room
/// for 45,000 of these. Pages that no event reaches take no memory.
const SLOTS: usize = 1 << 18;

/// Number of slots at the end that only [`Channel::append_end`] takes.
const RESERVED: usize = SLOTS / 8;

/// Size of the file.
const BYTES: usize = HEADER + SLOTS * SLOT;

/// First word of a file that is a channel; the last byte is the version of the layout.
const MAGIC: u64 = u64::from_be_bytes(*b"nondex\0\x01");

/// Head of a slot that continues an event. Other heads are the event's length in bytes, plus 1.
const CONTINUED: u64 = u64::MAX;

/// Permissions with which a process opens its record. The system uses the nine bits that it knows.
/// By the others, a filter of the process's system calls recognises this call.
pub const RECORD_MODE: u32 = 0x6e64_0000 | 0o666;

/// Words of the header.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Word {
    Magic = 0,
    /// Number of slots that were taken; it may be beyond the capacity.
    Taken = 1,
    /// Number of events for which there was no room.
    Lost = 2,
}

/// A channel that is mapped into this process.
#[derive(Debug)]
pub struct Channel {
    base: NonNull<AtomicU64>,
}

// SAFETY: all of the mapping is accessed as atomic words.
unsafe impl Send for Channel {}
// SAFETY: as above.
unsafe impl Sync for Channel {}

impl Channel {
    /// Maps the file at `path`, which is made if there is none.
    ///
    /// # Errors
    /// When it cannot be opened, made as large as a channel, or mapped.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        #[cfg(target_os = "linux")]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, RECORD_MODE);
        let file = match options.open(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                options.create(true).truncate(false).open(path)
            }
            opened => opened,
        }?;
        // A process that reaches past the end of a file is killed. Another one may have made this
        // file just now, without giving it its size yet.
        let length = file.metadata()?.len();
        if length < BYTES as u64 {
            if length > 0 {
                file.set_len(0)?;
            }
            prepare(&file)?;
        }
        let base = pages::of_file(&file, BYTES)?.cast();
        let channel = Channel { base };
        // A child may map the file while its parent is still preparing it.
        channel.word(Word::Magic).store(MAGIC, Ordering::Relaxed);
        Ok(channel)
    }

    fn word(&self, word: Word) -> &AtomicU64 {
        self.at(word as usize)
    }

    /// The word at a position, which must be in the mapping.
    fn at(&self, position: usize) -> &AtomicU64 {
        debug_assert!(position < BYTES / size_of::<u64>());
        // SAFETY: the position is in the mapping, which is aligned to a page and stays while this
        // value lives.
        unsafe { self.base.add(position).as_ref() }
    }

    /// Appends an event. Takes no memory, waits for nobody, makes no system call. May be called in
    /// a signal handler and in a forked child. Costs some nanoseconds and the copy.
    pub fn append(&self, payload: &[u8]) {
        self.append_within(SLOTS - RESERVED, payload);
    }

    /// As [`append`](Self::append), of one of the few events that state how a test ended: there is
    /// room for them when there is none for others.
    pub fn append_end(&self, payload: &[u8]) {
        self.append_within(SLOTS, payload);
    }

    /// Appends an event if it fits into the first `limit` slots.
    fn append_within(&self, limit: usize, payload: &[u8]) {
        let slots = payload.len().div_ceil(PAYLOAD).max(1);
        let end = |first: u64| first.saturating_add(slots as u64);
        let taken = self.word(Word::Taken);
        // What does not fit takes no room. Threads that look at the same time may go beyond the
        // limit, but none goes beyond the last slot.
        let fits = end(taken.load(Ordering::Relaxed)) <= limit as u64;
        let first = fits.then(|| taken.fetch_add(slots as u64, Ordering::Relaxed));
        let Some(first) = first.filter(|first| end(*first) <= SLOTS as u64) else {
            self.word(Word::Lost).fetch_add(1, Ordering::Relaxed);
            return;
        };
        // Below the number of slots.
        let first = first as usize;
        let mut rest = payload;
        for slot in first..first + slots {
            let start = (HEADER + slot * SLOT) / size_of::<u64>();
            let (part, others) = rest.split_at(rest.len().min(PAYLOAD));
            rest = others;
            for (word, bytes) in part.chunks(size_of::<u64>()).enumerate() {
                let mut padded = [0; size_of::<u64>()];
                padded[..bytes.len()].copy_from_slice(bytes);
                let value = u64::from_ne_bytes(padded);
                self.at(start + 1 + word).store(value, Ordering::Relaxed);
            }
            if slot > first {
                self.at(start).store(CONTINUED, Ordering::Relaxed);
            }
        }
        // Last: a reader that sees the head sees the whole event.
        let start = (HEADER + first * SLOT) / size_of::<u64>();
        let head = payload.len() as u64 + 1;
        self.at(start).store(head, Ordering::Release);
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        pages::unmap(self.base.cast(), BYTES);
    }
}

/// Makes a new file a channel without events. Its pages are made when they are first written.
///
/// # Errors
/// When it cannot be written.
pub fn prepare(file: &File) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    file.set_len(BYTES as u64)?;
    file.write_all_at(&MAGIC.to_ne_bytes(), 0)
}

#[cfg(test)]
mod tests;
