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
