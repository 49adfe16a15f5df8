//! Bytes of the executable's writable statics.

use ::std::ffi::{c_int, c_void};
use ::std::fmt::Write;
use ::std::ptr;
use ::std::slice;

use crate::{PAGE, libc};
use nondex_core::{StateChange, StateId, StateKind, hidden};

/// Maximum number of changed places that are distinguished.
const MAX_CHANGES: usize = 4096;

/// Maximum number of bytes of a change that are shown.
const MAX_SHOWN: usize = 64;

/// Mark after the shown bytes of a longer change.
const MORE: char = '\u{2026}';

/// Bytes of a segment.
pub(super) type Bytes = hidden::Vec<u8>;

/// Segment of this process's memory.
#[derive(Clone, Copy, Debug)]
struct Segment {
    address: usize,
    length: usize,
    /// Address of the segment in the names of states.
    offset: usize,
}

/// Writable segments of the executable.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    /// Difference between addresses in memory and those in the executable's file.
    pub(super) base: usize,
    statics: Vec<Segment>,
    /// Range that is read-only after the start (`PT_GNU_RELRO`).
    constant: [usize; 2],
}

impl Image {
    /// Finds the segments of this process's executable.
    pub(super) fn of_process() -> Self {
        unsafe extern "C" fn first(
            info: *mut libc::dl_phdr_info,
            _size: usize,
            image: *mut c_void,
        ) -> c_int {
            // SAFETY: the loader passes its information on an object, the executable first, and the
            // pointer that was given to it.
            unsafe {
                let (info, image) = (&*info, &mut *image.cast::<Image>());
                image.read(info);
            }
            1
        }
        let mut image = Image::default();
        // SAFETY: the function takes an image.
        unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut image).cast()) };
        image
    }

    /// Reads the segments from the loader's information.
    ///
    /// # Safety
    /// The information must be the loader's.
    unsafe fn read(&mut self, info: &libc::dl_phdr_info) {
        self.base = info.dlpi_addr as usize;
        // SAFETY: the loader has the number of headers.
        let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        for header in headers {
            let (offset, length) = (header.p_vaddr as usize, header.p_memsz as usize);
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0 {
                self.statics.push(Segment { address: self.base + offset, length, offset });
            }
            if header.p_type == libc::PT_GNU_RELRO {
                self.constant = [self.base + offset, self.base + offset + length];
            }
        }
    }

    /// Returns the starts and ends of the pages with statics that may be written to.
    pub(super) fn written(&self) -> Vec<[usize; 2]> {
        let [start, end] = self.constant.map(|place| place / PAGE * PAGE);
        let pages = self.statics.iter().flat_map(|segment| {
            let first = segment.address / PAGE * PAGE;
            let last = (segment.address + segment.length).next_multiple_of(PAGE);
            [[first, last.min(start)], [first.max(end), last]]
        });
        pages.filter(|[start, end]| start < end).collect()
    }

    /// Copies the present bytes of all segments. They go into the tool's hidden memory, because the
    /// program's allocator may keep a small heap in a static.
    pub(super) fn bytes(&self) -> Vec<Bytes> {
        let bytes = |segment: &Segment| {
            let mut bytes = hidden::vec();
            bytes.reserve_exact(segment.length);
            // SAFETY: the segment is mapped as long as the executable is, and only read. Other
            // threads may write to it meanwhile; then some bytes are older, which does no harm.
            // There is room for all of them.
            unsafe {
                let from = ptr::with_exposed_provenance::<u8>(segment.address);
                ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), segment.length);
                bytes.set_len(segment.length);
            }
            bytes
        };
        self.statics.iter().map(bytes).collect()
    }

    /// Returns the places at which `before` and `after` are different.
    pub(super) fn changes(&self, before: &[Bytes], after: &[Bytes]) -> Vec<StateChange> {
        let mut changes = Vec::new();
        for ((segment, before), after) in self.statics.iter().zip(before).zip(after) {
            let mut at = 0;
            while changes.len() < MAX_CHANGES {
                let Some(skipped) = differing(&before[at..], &after[at..]) else { break };
                let start = at + skipped;
                let pairs = before[start..].iter().zip(&after[start..]);
                at = start + pairs.take_while(|(before, after)| before != after).count();
                changes.push(StateChange {
                    state: StateId {
                        kind: StateKind::Static,
                        name: StateId::name_of_bytes(segment.offset + start, at - start),
                    },
                    before: Some(hexadecimal(&before[start..at])),
                    after: Some(hexadecimal(&after[start..at])),
                });
            }
        }
        changes
    }

    /// Returns the address and number of the bytes that `state` names.
    pub(super) fn place(&self, state: &StateId) -> Option<(usize, usize)> {
        let (offset, length) = state.bytes()?;
        self.statics.iter().find_map(|segment| {
            let start = offset.checked_sub(segment.offset)?;
            let is_within = start.checked_add(length)? <= segment.length;
            is_within.then_some((segment.address + start, length))
        })
    }

    /// Restores the bytes that `state` names from `bytes`, or clears them if the state requests it.
    pub(super) fn restore(&self, state: &StateId, bytes: &[Bytes]) {
        let Some((offset, length)) = state.bytes() else { return };
        for (segment, bytes) in self.statics.iter().zip(bytes) {
            let start = offset.wrapping_sub(segment.offset);
            let Some(bytes) = bytes.get(start..start.saturating_add(length)) else { continue };
            // SAFETY: the place is in the writable segment, and gets a value that it held before,
            // hence one of its type; or the cleared flag of a lock, which is then not poisoned. No
            // other thread accesses it meanwhile. Memory that tests own may leak but is not freed
            // twice, because new owners are overwritten.
            unsafe {
                let to = ptr::with_exposed_provenance_mut::<u8>(segment.address + start);
                if state.is_cleared() {
                    ptr::write_bytes(to, 0, length);
                } else {
                    ptr::copy_nonoverlapping(bytes.as_ptr(), to, length);
                }
            }
        }
    }
}

