//! What programs make of random bytes, and which builds are compared because of it.
//!
//! Builds are slow, and runs of the program are not: many seeds are tried, and those are chosen
//! that together put each word in each place where some seed puts it. A list of six names in any
//! order is then seen with each name first, with each name last, and with each before each other in
//! six to nine builds. Chance alone would need many more.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use nondex_core::hash;

/// Maximum number of builds.
pub(super) const BUILDS: usize = 12;

/// Maximum length of a file that is compared word by word.
const MAX_TEXT: usize = 1 << 20;

/// Maximum number of places in one file that are compared.
const MAX_PLACES: usize = 4096;

/// A file that a program made: the number of the program, and the file's name.
type File = (usize, Utf8PathBuf);

/// What programs made under one seed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Made(BTreeMap<File, Content>);

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    /// Of all bytes, or of the words if some of them are [`OTHER`].
    hash: u64,
    /// Hashes of its words; empty if it is not a text, or a very long one.
    words: Vec<u64>,
}

/// In place of a word that depends on something else than random bytes, such as the time.
const OTHER: u64 = 0;

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

    /// This, with [`OTHER`] in the places of which `is_other` is true.
    fn without(&self, is_other: impl Fn(usize) -> bool) -> Self {
        let words = self.words.iter().enumerate();
        let words = words.map(|(place, word)| if is_other(place) { OTHER } else { *word });
        let words: Vec<u64> = words.collect();
        Content { hash: hash::of(&words), words }
    }

    /// What is the same in `same`, which is the same file of the same seed: its words, if there are
    /// as many.
    fn only_as_in(&self, same: &Self) -> Option<Self> {
        if self == same {
            return Some(self.clone());
        }
        let are_as_many = !self.words.is_empty() && self.words.len() == same.words.len();
        are_as_many.then(|| self.without(|place| self.words[place] != same.words[place]))
    }

    /// This without what is left out of `first`.
    fn only_places_of(self, first: &Self) -> Self {
        if !first.words.contains(&OTHER) {
            return self;
        }
        self.without(|place| first.words.get(place) == Some(&OTHER))
    }
}

impl Made {
    /// What the programs with these numbers made.
    pub(super) fn of(
        programs: impl IntoIterator<Item = (usize, BTreeMap<Utf8PathBuf, Vec<u8>>)>,
    ) -> Self {
        let files = programs.into_iter().flat_map(|(number, made)| {
            made.into_iter().map(move |(name, bytes)| ((number, name), Content::of(&bytes)))
        });
        Made(files.collect())
    }

    /// What is the same in `same`, which the same seed made.
    pub(super) fn only_as_in(self, same: &Self) -> Self {
        let kept = self.0.into_iter().filter_map(|(file, content)| {
            let content = content.only_as_in(same.0.get(&file)?)?;
            Some((file, content))
        });
        Made(kept.collect())
    }

    /// The files that are other ones in `same`, which the same seed made.
    pub(super) fn otherwise(&self, same: &Self) -> Vec<Utf8PathBuf> {
        let files = self.files().chain(same.files()).collect::<BTreeSet<&File>>();
        let differ = files.into_iter().filter(|file| self.0.get(file) != same.0.get(file));
        differ.map(|(_, name)| name.clone()).collect()
    }

    /// What is not left out of `first`.
    pub(super) fn only_places_of(self, first: &Self) -> Self {
        let kept = self.0.into_iter().filter_map(|(file, content)| {
            let content = content.only_places_of(first.0.get(&file)?);
            Some((file, content))
        });
        Made(kept.collect())
    }

    /// All files.
    pub(super) fn files(&self) -> impl Iterator<Item = &File> {
        self.0.keys()
    }

    /// Identifies what is in a file; `None` if there is none.
    pub(super) fn content(&self, file: &File) -> Option<u64> {
        Some(self.0.get(file)?.hash)
    }
}

/// Chooses the seeds of the builds that are to be compared, the first of `made` before all others.
/// There is only that one if all made the same.
pub(super) fn choose(made: &BTreeMap<u64, Made>) -> Vec<u64> {
    let mut open: BTreeMap<u64, BTreeSet<u64>> =
        made.keys().map(|seed| (*seed, BTreeSet::new())).collect();
    let files: BTreeSet<&File> = made.values().flat_map(Made::files).collect();
    for file in files {
        let contents = made.iter().map(|(seed, made)| (*seed, made.0.get(file)));
        let contents: Vec<(u64, Option<&Content>)> = contents.collect();
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
        // The first one of those that add most.
        let best = open.iter().rev().max_by_key(|(_, features)| features.len());
        next = best
            .filter(|(_, features)| !features.is_empty() && chosen.len() < BUILDS)
            .map(|(seed, _)| *seed);
        chosen.extend(next);
    }
    chosen
}

/// What is in a file under each seed, as far as that differs: each word in its place.
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
    let places = (0..lengths.max().unwrap_or(0)).filter(differs).take(MAX_PLACES);
    let places: Vec<usize> = places.collect();
    let of = |content: &Option<&Content>| {
        // Without words, or without differences between them, any other content is a feature.
        if places.is_empty() {
            return vec![(0, content.map_or(0, |content| content.hash))];
        }
        let words = places.iter().map(|place| (*place, word(content, *place)));
        words.map(|(place, word)| (place, word.unwrap_or(0))).collect()
    };
    contents.iter().map(|(seed, content)| (*seed, of(content))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program makes that writes these words, by the seed.
    fn made(texts: &[String]) -> BTreeMap<u64, Made> {
        let file = |text: &String| BTreeMap::from([("a.rs".into(), text.clone().into_bytes())]);
        (0..).zip(texts.iter().map(|text| Made::of([(0, file(text))]))).collect()
    }

    /// Orders of these words, as a generator of random numbers gives them.
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

    /// A program that makes these files.
    fn of_files(files: [(&str, &str); 2]) -> Made {
        let files = files.map(|(name, text)| (name.into(), text.as_bytes().to_vec()));
        Made::of([(0, files.into())])
    }

    #[test]
    fn what_differs_under_one_seed_depends_on_something_else() {
        let [first, again] = ["1", "2 3"].map(|time| of_files([("a.rs", "a"), ("time.rs", time)]));
        let kept = first.only_as_in(&again);
        assert_eq!(kept.files().count(), 1);
        assert_eq!(again.only_places_of(&kept).files().count(), 1);
    }

    #[test]
    fn files_that_differ_under_one_seed_are_named_also_where_one_run_makes_them() {
        let first = of_files([("a.rs", "a"), ("1.tmp", "")]);
        let again = of_files([("a.rs", "a"), ("2.tmp", "")]);
        assert_eq!(first.otherwise(&again), ["1.tmp", "2.tmp"]);
        assert!(first.otherwise(&first).is_empty());
    }

    #[test]
    fn words_that_depend_on_something_else_hide_no_other_ones() {
        let file = |text| of_files([("a.rs", text), ("b.rs", "")]);
        let kept = file("at 1: a, b").only_as_in(&file("at 2: a, b"));
        let other = |text| file(text).only_places_of(&kept);
        assert_eq!(other("at 3: a, b"), kept);
        assert_ne!(other("at 3: b, a"), kept);
        let made = BTreeMap::from([(0, other("at 3: a, b")), (1, other("at 4: b, a")), (2, kept)]);
        assert_eq!(choose(&made), [0, 1]);
    }
}
