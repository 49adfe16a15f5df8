//! Families: groups of models that are switched together, with what holds for all choices of a
//! group.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::json;

use super::level::Level;

/// Whether numbers near each other are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// They are, as with bytes or milliseconds: a search may go by halves from the base to the
    /// number that was drawn.
    Metric,
    /// They are names, of an error, a key, or random bytes: there is the base, and there are
    /// others.
    Nominal,
}

/// What is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// An order.
    Order,
    /// A number.
    Number(Scale),
}

/// The columns of the table of families.
struct Columns {
    name: &'static str,
    chosen: Chosen,
    levels: &'static [Level],
}

macro_rules! families {
    ($($(#[$about:meta])* $family:ident = $key:literal $name:literal $chosen:expr,
        $levels:expr;)*) => {
        /// A group of models that are switched together.
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

// The key, the name, what is chosen, and the levels at which a run has anything to decide; at all
// others it takes what a clean run takes. A key is part of the identity of each choice: it stays,
// and is not given to another.
families! {
    /// `HashMap` with std's `RandomState`.
    HashMap = 0 "hash_map" Order, &Level::ALL;
    /// `HashSet` with std's `RandomState`.
    HashSet = 1 "hash_set" Order, &Level::ALL;
    /// `HashMap` and `HashSet` with any other hasher: their order is repeatable today, on one std,
    /// and no less open.
    FixedHasher = 2 "fixed_hasher" Order, &[ONE, EQ, ID, FULL];
    /// The order of a directory.
    Directory = 3 "directory" Order, &Level::ALL;
    /// The order of the environment.
    Environment = 4 "environment" Order, &Level::ALL;
    /// The keys of std's `RandomState` where anything but a collection's own order shows them.
    /// Every run of today has others, which is what STD is about: at any other level they would be
    /// crossed with its orders, and show nothing that is not shown there.
    HashKeys = 5 "hash_keys" Number(Scale::Nominal), &[STD];
    /// Random bytes of the operating system; at STD only, as keys.
    Entropy = 6 "entropy" Number(Scale::Nominal), &[STD];
    /// Whether another machine can be reached.
    Fault = 7 "fault" Number(Scale::Nominal), &Level::ALL;
    /// When each thread runs: how long one is delayed while others go on.
    Schedule = 8 "schedule" Number(Scale::Metric), &Level::ALL;
    /// How late a thread wakes.
    Time = 9 "time" Number(Scale::Metric), &Level::ALL;
    /// A number that the project's own code does not specify. A program of today always has the
    /// canonical one.
    OwnChoice = 10 "own_choice" Number(Scale::Nominal), &[ONE, EQ, ID, FULL];
    /// An order that the project's own code does not specify; as above.
    OwnOrder = 11 "own_order" Order, &[ONE, EQ, ID, FULL];
}

json::words!(Family);

impl Family {
    /// The name used on the command line and in records.
    pub const fn name(self) -> &'static str {
        self.columns().name
    }

    /// What the family is in a hash, and will be however many there are.
    pub const fn key(self) -> u8 {
        self as u8
    }

    /// What is chosen.
    pub const fn chosen(self) -> Chosen {
        self.columns().chosen
    }

    /// Whether an order is chosen; else a number is.
    pub const fn is_of_orders(self) -> bool {
        matches!(self.chosen(), Order)
    }

    /// The scale of the numbers, if those are chosen.
    pub const fn scale(self) -> Option<Scale> {
        match self.chosen() {
            Order => None,
            Number(scale) => Some(scale),
        }
    }

    /// Whether a number that is chosen depends on the level, as every order does.
    pub const fn numbers_depend_on_level(self) -> bool {
        matches!(self, Family::Schedule | Family::Time | Family::OwnChoice)
    }

    /// Whether the project's own code leaves the choice open, not a specification of std's.
    pub const fn is_own(self) -> bool {
        matches!(self, Family::OwnChoice | Family::OwnOrder)
    }

    /// The levels at which a run has anything to decide here.
    pub const fn varies_at(self) -> &'static [Level] {
        self.columns().levels
    }

    /// Whether a run at `level` has anything to decide here.
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
