//! Parses `--partition`, which selects one part of the tests, so that several machines share them.

use std::str::FromStr;

use nondex_core::hash;

/// Rule by which tests are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartitionRule {
    /// By their positions among the tests of all binaries.
    Slice,
    /// By the hashes of their ids. A new test does not change the part of any other test.
    Hash,
}

/// Part of the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    rule: PartitionRule,
    /// Index of the part, from 0.
    part: u64,
    parts: u64,
}

impl Partition {
    /// Returns whether the test or binary with this id is in the part. `number` is its position
    /// among all.
    pub fn contains(&self, number: usize, id: &str) -> bool {
        let place = match self.rule {
            PartitionRule::Slice => number as u64,
            PartitionRule::Hash => hash::of(&id),
        };
        place % self.parts == self.part
    }
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("expected M/N, slice:M/N or hash:M/N with M from 1 to N, not `{text}`");
        let (rule, numbers) = match text.split_once(':') {
            None => (PartitionRule::Slice, text),
            // nextest's `count` takes every Nth test of each binary. Here it is the same as
            // `slice`.
            Some(("slice" | "count", numbers)) => (PartitionRule::Slice, numbers),
            Some(("hash", numbers)) => (PartitionRule::Hash, numbers),
            Some(_) => return Err(expected()),
        };
        let (part, parts) = numbers.split_once('/').ok_or_else(expected)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| expected());
        let (part, parts) = (number(part)?, number(parts)?);
        if part == 0 || part > parts {
            return Err(expected());
        }
        Ok(Partition { rule, part: part - 1, parts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_in_one_part() {
        for kind in ["", "slice:", "count:", "hash:"] {
            let parts = (1..=3).map(|part| format!("{kind}{part}/3").parse::<Partition>().unwrap());
            let parts: Vec<Partition> = parts.collect();
            for number in 0..100 {
                let id = format!("pkg$test{number}");
                let containing = parts.iter().filter(|part| part.contains(number, &id));
                assert_eq!(containing.count(), 1, "{kind} {id}");
            }
        }
    }

    #[test]
    fn what_is_no_part_is_refused_with_what_was_expected() {
        for text in ["", "1", "0/2", "3/2", "1/0", "part:1/2", "hash:a/2"] {
            let error = text.parse::<Partition>().unwrap_err();
            assert!(error.contains("expected M/N"), "{error}");
        }
    }
}
