//! Macros for the common parts of iterators over entries and of collections.

/// Implements an iterator over the field `entries` that maps each entry to an item.
macro_rules! iterator {
    (<$($parameter:tt),*> $iterator:ty => $item:ty, $map:expr) => {
        impl<$($parameter),*> Iterator for $iterator {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                self.entries.next().map($map)
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                let left = self.entries.len();
                (left, Some(left))
            }

            #[inline]
            fn count(self) -> usize {
                self.entries.len()
            }

            #[inline]
            fn fold<B, F>(self, init: B, mut f: F) -> B
            where
                F: FnMut(B, Self::Item) -> B,
            {
                self.entries.fold(init, |acc, entry| f(acc, ($map)(entry)))
            }
        }

        impl<$($parameter),*> ExactSizeIterator for $iterator {
            #[inline]
            fn len(&self) -> usize {
                self.entries.len()
            }
        }

        impl<$($parameter),*> ::std::iter::FusedIterator for $iterator {}
    };
}

/// Implements `Default` for an iterator: it has no entries.
macro_rules! default {
    (<$($parameter:tt),*> $iterator:ident<$($argument:tt),*>) => {
        impl<$($parameter),*> Default for $iterator<$($argument),*> {
            #[inline]
            fn default() -> Self {
                $iterator {
                    entries: Default::default(),
                }
            }
        }
    };
}

/// Implements `Clone` and `Debug` for an iterator by reference; `Debug` shows the list of remaining
/// entries.
macro_rules! clone_and_debug {
    (<$($parameter:ident $(: $bound:ident)?),*> $iterator:ident<$($argument:tt),*>) => {
        impl<$($parameter),*> Clone for $iterator<$($argument),*> {
            #[inline]
            fn clone(&self) -> Self {
                $iterator {
                    entries: self.entries.clone(),
                }
            }
        }

        impl<$($parameter $(: $bound)?),*> Debug for $iterator<$($argument),*> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.clone()).finish()
            }
        }
    };
}

/// Implements `Debug` for an iterator that cannot be cloned: it shows `$shown` of each remaining
/// entry.
macro_rules! debug {
    (
        <$($parameter:ident $(: $bound:ident)?),*> $iterator:ty,
        |$key:pat_param, $value:pat_param| $shown:expr
    ) => {
        impl<$($parameter $(: $bound)?),*> Debug for $iterator {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut list = f.debug_list();
                self.entries.peek(|$key, $value| {
                    list.entry($shown);
                });
                list.finish()
            }
        }
    };
}

/// Checks at compile time that a type has the variance of std's type.
macro_rules! covariant {
    (<$($parameter:tt),*> $long:ty => $short:ty) => {
        const _: () = {
            #[expect(dead_code, reason = "it is there to be compiled")]
            fn shorten<$($parameter),*>(long: $long) -> $short {
                long
            }
        };
    };
}

/// Implements the methods about the number of entries and their room.
macro_rules! room {
    ($collection:ident<$key:ident $(, $value:ident)?>) => {
        impl<$key $(, $value)?, S> $collection<$key $(, $value)?, S> {
            /// Returns the number of entries that fit before it grows, which equals that of std's
            /// collection.
            #[inline]
            pub fn capacity(&self) -> usize {
                self.store.slots.capacity()
            }

            /// Returns the number of entries.
            #[inline]
            pub fn len(&self) -> usize {
                self.store.len()
            }

            /// Returns whether there are no entries.
            #[inline]
            pub fn is_empty(&self) -> bool {
                self.store.len() == 0
            }

            /// Drops all entries and keeps the room.
            #[inline]
            #[track_caller]
            pub fn clear(&mut self) {
                self.store.clear();
            }

            /// Returns the hasher of the collection.
            #[inline]
            pub fn hasher(&self) -> &S {
                &self.store.hash_builder
            }
        }

        impl<$key $(, $value)?, S> $collection<$key $(, $value)?, S>
        where
            $key: Eq + ::std::hash::Hash,
            S: ::std::hash::BuildHasher,
        {
            /// Makes room for at least `additional` more entries.
            ///
            /// # Panics
            /// Panics if the capacity overflows.
            #[inline]
            pub fn reserve(&mut self, additional: usize) {
                self.store.reserve(additional);
            }

            /// Makes room for at least `additional` more entries.
            ///
            /// # Errors
            /// Returns std's own error if the capacity overflows or the allocator fails.
            #[inline]
            pub fn try_reserve(
                &mut self,
                additional: usize,
            ) -> Result<(), ::std::collections::TryReserveError> {
                self.store.try_reserve(additional)
            }

            /// Shrinks the room as far as std's collection would.
            #[inline]
            pub fn shrink_to_fit(&mut self) {
                self.store.shrink_to(0);
            }

            /// Shrinks the room, but not below `min_capacity`, as far as std's collection would.
            #[inline]
            pub fn shrink_to(&mut self, min_capacity: usize) {
                self.store.shrink_to(min_capacity);
            }
        }
    };
}

/// Implements traits of a collection that depend on those of its entries and hasher, or of its
/// hasher alone.
macro_rules! traits {
    ($collection:ident<$($entry:ident),*>) => {
        impl<$($entry: Clone,)* S: Clone> Clone for $collection<$($entry,)* S> {
            #[inline]
            #[track_caller]
            fn clone(&self) -> Self {
                $collection {
                    store: self.store.clone(),
                }
            }

            #[inline]
            #[track_caller]
            fn clone_from(&mut self, source: &Self) {
                self.store.clone_from(&source.store);
            }
        }

        impl<$($entry,)* S: Default> Default for $collection<$($entry,)* S> {
            #[inline]
            #[track_caller]
            fn default() -> Self {
                $collection::with_hasher(Default::default())
            }
        }

        impl<$($entry,)* S> ::std::panic::UnwindSafe for $collection<$($entry,)* S>
        where
            $($entry: ::std::panic::UnwindSafe,)*
            S: ::std::panic::UnwindSafe,
        {
        }
    };
}
