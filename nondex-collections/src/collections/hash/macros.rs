//! What the iterators over entries have in common.

/// Implements an iterator over its field `entries`, of which each is mapped to the item.
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

/// Lets an iterator be created without entries.
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

/// Lets an iterator by reference be cloned, and shown as the list of what is left.
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

/// Shows an iterator that cannot be cloned as the list of what is left, `$shown` of each entry.
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

/// Compiles only if a type varies as std's does.
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

/// The methods about the number of entries, and about the room for them.
macro_rules! room {
    ($collection:ident<$key:ident $(, $value:ident)?>) => {
        impl<$key $(, $value)?, S> $collection<$key $(, $value)?, S> {
            /// How many entries fit before it grows; as std's own collection.
            #[inline]
            pub fn capacity(&self) -> usize {
                self.store.slots.capacity()
            }

            /// How many entries there are.
            #[inline]
            pub fn len(&self) -> usize {
                self.store.len()
            }

            /// Whether there is no entry.
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

            /// What the collection hashes with.
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
            /// When the capacity overflows.
            #[inline]
            pub fn reserve(&mut self, additional: usize) {
                self.store.reserve(additional);
            }

            /// Makes room for at least `additional` more entries.
            ///
            /// # Errors
            /// When the capacity overflows or the allocator fails; std's own error.
            #[inline]
            pub fn try_reserve(
                &mut self,
                additional: usize,
            ) -> Result<(), ::std::collections::TryReserveError> {
                self.store.try_reserve(additional)
            }

            /// Gives up as much room as std's own collection would.
            #[inline]
            pub fn shrink_to_fit(&mut self) {
                self.store.shrink_to(0);
            }

            /// Gives up as much room beyond `min_capacity` as std's own collection would.
            #[inline]
            pub fn shrink_to(&mut self, min_capacity: usize) {
                self.store.shrink_to(min_capacity);
            }
        }
    };
}

/// Traits that a collection has when its entries and its hasher have them, or its hasher alone.
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
