//! The lazy operations on two sets.

use ::std::fmt::{self, Debug};
use ::std::hash::{BuildHasher, Hash};
use ::std::iter::FusedIterator;

use super::super::joined::Side;
use super::{Difference, Intersection, SymmetricDifference, Union};

/// Implements an iterator over the elements of one set that are in another one, or are not.
macro_rules! selected {
    ($name:ident, $keeps:literal) => {
        impl<T, S> Clone for $name<'_, T, S> {
            #[inline]
            fn clone(&self) -> Self {
                $name { entries: self.entries.clone(), other: self.other }
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
                    if other.contains(element) == $keeps { f(acc, element) } else { acc }
                })
            }
        }

        debug_and_fused!($name);
    };
}

/// Implements `Debug`, which shows the list of remaining elements, and `FusedIterator`.
macro_rules! debug_and_fused {
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

impl<T, S> Clone for SymmetricDifference<'_, T, S> {
    #[inline]
    fn clone(&self) -> Self {
        SymmetricDifference { joined: self.joined.clone(), ..*self }
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

debug_and_fused!(SymmetricDifference);

impl<T, S> Clone for Union<'_, T, S> {
    #[inline]
    fn clone(&self) -> Self {
        Union { joined: self.joined.clone(), ..*self }
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

debug_and_fused!(Union);

covariant!(<'a, 'new, S> Difference<'a, &'static str, S> => Difference<'a, &'new str, S>);
covariant!(<'a, 'new, S> Intersection<'a, &'static str, S> => Intersection<'a, &'new str, S>);
covariant!(<'a, 'new, S> Union<'a, &'static str, S> => Union<'a, &'new str, S>);
covariant!(
    <'a, 'new, S> SymmetricDifference<'a, &'static str, S>
        => SymmetricDifference<'a, &'new str, S>
);
