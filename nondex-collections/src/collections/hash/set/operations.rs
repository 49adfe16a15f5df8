//! What two sets have in common or not, lazily.

use ::std::fmt::{self, Debug};
use ::std::hash::{BuildHasher, Hash};
use ::std::iter::FusedIterator;

use super::super::joined::{Joined, Side};
use super::super::visit::Entries;
use super::{Difference, HashSet, Intersection, SymmetricDifference, Union};

/// Implements an iterator over the elements of one set that another one has, or has not.
macro_rules! selected {
    ($name:ident, $keeps:literal) => {
        impl<'a, T, S> $name<'a, T, S> {
            #[inline]
            pub(super) fn new(entries: Entries<'a, T, ()>, other: &'a HashSet<T, S>) -> Self {
                $name { entries, other }
            }
        }

        impl<T, S> Clone for $name<'_, T, S> {
            #[inline]
            fn clone(&self) -> Self {
                $name::new(self.entries.clone(), self.other)
            }
        }

        impl<'a, T, S> Iterator for $name<'a, T, S>
        where
            T: Eq + Hash,
            S: BuildHasher,
        {
            type Item = &'a T;

            #[inline]
            fn next(&mut self) -> Option<&'a T> {
                loop {
                    let (element, ()) = self.entries.next()?;
                    if self.other.contains(element) == $keeps {
                        return Some(element);
                    }
                }
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                (0, Some(self.entries.len()))
            }

            #[inline]
            fn fold<B, F>(self, init: B, mut f: F) -> B
            where
                F: FnMut(B, Self::Item) -> B,
            {
                let other = self.other;
                self.entries.fold(init, |acc, (element, ())| {
                    if other.contains(element) == $keeps {
                        f(acc, element)
                    } else {
                        acc
                    }
                })
            }
        }

        shown!($name);
    };
}

/// Lets an iterator be shown as the list of what is left, and end once and for all.
macro_rules! shown {
    ($name:ident) => {
        impl<T, S> Debug for $name<'_, T, S>
        where
            T: Debug + Eq + Hash,
            S: BuildHasher,
        {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.clone()).finish()
            }
        }

        impl<T, S> FusedIterator for $name<'_, T, S>
        where
            T: Eq + Hash,
            S: BuildHasher,
        {
        }
    };
}

selected!(Intersection, true);

selected!(Difference, false);

impl<'a, T, S> SymmetricDifference<'a, T, S> {
    #[inline]
    pub(super) fn new(
        joined: Joined<'a, T>,
        first: &'a HashSet<T, S>,
        second: &'a HashSet<T, S>,
    ) -> Self {
        SymmetricDifference {
            joined,
            first,
            second,
        }
    }
}

impl<T, S> Clone for SymmetricDifference<'_, T, S> {
    #[inline]
    fn clone(&self) -> Self {
        SymmetricDifference::new(self.joined.clone(), self.first, self.second)
    }
}

impl<'a, T, S> Iterator for SymmetricDifference<'a, T, S>
where
    T: Eq + Hash,
    S: BuildHasher,
{
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        loop {
            let (side, element) = self.joined.next()?;
            let other = match side {
                Side::First => self.second,
                Side::Second => self.first,
            };
            if !other.contains(element) {
                return Some(element);
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (first, second) = self.joined.left();
        (0, first.checked_add(second))
    }
}

shown!(SymmetricDifference);

impl<'a, T, S> Union<'a, T, S> {
    #[inline]
    pub(super) fn new(joined: Joined<'a, T>, first: &'a HashSet<T, S>) -> Self {
        Union { joined, first }
    }
}

impl<T, S> Clone for Union<'_, T, S> {
    #[inline]
    fn clone(&self) -> Self {
        Union::new(self.joined.clone(), self.first)
    }
}

impl<'a, T, S> Iterator for Union<'a, T, S>
where
    T: Eq + Hash,
    S: BuildHasher,
{
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        loop {
            let (side, element) = self.joined.next()?;
            if side == Side::First || !self.first.contains(element) {
                return Some(element);
            }
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let (first, second) = self.joined.left();
        (first, first.checked_add(second))
    }
}

shown!(Union);

/// Compiles only if types vary as std's do.
#[expect(dead_code, reason = "it is there to be compiled")]
fn assert_covariance() {
    fn difference<'a, 'new, S>(v: Difference<'a, &'static str, S>) -> Difference<'a, &'new str, S> {
        v
    }
    fn symmetric_difference<'a, 'new, S>(
        v: SymmetricDifference<'a, &'static str, S>,
    ) -> SymmetricDifference<'a, &'new str, S> {
        v
    }
    fn intersection<'a, 'new, S>(
        v: Intersection<'a, &'static str, S>,
    ) -> Intersection<'a, &'new str, S> {
        v
    }
    fn union<'a, 'new, S>(v: Union<'a, &'static str, S>) -> Union<'a, &'new str, S> {
        v
    }
}
