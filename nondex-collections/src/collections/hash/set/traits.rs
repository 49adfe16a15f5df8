//! The traits of [`HashSet`], without the operators.

use ::std::fmt::{self, Debug};
use ::std::hash::{BuildHasher, Hash};

use nondex_core::model;

use super::{HashSet, IntoIter, Iter};
use crate::hash::RandomState;

impl<T, S> PartialEq for HashSet<T, S>
where
    T: Eq + Hash,
    S: BuildHasher,
{
    #[track_caller]
    fn eq(&self, other: &HashSet<T, S>) -> bool {
        self.len() == other.len() && self.compared().all(|key| other.contains(key))
    }
}

impl<T, S> Eq for HashSet<T, S>
where
    T: Eq + Hash,
    S: BuildHasher,
{
}

impl<T, S> Debug for HashSet<T, S>
where
    T: Debug,
{
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements = Iter { entries: self.store.entries(&model::HASH_SET_DEBUG) };
        f.debug_set().entries(elements).finish()
    }
}

// As in std, not generic over the hasher: the type of a literal must be inferred.
impl<T, const N: usize> From<[T; N]> for HashSet<T, RandomState>
where
    T: Eq + Hash,
{
    #[track_caller]
    fn from(arr: [T; N]) -> Self {
        Self::from_iter(arr)
    }
}

impl<T, S> FromIterator<T> for HashSet<T, S>
where
    T: Eq + Hash,
    S: BuildHasher + Default,
{
    #[inline]
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> HashSet<T, S> {
        let mut set = HashSet::with_hasher(Default::default());
        set.extend(iter);
        set
    }
}

impl<T, S> Extend<T> for HashSet<T, S>
where
    T: Eq + Hash,
    S: BuildHasher,
{
    #[inline]
    #[track_caller]
    fn extend<I: IntoIterator<Item = T>>(&mut self, iter: I) {
        let elements = iter.into_iter().map(|element| (element, ()));
        self.store.extend(elements, |_, _, _, ()| ());
    }
}

impl<'a, T, S> Extend<&'a T> for HashSet<T, S>
where
    T: 'a + Eq + Hash + Copy,
    S: BuildHasher,
{
    #[inline]
    #[track_caller]
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, iter: I) {
        self.extend(iter.into_iter().copied());
    }
}

impl<'a, T, S> IntoIterator for &'a HashSet<T, S> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    #[inline]
    #[track_caller]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T, S> IntoIterator for HashSet<T, S> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    #[inline]
    #[track_caller]
    fn into_iter(mut self) -> IntoIter<T> {
        IntoIter { entries: self.store.take_entries(&model::HASH_SET_INTO_ITER) }
    }
}

traits!(HashSet<T>);

covariant!(<'new> HashSet<&'static str> => HashSet<&'new str>);
