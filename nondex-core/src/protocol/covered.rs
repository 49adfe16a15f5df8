//! Which code a program of a test ran, where it was compiled to tell.

use crate::json;

/// The code that one program of a test ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoveredRecord {
    /// The executable, absolute.
    pub program: String,
    /// The addresses of the basic blocks that ran, relative to where the executable is loaded.
    /// Ascending.
    pub blocks: Vec<u64>,
    /// Whether that is not known, because a process of this program ended before it could tell.
    pub is_lost: bool,
}

json::object!(CoveredRecord {
    program,
    blocks,
    is_lost = optional,
});

impl CoveredRecord {
    /// What the extension of a file begins with, next to the record of a run, that has the flags of
    /// a process while it runs, a byte for each block: so they are there however it ends. After
    /// them comes the [`tail`](Self::tail). A process that records what it ran itself removes it.
    /// One whose flags cannot be in a file has one without flags, from which follows that it did
    /// not tell.
    pub const FLAGS: &'static str = "flags";

    /// What comes after the flags: the address of the block of each, as above, the program, and how
    /// many there are of flags and addresses.
    pub fn tail(flags: usize, blocks: &[u64], program: &str) -> Vec<u8> {
        let numbers = |numbers: &[u64]| -> Vec<u8> {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        let counts = [flags as u64, blocks.len() as u64];
        [numbers(blocks), program.into(), numbers(&counts)].concat()
    }

    /// The contents of such a file.
    pub fn from_flags(bytes: &[u8]) -> Option<Self> {
        let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
        let (rest, count) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
        let (rest, flags) = rest.split_at_checked(rest.len().checked_sub(8)?)?;
        let [flags, count] = [number(flags)?, number(count)?].map(usize::try_from);
        let (flags, rest) = rest.split_at_checked(flags.ok()?)?;
        let (blocks, program) = rest.split_at_checked(count.ok()?.checked_mul(8)?)?;
        let ran = flags.iter().zip(blocks.chunks_exact(8));
        let mut blocks: Vec<u64> =
            ran.filter(|(flag, _)| **flag != 0).filter_map(|(_, block)| number(block)).collect();
        blocks.sort_unstable();
        Some(CoveredRecord {
            program: String::from_utf8_lossy(program).into_owned(),
            blocks,
            is_lost: flags.is_empty(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_flags_says_which_blocks_ran() {
        let mut bytes = vec![1, 0, 1, 0];
        bytes.extend(CoveredRecord::tail(4, &[30, 20, 10], "/a/b"));
        let expected =
            CoveredRecord { program: "/a/b".to_owned(), blocks: vec![10, 30], is_lost: false };
        assert_eq!(CoveredRecord::from_flags(&bytes), Some(expected));
        for cut in 0..bytes.len() {
            // One that is not whole says nothing, or at least nothing of this program.
            let found = CoveredRecord::from_flags(&bytes[..cut]);
            assert!(found.is_none_or(|found| found.program != "/a/b"), "{cut}");
        }
        let without = CoveredRecord::from_flags(&CoveredRecord::tail(0, &[], "/a/b"));
        assert!(without.is_some_and(|found| found.is_lost && found.blocks.is_empty()));
    }
}
