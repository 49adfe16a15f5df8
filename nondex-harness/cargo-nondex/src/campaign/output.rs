//! Output of a test process. Of a long output, only the beginning and the end are kept.

use std::collections::VecDeque;
use std::io::{self, Read};

/// Number of bytes that are kept of the beginning of a long output.
pub const HEAD: usize = 16 << 10;

/// Number of bytes that are kept of the end of a long output.
pub const TAIL: usize = 16 << 10;

/// Output of one process, with stdout and stderr in the order of arrival. Holds at most [`HEAD`] +
/// [`TAIL`] bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    dropped: u64,
}

impl Output {
    /// Appends bytes. Takes O(`bytes`) time, and does not copy bytes that are dropped at once.
    pub fn push(&mut self, bytes: &[u8]) {
        let (to_head, rest) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(to_head);
        let skipped = rest.len().saturating_sub(TAIL);
        let rest = &rest[skipped..];
        let evicted = (self.tail.len() + rest.len()).saturating_sub(TAIL);
        self.tail.drain(..evicted);
        self.tail.extend(rest);
        self.dropped += (skipped + evicted) as u64;
    }

    /// Reads once from `source` and appends the bytes. Returns their number, which is 0 at the end.
    pub(super) fn fill(&mut self, mut source: impl Read, buffer: &mut [u8]) -> io::Result<usize> {
        let read = source.read(buffer)?;
        self.push(&buffer[..read]);
        Ok(read)
    }

    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// Returns the number of bytes that were dropped from the middle.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the output as text, with a line in place of the dropped bytes. Bytes that are not
    /// UTF-8 are replaced.
    pub fn to_text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if self.dropped == 0 {
            let whole = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        format!(
            "{}\n[nondex: {} bytes left out]\n{}",
            String::from_utf8_lossy(&self.head),
            self.dropped,
            String::from_utf8_lossy(&tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_that_fits_is_kept_whole_however_it_comes() {
        for chunk in [1, 7, 5000, HEAD, HEAD + TAIL] {
            let bytes: Vec<u8> = (0..HEAD + TAIL).map(|i| b'a' + (i % 26) as u8).collect();
            let mut output = Output::default();
            bytes.chunks(chunk).for_each(|part| output.push(part));
            assert_eq!(output.to_text().as_bytes(), bytes, "chunks of {chunk}");
            assert_eq!(output.dropped(), 0);
        }
    }

    #[test]
    fn a_flood_keeps_head_and_tail_and_counts_the_rest() {
        for chunk in [1, 4096, 65536, 1 << 20] {
            let bytes: Vec<u8> = (0..1_u32 << 20).map(|i| (i % 251) as u8).collect();
            let mut output = Output::default();
            bytes.chunks(chunk).for_each(|part| output.push(part));
            assert_eq!(output.head, bytes[..HEAD]);
            assert!(output.tail.iter().eq(&bytes[bytes.len() - TAIL..]));
            assert_eq!(output.dropped() as usize, bytes.len() - HEAD - TAIL);
        }
    }
}
