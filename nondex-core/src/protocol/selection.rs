//! The choices of a run that the seed decides.

use std::ops::Range;

use crate::hidden;
use crate::json;

use super::site::Site;

/// The choice points of a run that its seed decides; the others take the canonical order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Selection {
    /// All choices.
    #[default]
    All,
    /// Choices in one of the scopes.
    Only(Vec<Scope>),
    /// All choices except those in one of the scopes.
    Except(Vec<Scope>),
}

json::variants!(Selection {
    All = "all",
    Only(scopes) = "only",
    Except(scopes) = "except",
});

/// All or some of the choices at one site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// Site of the choices.
    pub site: Site,
    /// Calls at the site; `None` means all.
    pub calls: Option<Calls>,
}

json::object!(strict Scope { site, calls = optional });

/// Range of calls of one thread at one site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Calls {
    /// Logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// Ordinal of the first call, from 0.
    pub from: u64,
    /// Ordinal after that of the last call.
    pub to: u64,
}

json::object!(strict Calls { thread, from, to });

/// The choices of one thread at one site that the seed decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selected {
    /// No call.
    None,
    /// All calls.
    All,
    /// Calls in one of these ranges.
    In(hidden::Vec<Range<u64>>),
    /// Calls in none of these ranges.
    NotIn(hidden::Vec<Range<u64>>),
}

impl Selected {
    /// Returns whether the seed decides the call with this number.
    pub fn contains(&self, ordinal: u64) -> bool {
        let within = |ranges: &[Range<u64>]| ranges.iter().any(|range| range.contains(&ordinal));
        match self {
            Selected::None => false,
            Selected::All => true,
            Selected::In(ranges) => within(ranges),
            Selected::NotIn(ranges) => !within(ranges),
        }
    }
}

impl Selection {
    /// Returns the selected choices of one thread at one site. Costs O(scopes).
    pub fn of(&self, site: &Site, thread: &str) -> Selected {
        self.of_call(|other| other == site, thread)
    }

    /// Returns the choices as [`Selection::of`] does, for the site that `is_site` accepts. Does not
    /// use the program's allocator, because a thread may reach the site while it holds a lock of
    /// that allocator.
    pub(crate) fn of_call(&self, is_site: impl Fn(&Site) -> bool, thread: &str) -> Selected {
        let (scopes, whole, none, some): (_, _, _, fn(_) -> _) = match self {
            Selection::All => return Selected::All,
            Selection::Only(scopes) => (scopes, Selected::All, Selected::None, Selected::In),
            Selection::Except(scopes) => (scopes, Selected::None, Selected::All, Selected::NotIn),
        };
        let mut ranges = hidden::vec();
        for scope in scopes.iter().filter(|scope| is_site(&scope.site)) {
            match &scope.calls {
                None => return whole,
                Some(calls) if calls.thread == thread => ranges.push(calls.from..calls.to),
                Some(_) => {}
            }
        }
        if ranges.is_empty() { none } else { some(ranges) }
    }

    /// Returns a selection of only the choices at these sites.
    pub fn only(sites: impl IntoIterator<Item = Site>) -> Self {
        Selection::Only(sites.into_iter().map(Scope::from).collect())
    }

    /// Returns a selection of all choices except those at these sites.
    pub fn except(sites: impl IntoIterator<Item = Site>) -> Self {
        Selection::Except(sites.into_iter().map(Scope::from).collect())
    }
}

impl From<Site> for Scope {
    /// Returns the scope of all choices at the site.
    fn from(site: Site) -> Self {
        Scope { site, calls: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    fn site(line: u32) -> Site {
        Site {
            api: "x".to_owned(),
            family: Family::HashMap,
            file: "src/lib.rs".to_owned(),
            line,
            column: 1,
        }
    }

    fn calls(line: u32, thread: &str, from: u64, to: u64) -> Scope {
        let thread = thread.to_owned();
        Scope { site: site(line), calls: Some(Calls { thread, from, to }) }
    }

    #[test]
    fn a_selection_says_of_each_call_whether_it_is_made() {
        let scopes = vec![
            calls(1, "0", 2, 4),
            calls(1, "0", 7, 8),
            calls(1, "0.1", 0, 1),
            Scope::from(site(2)),
        ];
        let only = Selection::Only(scopes.clone());
        let except = Selection::Except(scopes);
        for (line, thread, made) in [
            (1, "0", &[2, 3, 7][..]),
            (1, "0.1", &[0]),
            (1, "0.2", &[]),
            (2, "0.2", &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
            (3, "0", &[]),
        ] {
            for ordinal in 0..9 {
                let is_in = made.contains(&ordinal);
                let of =
                    |selection: &Selection| selection.of(&site(line), thread).contains(ordinal);
                assert_eq!(of(&only), is_in, "{line} {thread} {ordinal}");
                assert_eq!(of(&except), !is_in, "{line} {thread} {ordinal}");
            }
        }
        assert_eq!(Selection::All.of(&site(1), "0"), Selected::All);
    }
}
