//! The method bodies that every iterator over entries shares.

/// The methods of [`Iterator`] for a field that visits entries, each mapped to the item.
macro_rules! iterator_methods {
    ($entries:ident, $item:expr) => {
        #[inline]
        fn next(&mut self) -> Option<Self::Item> {
            self.$entries.next().map($item)
        }

        #[inline]
        fn size_hint(&self) -> (usize, Option<usize>) {
            let left = self.$entries.len();
            (left, Some(left))
        }

        #[inline]
        fn count(self) -> usize {
            self.$entries.len()
        }

        #[inline]
        fn fold<B, F>(self, init: B, mut f: F) -> B
        where
            F: FnMut(B, Self::Item) -> B,
        {
            self.$entries
                .fold(init, |acc, entry| f(acc, ($item)(entry)))
        }
    };
}
