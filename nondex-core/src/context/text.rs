//! Text of limited length that is built without heap memory.

use std::fmt;

/// Text of up to `N` bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Text<N> {
    pub(super) const fn new() -> Self {
        Text { bytes: [0; N], len: 0 }
    }

    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn as_str(&self) -> &str {
        // `Text` is built from whole strings only, so it is valid UTF-8.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    /// Appends the whole of `text`, or fails and appends nothing.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
