//! The record channel: a shared mapping that a test process fills and the driver reads.
//!
//! The process maps the file of its record before `main`. After that, appending an event is one
//! atomic addition and a copy, without opening files, allocating, or system calls. So an event
//! arrives whatever the test did to its limits, descriptors, root folder or user. An appended event
//! survives a SIGKILL. A forked child inherits the mapping and writes into it as any thread does.
//!
//! The file is a header of `HEADER` bytes, followed by slots of `SLOT` bytes. A slot begins with a
//! head word; the rest is payload. An event takes as many consecutive slots as its payload needs.
//! The head of its first slot has the length of the event and is stored last. A head of 0 is a
//! *hole*: a slot that was reserved and not filled, because its thread was killed. Every slot has a
//! head, so a reader finds the next event after a hole. The header counts the events for which
//! there was no room. The last slots are reserved for events that tell how tests end, which arrive
//! even if the channel is full. Numbers are in native byte order.

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

/// Bytes of a slot: a cache line, so that two threads that append do not write to the same one.
const SLOT: usize = 64;

/// Bytes of a slot without its head.
const PAYLOAD: usize = SLOT - size_of::<u64>();

/// Number of slots. The first time that a thread reaches a call site takes about five slots, so
/// 45,000 of these fit. Pages that no event reaches use no memory.
const SLOTS: usize = 1 << 18;

/// Number of slots at the end that only [`Channel::append_end`] uses.
const RESERVED: usize = SLOTS / 8;

/// Size of the file, in bytes.
const BYTES: usize = HEADER + SLOTS * SLOT;

/// First word of a channel file; the last byte is the version of the layout.
const MAGIC: u64 = u64::from_be_bytes(*b"nondex\0\x01");

/// Head of a slot that continues an event. Other heads are the event's length in bytes, plus 1.
const CONTINUED: u64 = u64::MAX;

/// Permissions with which a process opens its record. The system uses the lowest nine bits. The
/// others let a filter of the process's system calls recognise this call.
pub const RECORD_MODE: u32 = 0x6e64_0000 | 0o666;

/// Words of the header.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Word {
    Magic = 0,
    /// Number of reserved slots; may exceed the capacity.
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
    /// Maps the file at `path`, and creates it if it does not exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, resized or mapped.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        // C libraries pass the mode to the system only together with the request to create a file.
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(target_os = "linux")]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, RECORD_MODE);
        let file = options.open(path)?;
        // Accessing a page past the end of a file kills the process. Another process may have
        // created this file just now and not resized it yet.
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

    /// Returns the word at a position, which must be in the mapping.
    fn at(&self, position: usize) -> &AtomicU64 {
        debug_assert!(position < BYTES / size_of::<u64>());
        // SAFETY: the position is in the mapping, which is aligned to a page and stays while this
        // value lives.
        unsafe { self.base.add(position).as_ref() }
    }

    /// Appends an event. Does not allocate, wait, or make system calls, so it may be called in a
    /// signal handler and in a forked child. Costs some nanoseconds and the copy.
    pub fn append(&self, payload: &[u8]) {
        self.append_within(SLOTS - RESERVED, payload);
    }

    /// Appends an event as [`append`](Self::append) does, for the few events that state how a test
    /// ended. There is room for them when there is none for others.
    pub fn append_end(&self, payload: &[u8]) {
        self.append_within(SLOTS, payload);
    }

    /// Appends an event if it fits into the first `limit` slots.
    fn append_within(&self, limit: usize, payload: &[u8]) {
        let slots = payload.len().div_ceil(PAYLOAD).max(1);
        let end = |first: u64| first.saturating_add(slots as u64);
        let taken = self.word(Word::Taken);
        // An event that does not fit must not use up room. Threads that check at the same time may
        // exceed the limit, but never the last slot.
        let fits = end(taken.load(Ordering::Relaxed)) <= limit as u64;
        let reserved = fits.then(|| taken.fetch_add(slots as u64, Ordering::Relaxed));
        let Some(position) = reserved.filter(|first| end(*first) <= SLOTS as u64) else {
            self.word(Word::Lost).fetch_add(1, Ordering::Relaxed);
            return;
        };
        // The position is less than the number of slots, so it fits.
        let first = position as usize;
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
        // The head is stored last, so that a reader which sees it sees the whole event.
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

/// Makes a new file an empty channel. Its pages are allocated when they are first written.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn prepare(file: &File) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    file.set_len(BYTES as u64)?;
    file.write_all_at(&MAGIC.to_ne_bytes(), 0)
}

#[cfg(test)]
mod tests;
