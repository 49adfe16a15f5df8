//! Sources of nondeterminism that no choice controls. A test may depend on them although all
//! choices are equal.

use crate::json;

/// A source of nondeterminism that no choice controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A clock with an arbitrary start, such as that of `Instant`.
    Clock,
    /// The date or the time of day.
    Date,
    /// A sleep.
    Sleep,
    /// Threads of the test, which the machine schedules.
    Thread,
    /// Programs that the test starts, and forks.
    Child,
    /// A file from which the system provides random bytes, such as `/dev/urandom`, or to which libc
    /// gives a random name.
    RandomFile,
    /// The number of the process or of one of its threads.
    ProcessNumber,
    /// A port that the system chooses.
    Port,
    /// Memory, load or statistics of the machine, which other programs change.
    System,
}

impl Source {
    /// Returns the bit of this source in a set.
    pub(crate) const fn bit(self) -> u16 {
        1 << self as u8
    }

    /// Returns the sources of a set of bits.
    pub(crate) fn of(bits: u16) -> Vec<Source> {
        Source::within(bits).collect()
    }

    /// Iterates over the sources of a set of bits.
    pub(crate) fn within(bits: u16) -> impl Iterator<Item = Source> {
        let is_in = move |source: &Source| bits & source.bit() != 0;
        Source::ALL.into_iter().filter(is_in)
    }
}

json::words!(Source { Clock = "clock", Date = "date", Sleep = "sleep", Thread = "thread",
    Child = "child", RandomFile = "random-file", ProcessNumber = "process-number",
    Port = "port", System = "system" });