/// Returns the number of equal bytes before the first difference; `None` if all are equal.
fn differing(before: &[u8], after: &[u8]) -> Option<usize> {
    const BLOCK: usize = 256;
    let blocks = before.chunks(BLOCK).zip(after.chunks(BLOCK));
    let block = blocks.take_while(|(before, after)| before == after).count();
    let skipped = (block * BLOCK).min(before.len());
    let mut rest = before[skipped..].iter().zip(&after[skipped..]);
    rest.position(|(before, after)| before != after).map(|position| skipped + position)
}

fn hexadecimal(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(MAX_SHOWN)];
    let mut text = String::with_capacity(2 * shown.len() + MORE.len_utf8());
    for byte in shown {
        // Writing to a string never fails.
        let _ = write!(text, "{byte:02x}");
    }
    if bytes.len() > MAX_SHOWN {
        text.push(MORE);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::std::sync::atomic::{AtomicU32, Ordering};

    static FIRST: AtomicU32 = AtomicU32::new(1);
    static SECOND: AtomicU32 = AtomicU32::new(0);

    #[test]
    fn a_changed_static_is_found_and_put_back_and_no_other() {
        let image = Image::of_process();
        let before = image.bytes();
        FIRST.store(0x0102_0304, Ordering::Relaxed);
        SECOND.store(7, Ordering::Relaxed);
        let changes = image.changes(&before, &image.bytes());
        let of = |is: &AtomicU32| {
            let offset = ptr::from_ref(is).expose_provenance() - image.base;
            let has_offset =
                |change: &&StateChange| change.state.bytes().is_some_and(|(at, _)| at == offset);
            changes.iter().find(has_offset).unwrap()
        };
        let (first, second) = (of(&FIRST), of(&SECOND));
        assert_eq!(first.before.as_deref(), Some("01000000"));
        assert_eq!(first.after.as_deref(), Some("04030201"));
        assert_eq!(second.after.as_deref(), Some("07"));
        image.restore(&first.state, &before);
        assert_eq!(FIRST.load(Ordering::Relaxed), 1);
        assert_eq!(SECOND.load(Ordering::Relaxed), 7);
    }

    #[test]
    fn the_first_difference_is_found_wherever_it_is() {
        for length in [0, 1, 255, 256, 257, 1000] {
            let before = vec![0; length];
            assert_eq!(differing(&before, &before), None);
            for at in [0, 1, 254, 255, 256, 257, 999] {
                if at < length {
                    let mut after = before.clone();
                    after[at] = 1;
                    assert_eq!(differing(&before, &after), Some(at), "{at} of {length}");
                }
            }
        }
    }
}
