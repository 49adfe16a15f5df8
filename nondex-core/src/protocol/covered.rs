//! The code that a program of a test ran, if it was compiled to record it.

use crate::json;

/// Code that one program of a test ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoveredRecord {
    /// Absolute path of the executable.
    pub program: String,
    /// Addresses of the basic blocks that ran, relative to the load address of the executable, in
    /// ascending order.
    pub blocks: Vec<u64>,
    /// Whether the data is lost, because a process of this program ended before it could report it.
    pub is_lost: bool,
}

json::object!(CoveredRecord {
    program,
    blocks,
    is_lost = optional,
});

impl CoveredRecord {
    /// Prefix of the extension of the files next to the record that hold a process's flags while it
    /// runs. A flag is one byte for each block. The file survives the process, however that ends.
    ///
    /// The flags are followed by the [`tail`](Self::tail). A process that records its code itself
    /// removes the file. If its flags cannot be in a file, the file has no flags, which means that
    /// the data is lost.
    pub const FLAGS: &'static str = "flags";

    /// Returns the tail of a flag file: the address of the block of each flag (see above), the
    /// program, and the numbers of flags and addresses.
    pub fn tail(flags: usize, blocks: &[u64], program: &str) -> Vec<u8> {
        let numbers = |numbers: &[u64]| -> Vec<u8> {
            numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
        };
        let counts = [flags as u64, blocks.len() as u64];
        [numbers(blocks), program.into(), numbers(&counts)].concat()
    }

    /// Parses a flag file.
    pub fn from_flags(bytes: &[u8]) -> Option<Self> {
        // The two counts are at the end of the file, so it is parsed backward.
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
            // A truncated file must give no result, or at least none for this program.
            let found = CoveredRecord::from_flags(&bytes[..cut]);
            assert!(found.is_none_or(|found| found.program != "/a/b"), "{cut}");
        }
        let without = CoveredRecord::from_flags(&CoveredRecord::tail(0, &[], "/a/b"));
        assert!(without.is_some_and(|found| found.is_lost && found.blocks.is_empty()));
    }
}
