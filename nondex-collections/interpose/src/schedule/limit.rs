//! Time limits of calls.

use ::std::ffi::c_int;

const MILLISECOND: u64 = 1_000_000;

/// Maximum time for which a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Not at all.
    Zero,
    /// A number of nanoseconds.
    Time(u64),
    /// As long as it takes.
    None,
}

impl Limit {
    /// Returns the limit for an argument of `poll`.
    pub(crate) const fn of_milliseconds(limit: c_int) -> Self {
        match limit {
            0 => Limit::Zero,
            1.. => Limit::Time(limit as u64 * MILLISECOND),
            _ => Limit::None,
        }
    }

    /// Returns the limit in seconds and nanoseconds; [`Limit::None`] for `None`.
    pub(crate) fn of<S: TryInto<u64>, R: TryInto<u64>>(limit: Option<(S, R)>) -> Self {
        let Some((seconds, rest)) = limit else { return Limit::None };
        let seconds = seconds.try_into().unwrap_or(0);
        let rest = rest.try_into().unwrap_or(0);
        match seconds.saturating_mul(1000 * MILLISECOND).saturating_add(rest) {
            0 => Limit::Zero,
            time => Limit::Time(time),
        }
    }

    /// Returns the limit in seconds and nanoseconds, or `None` if there is none.
    pub(crate) const fn time(self) -> Option<[u64; 2]> {
        match self {
            Limit::Zero => Some([0, 0]),
            Limit::Time(time) => Some([time / 1_000_000_000, time % 1_000_000_000]),
            Limit::None => None,
        }
    }

    /// Returns the limit in milliseconds, as `poll` takes it.
    pub(crate) fn milliseconds(self) -> c_int {
        match self {
            Limit::Zero => 0,
            Limit::Time(time) => c_int::try_from(time.div_ceil(MILLISECOND)).unwrap_or(c_int::MAX),
            Limit::None => -1,
        }
    }
}
