//! Manages job slots and test groups, which limit what runs at the same time.
//!
//! Both are nextest's: work takes one or more job slots (`threads-required`), and at most
//! `max-threads` threads of a group's tests run at once. A test takes as many threads of its group
//! as job slots.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Test group: a limit on the tests that run at once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestGroup {
    /// Name in the configuration.
    pub name: String,
    /// Maximum number of threads of its tests at once; [`NonZeroUsize::MAX`] for no limit.
    pub max_threads: NonZeroUsize,
}

impl TestGroup {
    /// nextest's name of the group that contains every test.
    pub const GLOBAL: &str = "@global";
}

/// Resources of work while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Required {
    /// Number of job slots.
    threads: usize,
    /// Number of threads in each group.
    groups: BTreeMap<Arc<TestGroup>, usize>,
}

impl Default for Required {
    /// Returns one job slot.
    fn default() -> Self {
        Required::new(NonZeroUsize::MIN, None)
    }
}

impl Required {
    /// Returns the resources of a test that needs this number of threads and is in this group.
    pub fn new(threads: NonZeroUsize, group: Option<Arc<TestGroup>>) -> Self {
        let limited = group.filter(|group| group.max_threads < NonZeroUsize::MAX);
        Required {
            threads: threads.get(),
            groups: limited.map(|group| (group, threads.get())).into_iter().collect(),
        }
    }

    /// Adds a limit on the threads of all tests that run at once.
    #[must_use]
    pub fn within(mut self, max_threads: NonZeroUsize) -> Self {
        let all = TestGroup { name: TestGroup::GLOBAL.to_owned(), max_threads };
        self.groups.insert(Arc::new(all), self.threads);
        self
    }

    /// Returns the resources of two pieces of work that run one after the other in one process.
    #[must_use]
    pub fn or(mut self, other: &Self) -> Self {
        self.threads = self.threads.max(other.threads);
        for (group, threads) in &other.groups {
            let own = self.groups.entry(Arc::clone(group)).or_default();
            *own = (*own).max(*threads);
        }
        self
    }

    /// Returns the resources without job slots, as if there were enough of these.
    pub fn in_groups(&self) -> Self {
        Required { threads: 0, groups: self.groups.clone() }
    }

    /// Returns whether two pieces of work never run at the same time, however many job slots there
    /// are.
    pub fn excludes(&self, other: &Self) -> bool {
        let mut slots = Slots::new(usize::MAX);
        slots.take(&self.in_groups());
        !slots.fits(&other.in_groups())
    }

    /// Returns the maximum number of threads of all tests at once, if limited.
    pub fn at_once(&self) -> Option<NonZeroUsize> {
        let mut groups = self.groups.keys();
        groups.find(|group| group.name == TestGroup::GLOBAL).map(|group| group.max_threads)
    }

    /// Removes the limit on the threads of all tests.
    #[must_use]
    pub fn without_limit(mut self) -> Self {
        self.groups.retain(|group, _| group.name != TestGroup::GLOBAL);
        self
    }

    /// Returns the name of the test group.
    pub fn group(&self) -> Option<&str> {
        let mut names = self.groups.keys().map(|group| group.name.as_str());
        names.find(|name| *name != TestGroup::GLOBAL)
    }
}

/// Job slots, and threads of groups, that are in use.
#[derive(Clone, Debug)]
pub struct Slots {
    jobs: usize,
    used: usize,
    in_groups: BTreeMap<Arc<TestGroup>, usize>,
}

impl Slots {
    /// Returns this number of free job slots.
    pub const fn new(jobs: usize) -> Self {
        Slots { jobs, used: 0, in_groups: BTreeMap::new() }
    }

