//! The bytes of the executable's statics, and of the main thread's thread-locals.

use ::std::ffi::{c_int, c_void};
use ::std::fmt::Write;
use ::std::ptr;
use ::std::slice;

use crate::{PAGE, libc};
use nondex_core::{StateChange, StateId, StateKind, hidden};

/// Maximum number of changed places that are distinguished.
const MAX_CHANGES: usize = 4096;

/// How many bytes of a change are shown.
const MAX_SHOWN: usize = 64;

/// What follows the bytes of a change that are shown, where there are more.
const MORE: char = '\u{2026}';

/// The bytes of such a part.
pub(super) type Bytes = hidden::Vec<u8>;

/// A part of the memory of this process.
#[derive(Clone, Copy, Debug)]
struct Segment {
    address: usize,
    length: usize,
    /// What its address is in the names of states.
    offset: usize,
}

/// Where the executable's writable segments are.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    /// What is added to the addresses in the executable's file.
    pub(super) base: usize,
    statics: Vec<Segment>,
    /// The part of them that nobody may write to after the start.
    constant: [usize; 2],
}

impl Image {
    /// That of this process.
    pub(super) fn of_process() -> Self {
        unsafe extern "C" fn first(
            info: *mut libc::dl_phdr_info,
            _size: usize,
            image: *mut c_void,
        ) -> c_int {
            // SAFETY: the loader calls it with what it knows of an object, first with the
            // executable, and with what it was given.
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

    /// The starts and ends of the pages with statics that may be written to.
    pub(super) fn written(&self) -> Vec<[usize; 2]> {
        let [start, end] = self.constant.map(|place| place / PAGE * PAGE);
        let pages = self.statics.iter().flat_map(|segment| {
            let first = segment.address / PAGE * PAGE;
            let last = (segment.address + segment.length).next_multiple_of(PAGE);
            [[first, last.min(start)], [first.max(end), last]]
        });
        pages.filter(|[start, end]| start < end).collect()
    }

    /// What is in all of it now. The program's allocator may have its heap in a static, which
    /// has no room for this.
    pub(super) fn bytes(&self) -> Vec<Bytes> {
        let bytes = |segment: &Segment| {
            let mut bytes = hidden::vec();
            bytes.reserve_exact(segment.length);
            // SAFETY: the segment is mapped as long as the executable is, and only read. Others may
            // write to it meanwhile; then some of the bytes are from before that, which is as good.
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

    /// The places at which `before` and `after` are different.
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

    /// The address of the bytes that `state` names, and how many there are.
    pub(super) fn place(&self, state: &StateId) -> Option<(usize, usize)> {
        let (offset, length) = state.bytes()?;
        self.statics.iter().find_map(|segment| {
            let start = offset.checked_sub(segment.offset)?;
            let is_within = start.checked_add(length)? <= segment.length;
            is_within.then_some((segment.address + start, length))
        })
    }

    /// Puts the bytes that `state` names back to those in `bytes`, or makes them zeros, if it has
    /// so.
    pub(super) fn restore(&self, state: &StateId, bytes: &[Bytes]) {
        let Some((offset, length)) = state.bytes() else { return };
        for (segment, bytes) in self.statics.iter().zip(bytes) {
            let start = offset.wrapping_sub(segment.offset);
            let Some(bytes) = bytes.get(start..start.saturating_add(length)) else { continue };
            // SAFETY: the place is in the writable segment, and holds what it held before: a value
            // of its type; or the flag of a lock, whose value it is not to be poisoned. No other
            // thread is there to look at it meanwhile. (What tests own in other memory may be lost,
            // not freed twice: what was not there before is forgotten.)
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

/// How many bytes are the same before the first that is not; `None` when all are.
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
        // It takes whatever is written.
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
            let mut changes = changes.iter();
            changes.find(|change| change.state.bytes().is_some_and(|(at, _)| at == offset)).unwrap()
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
