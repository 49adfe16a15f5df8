//! The reader of a channel's file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::{CONTINUED, HEADER, MAGIC, PAYLOAD, SLOT, SLOTS, Word};

/// Contents of a channel at the time of reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The events, in the order in which their slots were reserved.
    pub events: Vec<Vec<u8>>,
    /// Number of events for which there was no room.
    pub lost: u64,
    /// Number of reserved places that are not filled: their thread was killed, or is still writing.
    pub holes: u64,
}

/// Reads the complete events, while processes may continue writing. Returns `None` if the file is
/// not a channel.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn read(file: &File) -> io::Result<Option<Contents>> {
    let mut header = [0; 3 * size_of::<u64>()];
    match file.read_exact_at(&mut header, 0) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let word = |word: Word| {
        let start = word as usize * size_of::<u64>();
        let bytes = &header[start..start + size_of::<u64>()];
        u64::from_ne_bytes(bytes.try_into().unwrap_or_default())
    };
    if word(Word::Magic) != MAGIC {
        return Ok(None);
    }
    let taken = usize::try_from(word(Word::Taken)).map_or(SLOTS, |taken| taken.min(SLOTS));
    let mut bytes = vec![0; taken * SLOT];
    file.read_exact_at(&mut bytes, HEADER as u64)?;
    let mut contents = Contents { lost: word(Word::Lost), ..Contents::default() };
    let slots: Vec<(u64, &[u8])> = bytes
        .chunks_exact(SLOT)
        .map(|slot| {
            let (head, payload) = slot.split_at(SLOT - PAYLOAD);
            (u64::from_ne_bytes(head.try_into().unwrap_or_default()), payload)
        })
        .collect();
    let mut at = 0;
    let mut was_hole = false;
    while let Some(&(head, _)) = slots.get(at) {
        let length = match head {
            0 | CONTINUED => None,
            head => usize::try_from(head - 1).ok(),
        };
        let event = length.and_then(|length| {
            let count = length.div_ceil(PAYLOAD).max(1);
            let parts = slots.get(at..at.checked_add(count)?)?;
            let mut event = Vec::with_capacity(count * PAYLOAD);
            for (_, part) in parts {
                event.extend_from_slice(part);
            }
            event.truncate(length);
            Some((count, event))
        });
        match event {
            Some((count, event)) => {
                contents.events.push(event);
                at += count;
            }
            None => {
                // Several consecutive slots without an event count as one hole.
                contents.holes += u64::from(!was_hole);
                at += 1;
            }
        }
        was_hole = length.is_none();
    }
    // The reserved slots of an event that did not fit may overlap the last slots. The event counts
    // as lost, not as a hole.
    if was_hole && contents.lost > 0 {
        contents.holes -= 1;
    }
    Ok(Some(contents))
}