    /// Returns whether work with these resources may start. Work that takes more than there is may
    /// start when nothing else runs.
    pub fn fits(&self, required: &Required) -> bool {
        required.threads.min(self.jobs) <= self.jobs - self.used
            && required.groups.iter().all(|(group, threads)| {
                let used = self.in_groups.get(group).copied().unwrap_or_default();
                limited(group, *threads) <= group.max_threads.get() - used
            })
    }

    /// Takes these resources if they [fit](Self::fits), and returns whether they do.
    pub fn take(&mut self, required: &Required) -> bool {
        let fits = self.fits(required);
        if fits {
            self.used += required.threads.min(self.jobs);
            for (group, threads) in &required.groups {
                let used = self.in_groups.entry(Arc::clone(group)).or_default();
                *used += limited(group, *threads);
            }
        }
        fits
    }

    /// Returns resources that were taken.
    pub fn release(&mut self, required: &Required) {
        self.used -= required.threads.min(self.jobs);
        for (group, threads) in &required.groups {
            if let Some(used) = self.in_groups.get_mut(group) {
                *used -= limited(group, *threads);
            }
        }
    }
}

/// Limits this number of threads to the maximum of the group.
fn limited(group: &TestGroup, threads: usize) -> usize {
    threads.min(group.max_threads.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(threads: usize, group: Option<(&str, usize)>) -> Required {
        let number = |number| NonZeroUsize::new(number).unwrap();
        let group =
            group.map(|(name, max)| TestGroup { name: name.to_owned(), max_threads: number(max) });
        Required::new(number(threads), group.map(Arc::new))
    }

    #[test]
    fn a_limit_on_all_tests_holds_besides_that_of_a_group() {
        let port = required(1, Some(("port", 2))).within(NonZeroUsize::MIN);
        let other = Required::default().within(NonZeroUsize::MIN);
        assert!(port.excludes(&other) && other.excludes(&other));
        assert_eq!((port.group(), other.group()), (Some("port"), None));
        assert_eq!(other.at_once(), Some(NonZeroUsize::MIN));
        assert_eq!(other.without_limit(), Required::default());
    }

    #[test]
    fn tests_of_a_group_of_one_exclude_each_other_and_no_other() {
        let [port, lock] = ["port", "lock"].map(|name| required(1, Some((name, 1))));
        assert!(port.excludes(&port));
        assert!(!port.excludes(&lock) && !port.excludes(&Required::default()));
        let mut slots = Slots::new(3);
        assert!(slots.take(&port) && slots.take(&lock) && slots.take(&Required::default()));
        assert!(!slots.take(&port) && !slots.take(&lock.clone().or(&Required::default())));
        slots.release(&port);
        assert!(slots.take(&port) && !slots.fits(&Required::default()));
    }

    #[test]
    fn a_heavy_test_takes_several_slots_of_all_and_of_its_group() {
        let heavy = required(2, Some(("database", 3)));
        let light = required(1, Some(("database", 3)));
        let mut slots = Slots::new(8);
        assert!(slots.take(&heavy) && !slots.fits(&heavy) && slots.take(&light));
        assert!(!slots.fits(&light) && !heavy.excludes(&light) && heavy.excludes(&heavy));
        assert!(slots.take(&required(5, None)) && !slots.fits(&Required::default()));
    }

    #[test]
    fn what_takes_more_than_there_is_runs_alone() {
        let all = required(usize::MAX, Some(("all", 1)));
        let mut slots = Slots::new(2);
        assert!(slots.take(&Required::default()) && !slots.fits(&all));
        slots.release(&Required::default());
        assert!(slots.take(&all) && !slots.fits(&Required::default()));
    }

    #[test]
    fn a_process_of_several_tests_takes_what_each_of_them_takes() {
        let [port, lock] = ["port", "lock"].map(|name| required(1, Some((name, 1))));
        let both = port.clone().or(&required(3, None)).or(&lock);
        assert!(both.excludes(&port) && both.excludes(&lock));
        assert_eq!(both.threads, 3);
        assert_eq!(both.group(), Some("lock"));
    }
}
