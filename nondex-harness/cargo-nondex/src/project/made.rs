//! Compares what programs make of random bytes, and chooses the builds to compare.
//!
//! Builds are slow and runs of the programs are fast, so programs run with many seeds. The chosen
//! seeds together put each word in each position in which any seed puts it. For a list of six names
//! in random order, this takes six to nine builds. They show each name first, each name last, and
//! each name before each other. With random seeds, this would take many more builds.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use nondex_core::hash;

/// Maximum number of builds.
pub(super) const BUILDS: usize = 12;

/// Maximum length of a file that is compared word by word, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// Maximum number of positions in one file that are compared.
const MAX_PLACES: usize = 4096;

/// File that a program made: the number of the program, and the name of the file.
type File = (usize, Utf8PathBuf);

/// Files that programs made under one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Made(BTreeMap<File, Content>);

/// Content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    /// Hash of all bytes, or of the words if some of them are [`MASK`].
    hash: u64,
    /// Hashes of the words. Empty if the file is not text or longer than [`MAX_TEXT`].
    words: Vec<u64>,
}

/// Placeholder for a word that depends on something other than random bytes, such as the time.
const MASK: u64 = 0;

impl Content {
    fn of(bytes: &[u8]) -> Self {
        let text = std::str::from_utf8(bytes).ok().filter(|text| text.len() <= MAX_TEXT);
        let is_no_word = |c: char| !c.is_alphanumeric() && c != '_';
        let words = text.into_iter().flat_map(|text| text.split(is_no_word));
        Content {
            hash: hash::of(bytes),
            words: words.filter(|word| !word.is_empty()).map(hash::of).collect(),
        }
    }

    /// Returns the content with [`MASK`] at the positions for which `is_masked` returns true.
    fn masked(&self, is_masked: impl Fn(usize) -> bool) -> Self {
        let words: Vec<u64> = self
            .words
            .iter()
            .enumerate()
            .map(|(place, word)| if is_masked(place) { MASK } else { *word })
            .collect();
        Content { hash: hash::of(&words), words }
    }

    /// Returns the content with the words masked that differ in `again`, the same file from another
    /// run with the same seed. Returns `None` if the contents differ and have no words, or
    /// different numbers of words.
    fn common_with(&self, again: &Self) -> Option<Self> {
        if self == again {
            return Some(self.clone());
        }
        let are_as_many = !self.words.is_empty() && self.words.len() == again.words.len();
        are_as_many.then(|| self.masked(|place| self.words[place] != again.words[place]))
    }

    /// Masks the positions that are masked in `first`.
    fn masked_as(self, first: &Self) -> Self {
        if !first.words.contains(&MASK) {
            return self;
        }
        self.masked(|place| first.words.get(place) == Some(&MASK))
    }
}

impl Made {
    /// Returns the files that the programs with these numbers made.
    pub(super) fn of(
        programs: impl IntoIterator<Item = (usize, BTreeMap<Utf8PathBuf, Vec<u8>>)>,
    ) -> Self {
        let files = programs.into_iter().flat_map(|(number, made)| {
            made.into_iter().map(move |(name, bytes)| ((number, name), Content::of(&bytes)))
        });
        Made(files.collect())
    }

    /// Returns the files and words that are the same in `again`, another run with the same seed.
    pub(super) fn common_with(self, again: &Self) -> Self {
        let kept = self.0.into_iter().filter_map(|(file, content)| {
            let content = content.common_with(again.0.get(&file)?)?;
            Some((file, content))
        });
        Made(kept.collect())
    }

    /// Returns the names of the files that differ in `again`, another run with the same seed.
    pub(super) fn differing(&self, again: &Self) -> Vec<Utf8PathBuf> {
        let files: BTreeSet<&File> = self.files().chain(again.files()).collect();
        files
            .into_iter()
            .filter(|file| self.0.get(file) != again.0.get(file))
            .map(|(_, name)| name.clone())
            .collect()
    }

    /// Leaves out the files that are not in `first`, and the words that are masked there.
    pub(super) fn masked_as(self, first: &Self) -> Self {
        let kept = self.0.into_iter().filter_map(|(file, content)| {
            let content = content.masked_as(first.0.get(&file)?);
            Some((file, content))
        });
        Made(kept.collect())
    }

    /// Returns all files.
    pub(super) fn files(&self) -> impl Iterator<Item = &File> {
        self.0.keys()
    }

    /// Returns a hash of a file's content, or `None` if there is no such file.
    pub(super) fn content(&self, file: &File) -> Option<u64> {
        Some(self.0.get(file)?.hash)
    }
}

