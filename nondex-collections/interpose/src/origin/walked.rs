//! Stacks that were walked before, so that the same stack need not be walked again.
//!
//! The unwinder takes microseconds: it reads how each function on the stack has laid out its frame.
//! A function that always has the same layout keeps the return address of its caller at the same
//! distance. So a stack is the same as an earlier one if each of the earlier one's return addresses
//! is at the same distance from the stack pointer. The addresses are compared from the innermost
//! frame on: where all until then agree, the next one is within the stack.
//!
//! A function whose layout differs between calls, for example because it aligns its frame, is
//! recognised when it was walked twice. From then on, stacks through it are walked each time.

use ::std::ptr;

use nondex_core::hidden;

/// Maximum number of frames of all stacks that are kept. Further stacks are walked each time.
const MOST: usize = 1 << 15;

/// Frame of a stack that was walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Address to which its callee returns.
    pub(super) address: usize,
    /// Where the stack has this address, in bytes above the stack pointer at the walk.
    pub(super) distance: usize,
}

/// What follows a frame on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Another frame, whose address is at this distance.
    At(usize),
    /// Nothing that counts: the hash of the whole stack.
    End(u64),
    /// It differs between stacks.
    Varies,
}

#[derive(Debug)]
struct Node {
    address: usize,
    next: Next,
    /// Index of the first frame that may follow, and of another one after the same frame; 0 if
    /// there is none.
    first: usize,
    other: usize,
}

/// Stacks as a tree of their frames; the innermost frame is its root.
#[derive(Debug)]
pub(super) struct Walked(hidden::Vec<Node>);

impl Walked {
    pub(super) const fn new() -> Self {
        Walked(hidden::vec())
    }

    /// Returns the hash of the stack above `base`, if it is known.
    ///
    /// # Safety
    /// `base` must be the stack pointer of this thread in the function that walks.
    pub(super) unsafe fn find(&self, base: usize) -> Option<u64> {
        let mut node = self.0.first()?;
        loop {
            let distance = match node.next {
                Next::At(distance) => distance,
                Next::End(hash) => return Some(hash),
                Next::Varies => return None,
            };
            let place = ptr::with_exposed_provenance::<usize>(base + distance);
            // SAFETY: all frames up to this one are as in an earlier walk, so the stack goes on as
            // far. Other threads do not write to it there.
            let address = unsafe { place.read_volatile() };
            node = &self.0[self.child(node, address)?];
        }
    }

    /// Adds a stack of these frames, the innermost first.
    pub(super) fn add(&mut self, frames: &[Frame], hash: u64) {
        if self.0.len() + frames.len() >= MOST {
            return;
        }
        let next = |number: usize| match frames.get(number) {
            Some(frame) => Next::At(frame.distance),
            None => Next::End(hash),
        };
        if self.0.is_empty() {
            self.0.push(Node { address: 0, next: next(0), first: 0, other: 0 });
        }
        let mut at = 0;
        for (number, frame) in frames.iter().enumerate() {
            if self.0[at].next != next(number) {
                self.0[at].next = Next::Varies;
                return;
            }
            at = self.child(&self.0[at], frame.address).unwrap_or_else(|| {
                let new = self.0.len();
                let other = ::std::mem::replace(&mut self.0[at].first, new);
                let next = next(number + 1);
                self.0.push(Node { address: frame.address, next, first: 0, other });
                new
            });
        }
        if self.0[at].next != Next::End(hash) {
            self.0[at].next = Next::Varies;
        }
    }

    /// Returns the index of the frame with this address after `node`.
    fn child(&self, node: &Node, address: usize) -> Option<usize> {
        let mut at = node.first;
        while at != 0 && self.0[at].address != address {
            at = self.0[at].other;
        }
        (at != 0).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the hash that is known of a stack with these addresses at these distances.
    fn found(walked: &Walked, frames: &[(usize, usize)]) -> Option<u64> {
        let end = frames.iter().map(|(distance, _)| distance + 1).max().unwrap_or(0);
        let mut stack = vec![0; end];
        for (distance, address) in frames {
            stack[*distance] = *address;
        }
        // SAFETY: the tree only has distances within this stack.
        unsafe { walked.find(stack.as_ptr().expose_provenance()) }
    }

    fn frames(frames: &[(usize, usize)]) -> Vec<Frame> {
        let frame =
            |&(distance, address)| Frame { address, distance: distance * size_of::<usize>() };
        frames.iter().map(frame).collect()
    }

    #[test]
    fn a_stack_is_known_if_all_its_frames_are_as_before() {
        let mut walked = Walked::new();
        let stacks = [
            ([(1, 7), (3, 8), (9, 5)], 100),
            ([(1, 7), (3, 8), (9, 6)], 101),
            ([(1, 7), (3, 9), (5, 6)], 102),
        ];
        for (stack, hash) in stacks {
            assert_eq!(found(&walked, &stack), None);
            walked.add(&frames(&stack), hash);
        }
        for (stack, hash) in stacks {
            assert_eq!(found(&walked, &stack), Some(hash));
        }
        assert_eq!(found(&walked, &[(1, 7), (3, 9), (5, 5)]), None);
        assert_eq!(found(&walked, &[(1, 7), (4, 8), (9, 5)]), None);
    }

    #[test]
    fn a_stack_through_a_function_with_two_layouts_is_unknown() {
        let mut walked = Walked::new();
        let (one, other, direct) = ([(1, 7), (3, 8)], [(1, 7), (5, 8)], [(1, 6), (3, 8)]);
        for (stack, hash) in [(one, 100), (direct, 101), (other, 100)] {
            walked.add(&frames(&stack), hash);
        }
        assert_eq!(
            [one, other, direct].map(|stack| found(&walked, &stack)),
            [None, None, Some(101)]
        );
    }

    #[test]
    fn no_more_frames_are_kept_than_there_is_room_for() {
        let mut walked = Walked::new();
        // Each stack differs in its innermost frame.
        let stack =
            |first: usize| -> Vec<_> { (0..64).map(|place| (place, first + place)).collect() };
        let all = MOST / 64 + 1;
        for first in 1..=all {
            walked.add(&frames(&stack(first)), 1);
        }
        assert!(walked.0.len() <= MOST);
        assert_eq!(found(&walked, &stack(1)), Some(1));
        assert_eq!(found(&walked, &stack(all)), None);
    }
}
