//! Parses `--seeds`: a number of seeds, a range, a list, or fresh seeds.

use std::hash::{BuildHasher, RandomState};
use std::str::FromStr;

/// Maximum number of seeds of a campaign. Each seed is at least one run of every test with a
/// choice.
pub const MAX_SEEDS: u64 = 1_000_000;

/// Prefix of a number of fresh seeds.
const RANDOM: &str = "random:";

/// Smallest fresh seed. People choose smaller ones.
const FIRST_FRESH: u64 = 1_000_000;

/// Number of possible values of the first fresh seed. They have at most ten digits, which people
/// can read out.
const FRESH: u64 = 9_000_000_000;

/// Seeds of a campaign without duplicates, in the order in which they are tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(Vec<u64>);

impl Seeds {
    /// Returns the seeds `0..count`.
    pub fn first(count: u64) -> Self {
        Seeds((0..count).collect())
    }

    /// Returns `count` consecutive seeds from a random start. A log can show consecutive seeds as a
    /// range.
    pub fn fresh(count: u64) -> Self {
        // The keys of `RandomState` are random bytes of the system, and a counter.
        let drawn = RandomState::new().hash_one(std::process::id());
        let first = FIRST_FRESH + drawn % FRESH;
        Seeds((first..first + count).collect())
    }

    /// Returns a list of one seed.
    pub fn one(seed: u64) -> Self {
        Seeds(vec![seed])
    }

    /// Joins the lists, and removes duplicates.
    pub fn union(lists: Vec<Self>) -> Self {
        let mut known = std::collections::BTreeSet::new();
        let seeds = lists.into_iter().flat_map(|list| list.0);
        Seeds(seeds.filter(|&seed| known.insert(seed)).collect())
    }

    /// Returns the seeds.
    pub fn into_vec(self) -> Vec<u64> {
        self.0
    }
}

impl FromStr for Seeds {
    type Err = String;

    /// Parses seeds. `10` is the ten seeds from 0, `5..8` is 5, 6, 7. `1,4,20..30` is a list of
    /// seeds and ranges. `random:40` is forty [fresh](Self::fresh) seeds.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(count) = text.strip_prefix(RANDOM) {
            return Ok(Seeds::fresh(limit(number(count)?)?));
        }
        if !text.contains([',', '.']) {
            return Ok(Seeds::first(limit(number(text)?)?));
        }
        let mut seeds = Vec::new();
        let mut known = std::collections::BTreeSet::new();
        for item in text.split(',').map(str::trim) {
            let range = match item.split_once("..") {
                None => {
                    let seed = number(item)?;
                    seed..=seed
                }
                Some((start, end)) => {
                    let start = number(start)?;
                    let end = match end.strip_prefix('=') {
                        Some(last) => Some(number(last)?),
                        None => number(end)?.checked_sub(1),
                    };
                    let last = end.filter(|&last| last >= start);
                    start..=last.ok_or_else(|| format!("`{item}` has no seeds in it"))?
                }
            };
            limit((range.end() - range.start()).saturating_add(1))?;
            seeds.extend(range.filter(|&seed| known.insert(seed)));
            limit(seeds.len() as u64)?;
        }
        Ok(Seeds(seeds))
    }
}

/// Parses a number. Unlike `u64`'s own parser, it rejects a sign.
fn number(text: &str) -> Result<u64, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| {
        format!(
            "`{text}` is not a whole number below 2^64; expected a number of seeds (`10`), a \
             range (`5..8`), a list (`1,4,9`) or fresh ones (`random:10`)"
        )
    })
}

/// Returns this number of seeds, which must be at most [`MAX_SEEDS`].
fn limit(count: u64) -> Result<u64, String> {
    if count > MAX_SEEDS {
        return Err(format!("{count} seeds are too many, expected at most {MAX_SEEDS}"));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<u64>, String> {
        text.parse().map(Seeds::into_vec)
    }

    #[test]
    fn a_number_counts_a_range_is_half_open_and_a_list_keeps_its_order() {
        for (text, seeds) in [
            ("0", vec![]),
            ("3", vec![0, 1, 2]),
            ("5..8", vec![5, 6, 7]),
            ("5..=8", vec![5, 6, 7, 8]),
            ("9,1, 4", vec![9, 1, 4]),
            ("7,5..9,7", vec![7, 5, 6, 8]),
            ("18446744073709551615..=18446744073709551615", vec![u64::MAX]),
        ] {
            assert_eq!(parsed(text), Ok(seeds), "{text}");
        }
    }

    #[test]
    fn fresh_seeds_are_others_each_time_and_are_a_range_that_can_be_given_again() {
        let [first, second] = [parsed("random:40").unwrap(), parsed("random:40").unwrap()];
        for seeds in [&first, &second] {
            assert_eq!(seeds.len(), 40);
            let range = format!("{}..={}", seeds[0], seeds[39]);
            assert_eq!(parsed(&range).as_ref(), Ok(seeds));
            assert!(seeds[0] >= FIRST_FRESH);
        }
        // The two are equal in one of nine billion cases.
        assert_ne!(first, second);
        assert_eq!(parsed("random:0"), Ok(Vec::new()));
    }

    #[test]
    fn anything_else_is_an_error_that_names_the_part_that_is_wrong() {
        for (text, part) in [
            ("", "``"),
            ("-1", "`-1`"),
            ("+1", "`+1`"),
            ("ten", "`ten`"),
            ("1,,2", "``"),
            ("1..", "``"),
            ("1.5", "`1.5`"),
            ("5..5", "`5..5` has no seeds"),
            ("8..5", "`8..5` has no seeds"),
            ("0..0", "`0..0` has no seeds"),
            ("18446744073709551616", "2^64"),
            ("0..=18446744073709551615", "too many"),
            ("1000001", "too many"),
            ("random:", "``"),
            ("random:1000001", "too many"),
            ("1,random:2", "`random:2`"),
        ] {
            let message = parsed(text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
