//! Options whose value is one of some words.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A parser of the names of `all`.
pub(super) fn words<T, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(all.map(name)).map(move |word| {
        let mut all = all.into_iter();
        all.find(|one| name(*one) == word)
            .expect("no other word is accepted")
    })
}
