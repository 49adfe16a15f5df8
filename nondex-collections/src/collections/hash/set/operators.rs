//! The operators `|`, `&`, `^` and `-` of two sets, implemented by the named operations.

use ::std::hash::{BuildHasher, Hash};
use ::std::ops::{BitAnd, BitOr, BitXor, Sub};

use super::HashSet;

macro_rules! operator {
    ($Operator:ident, $operator:ident, $operation:ident) => {
        impl<T, S> $Operator<&HashSet<T, S>> for &HashSet<T, S>
        where
            T: Eq + Hash + Clone,
            S: BuildHasher + Default,
        {
            type Output = HashSet<T, S>;

            #[track_caller]
            fn $operator(self, rhs: &HashSet<T, S>) -> HashSet<T, S> {
                self.$operation(rhs).cloned().collect()
            }
        }
    };
}

operator!(BitOr, bitor, union);
operator!(BitAnd, bitand, intersection);
operator!(BitXor, bitxor, symmetric_difference);
operator!(Sub, sub, difference);
