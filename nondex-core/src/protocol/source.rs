//! Sources of non-determinism that no choice controls: what a test may depend on though every
//! choice is the same.

use crate::json;

/// A source of non-determinism that no choice controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// It reads a clock whose start means nothing, such as that of `Instant`.
    Clock,
    /// It reads the date or the time of day.
    Date,
    /// It sleeps.
    Sleep,
    /// It starts threads, which the machine schedules.
    Thread,
    /// It starts programs, or forks.
    Child,
    /// It opens a file in which the system gives random bytes, such as `/dev/urandom`, or that libc
    /// gives a random name.
    RandomFile,
    /// It asks for the number of its process or of one of its threads.
    ProcessNumber,
    /// It lets the system choose a port.
    Port,
}

impl Source {
    /// Its bit in a set of them.
    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Those of a set of bits.
    pub(crate) fn of(bits: u8) -> Vec<Source> {
        Source::within(bits).collect()
    }

    /// As [`of`](Source::of), one after the other.
    pub(crate) fn within(bits: u8) -> impl Iterator<Item = Source> {
        let is_in = move |source: &Source| bits & source.bit() != 0;
        Source::ALL.into_iter().filter(is_in)
    }
}

json::words!(Source { Clock = "clock", Date = "date", Sleep = "sleep", Thread = "thread",
    Child = "child", RandomFile = "random-file", ProcessNumber = "process-number",
    Port = "port" });
