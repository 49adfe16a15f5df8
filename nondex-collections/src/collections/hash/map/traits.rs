//! The traits of [`HashMap`].

use ::std::borrow::Borrow;
use ::std::fmt::{self, Debug};
use ::std::hash::{BuildHasher, Hash};
use ::std::ops::Index;

use nondex_core::model;

use super::super::store::Store;
use super::keyed::replace;
use super::{HashMap, IntoIter, Iter, IterMut};
use crate::hash::RandomState;

impl<K, V, S> PartialEq for HashMap<K, V, S>
where
    K: Eq + Hash,
    V: PartialEq,
    S: BuildHasher,
{
    #[track_caller]
    fn eq(&self, other: &HashMap<K, V, S>) -> bool {
        self.len() == other.len()
            && Iter { entries: self.store.compared() }
                .all(|(key, value)| other.get(key).is_some_and(|v| *value == *v))
    }
}

impl<K, V, S> Eq for HashMap<K, V, S>
where
    K: Eq + Hash,
    V: Eq,
    S: BuildHasher,
{
}

impl<K, V, S> Debug for HashMap<K, V, S>
where
    K: Debug,
    V: Debug,
{
    #[track_caller]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = Iter { entries: self.store.entries(&model::HASH_MAP_DEBUG) };
        f.debug_map().entries(entries).finish()
    }
}

impl<K, Q: ?Sized, V, S> Index<&Q> for HashMap<K, V, S>
where
    K: Eq + Hash + Borrow<Q>,
    Q: Eq + Hash,
    S: BuildHasher,
{
    type Output = V;

    #[inline]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no entry found for key")
    }
}

// As in std, not generic over the hasher: the type of a literal must be inferred.
impl<K, V, const N: usize> From<[(K, V); N]> for HashMap<K, V, RandomState>
where
    K: Eq + Hash,
{
    #[track_caller]
    fn from(arr: [(K, V); N]) -> Self {
        Self::from_iter(arr)
    }
}

impl<K, V, S> FromIterator<(K, V)> for HashMap<K, V, S>
where
    K: Eq + Hash,
    S: BuildHasher + Default,
{
    #[track_caller]
    fn from_iter<T: IntoIterator<Item = (K, V)>>(iter: T) -> HashMap<K, V, S> {
        let mut map = HashMap::with_hasher(Default::default());
        map.extend(iter);
        map
    }
}

impl<K, V, S> Extend<(K, V)> for HashMap<K, V, S>
where
    K: Eq + Hash,
    S: BuildHasher,
{
    #[track_caller]
    #[inline]
    fn extend<T: IntoIterator<Item = (K, V)>>(&mut self, iter: T) {
        self.store.extend(iter.into_iter(), |slots, slot, key, value| {
            drop(replace(slots, slot, key, value));
        });
    }
}

impl<'a, K, V, S> Extend<(&'a K, &'a V)> for HashMap<K, V, S>
where
    K: Eq + Hash + Copy,
    V: Copy,
    S: BuildHasher,
{
    #[track_caller]
    #[inline]
    fn extend<T: IntoIterator<Item = (&'a K, &'a V)>>(&mut self, iter: T) {
        self.extend(iter.into_iter().map(|(&key, &value)| (key, value)));
    }
}

impl<'a, K, V, S> IntoIterator for &'a HashMap<K, V, S> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    #[inline]
    #[track_caller]
    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K, V, S> IntoIterator for &'a mut HashMap<K, V, S> {
    type Item = (&'a K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    #[inline]
    #[track_caller]
    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}

impl<K, V, S> IntoIterator for HashMap<K, V, S> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    #[inline]
    #[track_caller]
    fn into_iter(mut self) -> IntoIter<K, V> {
        IntoIter { entries: self.store.take_entries(&model::HASH_MAP_INTO_ITER) }
    }
}

traits!(HashMap<K, V>);

covariant!(<'new> HashMap<&'static str, u8> => HashMap<&'new str, u8>);
covariant!(<'new> HashMap<u8, &'static str> => HashMap<u8, &'new str>);
covariant!(<'new> Store<&'static str, &'static str, ()> => Store<&'new str, &'new str, ()>);
