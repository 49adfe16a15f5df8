//! Families: groups of models that are turned on and off together, with the properties that all
//! their choices share.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::json;

use super::level::Level;

/// Whether numbers close to each other have similar effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// They do, like bytes or milliseconds. A bisection between the base and the drawn number makes
    /// sense.
    Metric,
    /// They are names: of an error, a key, or random bytes. A number equals the base or differs
    /// from it; nothing lies between the two.
    Nominal,
}

/// What is chosen: an order or a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// An order.
    Order,
    /// A number.
    Number(Scale),
}

/// A row of the table of families.
struct Columns {
    name: &'static str,
    chosen: Chosen,
    levels: &'static [Level],
}

macro_rules! families {
    ($($(#[$about:meta])* $family:ident = $key:literal $name:literal $chosen:expr,
        $levels:expr;)*) => {
        /// A group of models that are turned on and off together.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Family {
            $($(#[$about])* $family = $key,)*
        }

        impl Family {
            /// Every family.
            pub const ALL: [Family; [$($key),*].len()] = [$(Family::$family),*];

            const fn columns(self) -> Columns {
                match self {
                    $(Family::$family => Columns { name: $name, chosen: $chosen,
                        levels: $levels },)*
                }
            }
        }
    };
}

use Chosen::{Number, Order};
use Level::{Eq as EQ, Full as FULL, Id as ID, One as ONE, Std as STD};

// Each row has the key, the name, what is chosen, and the levels at which a run has a choice. At
// other levels, the run behaves as a clean run. A key is part of the identity of each choice, so it
// must never change or be reused.
families! {
    /// `HashMap` with std's `RandomState`.
    HashMap = 0 "hash_map" Order, &Level::ALL;
    /// `HashSet` with std's `RandomState`.
    HashSet = 1 "hash_set" Order, &Level::ALL;
    /// `HashMap` and `HashSet` with any other hasher. Their order is repeatable today, with one
    /// version of std, and just as unspecified.
    FixedHasher = 2 "fixed_hasher" Order, &[ONE, EQ, ID, FULL];
    /// The order of a directory.
    Directory = 3 "directory" Order, &Level::ALL;
    /// The order of the environment.
    Environment = 4 "environment" Order, &Level::ALL;
    /// The keys of std's `RandomState`, as observed by anything but the order of a collection. Each
    /// run of today has other keys, and that is what STD covers. At any other level they would be
    /// combined with its orders, and would show nothing new.
    HashKeys = 5 "hash_keys" Number(Scale::Nominal), &[STD];
    /// Random bytes of the operating system. They vary at STD only, as keys do.
    Entropy = 6 "entropy" Number(Scale::Nominal), &[STD];
    /// Whether another machine can be reached.
    Fault = 7 "fault" Number(Scale::Nominal), &Level::ALL;
    /// When each thread runs: how long a thread is delayed while others continue.
    Schedule = 8 "schedule" Number(Scale::Metric), &Level::ALL;
    /// How late a thread wakes.
    Time = 9 "time" Number(Scale::Metric), &Level::ALL;
    /// A number that the project's own code does not specify. A plain build always has the
    /// canonical one.
    OwnChoice = 10 "own_choice" Number(Scale::Nominal), &[ONE, EQ, ID, FULL];
    /// An order that the project's own code does not specify. A plain build always has the
    /// canonical one.
    OwnOrder = 11 "own_order" Order, &[ONE, EQ, ID, FULL];
}

json::words!(Family);

impl Family {
    /// Returns the name used on the command line and in records.
    pub const fn name(self) -> &'static str {
        self.columns().name
    }

    /// Returns the key of the family in hashes, which never changes.
    pub const fn key(self) -> u8 {
        self as u8
    }

    /// Returns what is chosen.
    pub const fn chosen(self) -> Chosen {
        self.columns().chosen
    }

    /// Returns whether an order is chosen, rather than a number.
    pub const fn is_of_orders(self) -> bool {
        matches!(self.chosen(), Order)
    }

    /// Returns the scale of the numbers, if numbers are chosen.
    pub const fn scale(self) -> Option<Scale> {
        match self.chosen() {
            Order => None,
            Number(scale) => Some(scale),
        }
    }

    /// Returns whether a chosen number depends on the level, as every order does.
    pub const fn numbers_depend_on_level(self) -> bool {
        matches!(self, Family::Schedule | Family::Time | Family::OwnChoice)
    }

    /// Returns whether the project's own code leaves the choice open, rather than a specification
    /// of std.
    pub const fn is_own(self) -> bool {
        matches!(self, Family::OwnChoice | Family::OwnOrder)
    }

    /// Returns the levels at which a run has a choice here.
    pub const fn varies_at(self) -> &'static [Level] {
        self.columns().levels
    }

    /// Returns whether a run at `level` has a choice here.
    pub fn varies(self, level: Level) -> bool {
        self.varies_at().contains(&level)
    }
}

impl Hash for Family {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.key().into());
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_vary_at_std_only_and_orders_wherever_a_level_can_tell() {
        for family in Family::ALL {
            let levels: Vec<_> =
                Level::ALL.into_iter().filter(|level| family.varies(*level)).collect();
            let expected = match family {
                Family::HashKeys | Family::Entropy => &Level::ALL[..1],
                Family::FixedHasher | Family::OwnChoice | Family::OwnOrder => &Level::ALL[1..],
                _ => &Level::ALL,
            };
            assert_eq!(levels, expected, "{family}");
        }
    }
}