/// Chooses the seeds of the builds to compare, starting with the first of `made`. Chooses only that
/// one if the files are the same under all seeds. This is the greedy algorithm for set cover: each
/// further seed has the most features that no chosen seed has.
pub(super) fn choose(made: &BTreeMap<u64, Made>) -> Vec<u64> {
    let mut open: BTreeMap<u64, BTreeSet<u64>> =
        made.keys().map(|seed| (*seed, BTreeSet::new())).collect();
    let files: BTreeSet<&File> = made.values().flat_map(Made::files).collect();
    for file in files {
        let contents: Vec<(u64, Option<&Content>)> =
            made.iter().map(|(seed, made)| (*seed, made.0.get(file))).collect();
        for (seed, features) in features(&contents) {
            let features = features.into_iter().map(|feature| hash::of(&(file, feature)));
            open.entry(seed).or_default().extend(features);
        }
    }
    let mut chosen: Vec<u64> = made.keys().take(1).copied().collect();
    let mut next = chosen.first().copied();
    while let Some(seed) = next {
        let covered = open.remove(&seed).unwrap_or_default();
        for features in open.values_mut() {
            *features = &*features - &covered;
        }
        // `max_by_key` returns the last maximum, so the reversed order gives the lowest seed.
        let best = open.iter().rev().max_by_key(|(_, features)| features.len());
        next = best
            .filter(|(_, features)| !features.is_empty() && chosen.len() < BUILDS)
            .map(|(seed, _)| *seed);
        chosen.extend(next);
    }
    chosen
}

/// Returns the features of a file under each seed: each word with its position, at the positions at
/// which seeds differ.
fn features(contents: &[(u64, Option<&Content>)]) -> Vec<(u64, Vec<(usize, u64)>)> {
    let [(_, first), others @ ..] = contents else { return Vec::new() };
    if others.iter().all(|(_, other)| other == first) {
        return Vec::new();
    }
    let word = |content: &Option<&Content>, place: usize| {
        content.and_then(|one| one.words.get(place).copied())
    };
    let lengths = contents.iter().filter_map(|(_, content)| Some(content.as_ref()?.words.len()));
    let differs =
        |place: &usize| others.iter().any(|(_, other)| word(other, *place) != word(first, *place));
    let places: Vec<usize> =
        (0..lengths.max().unwrap_or(0)).filter(differs).take(MAX_PLACES).collect();
    let of = |content: &Option<&Content>| {
        // Without words that differ, the whole content is the only feature.
        if places.is_empty() {
            return vec![(0, content.map_or(0, |content| content.hash))];
        }
        places.iter().map(|place| (*place, word(content, *place).unwrap_or(0))).collect()
    };
    contents.iter().map(|(seed, content)| (*seed, of(content))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a program makes that writes one of these texts under each seed.
    fn made(texts: &[String]) -> BTreeMap<u64, Made> {
        let file = |text: &String| BTreeMap::from([("a.rs".into(), text.clone().into_bytes())]);
        (0..).zip(texts.iter().map(|text| Made::of([(0, file(text))]))).collect()
    }

    /// Returns random orders of these words.
    fn orders(words: &[&str], count: u64) -> Vec<String> {
        let keyed = |seed: u64| {
            let mut words = words.to_vec();
            words.sort_by_key(|word| hash::of(&(seed, word)));
            words.join(", ")
        };
        (0..count).map(keyed).collect()
    }

    #[test]
    fn one_build_is_chosen_if_all_are_alike() {
        assert_eq!(choose(&made(&vec!["a, b".to_owned(); 5])), [0]);
        assert!(choose(&BTreeMap::new()).is_empty());
    }

    #[test]
    fn each_word_is_seen_in_each_place() {
        let words = ["a", "b", "c", "d", "e", "f"];
        let orders = orders(&words, 64);
        let chosen = choose(&made(&orders));
        assert!((6..=12).contains(&chosen.len()), "{chosen:?}");
        let seen = |place: usize, word: &str| {
            let mut orders = chosen.iter().map(|seed| &orders[*seed as usize]);
            orders.any(|order| order.split(", ").nth(place) == Some(word))
        };
        for place in 0..words.len() {
            assert!(words.iter().all(|word| seen(place, word)), "{place}");
        }
    }

    #[test]
    fn contents_without_words_are_each_seen_once() {
        let texts = ["+-", "-+", "+-", "--"].map(str::to_owned);
        assert_eq!(choose(&made(&texts)), [0, 1, 3]);
    }

    /// Returns what a program makes that writes these files.
    fn of_files(files: [(&str, &str); 2]) -> Made {
        let files = files.map(|(name, text)| (name.into(), text.as_bytes().to_vec()));
        Made::of([(0, files.into())])
    }

    #[test]
    fn what_differs_under_one_seed_depends_on_something_else() {
        let [first, again] = ["1", "2 3"].map(|time| of_files([("a.rs", "a"), ("time.rs", time)]));
        let kept = first.common_with(&again);
        assert_eq!(kept.files().count(), 1);
        assert_eq!(again.masked_as(&kept).files().count(), 1);
    }

    #[test]
    fn files_that_differ_under_one_seed_are_named_also_where_one_run_makes_them() {
        let first = of_files([("a.rs", "a"), ("1.tmp", "")]);
        let again = of_files([("a.rs", "a"), ("2.tmp", "")]);
        assert_eq!(first.differing(&again), ["1.tmp", "2.tmp"]);
        assert!(first.differing(&first).is_empty());
    }

    #[test]
    fn words_that_depend_on_something_else_hide_no_other_ones() {
        let file = |text| of_files([("a.rs", text), ("b.rs", "")]);
        let kept = file("at 1: a, b").common_with(&file("at 2: a, b"));
        let other = |text| file(text).masked_as(&kept);
        assert_eq!(other("at 3: a, b"), kept);
        assert_ne!(other("at 3: b, a"), kept);
        let made = BTreeMap::from([(0, other("at 3: a, b")), (1, other("at 4: b, a")), (2, kept)]);
        assert_eq!(choose(&made), [0, 1]);
    }
}
