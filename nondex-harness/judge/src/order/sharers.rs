//! Constructs orders that begin with the tests that share a part of the state.

/// Maximum number of writers for which orders without each of them are tried.
const MAX_LEFT_OUT: usize = 8;

/// Tests that share a part of the state which one of them leaves changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sharers {
    /// Tests that leave it changed.
    pub writers: Vec<usize>,
    /// Tests that only read it when they run alone.
    pub readers: Vec<usize>,
}

impl Sharers {
    /// Returns orders for polluters that only have an effect together. Random orders rarely have
    /// all of them before their victim and after the tests that undo the effect. In these orders
    /// the tests that change the same part of the state come first, all of them or all but one. The
    /// others follow, forwards and backwards.
    pub(super) fn writers_first(&self, tests: usize) -> Vec<Vec<usize>> {
        let writers = &self.writers;
        if writers.len() < 2 {
            return Vec::new();
        }
        let mut firsts = vec![writers.clone()];
        if (3..=MAX_LEFT_OUT).contains(&writers.len()) {
            let without = |out| writers.iter().copied().filter(|test| test != out).collect();
            firsts.extend(writers.iter().map(without));
        }
        firsts.into_iter().flat_map(|first| then_others(&first, tests)).collect()
    }

    /// Returns orders for a chain: a test that reads what another test left may then change another
    /// part for a third test. A random order of three tests is such a chain with a probability of
    /// one sixth.
    pub(super) fn readers_next(&self, tests: usize) -> Vec<Vec<usize>> {
        let first = [&self.writers[..], &self.readers].concat();
        if self.readers.is_empty() {
            return Vec::new();
        }
        then_others(&first, tests).to_vec()
    }
}

/// Returns orders with these tests first and then the others, forwards and backwards.
fn then_others(first: &[usize], tests: usize) -> [Vec<usize>; 2] {
    let others = (0..tests).filter(|test| !first.contains(test));
    let forwards = first.iter().copied().chain(others.clone()).collect();
    let backwards = first.iter().copied().chain(others.rev()).collect();
    [forwards, backwards]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sharers(writers: &[usize], readers: &[usize]) -> Sharers {
        Sharers { writers: writers.to_vec(), readers: readers.to_vec() }
    }

    #[test]
    fn polluters_come_together_before_their_victim_though_one_of_them_undoes_it() {
        let orders = sharers(&[1, 2, 3, 4], &[]).writers_first(6);
        assert_eq!(orders.len(), 2 * 5);
        assert!(orders.iter().all(|order| order.len() == 6));
        assert_eq!(orders[0], [1, 2, 3, 4, 0, 5]);
        assert_eq!(orders[1], [1, 2, 3, 4, 5, 0]);
        // Without the first writer, which comes later.
        assert_eq!(orders[2], [2, 3, 4, 0, 1, 5]);
        assert_eq!(sharers(&[3, 5], &[]).writers_first(6).len(), 2);
        assert!(sharers(&[3], &[1]).writers_first(6).is_empty());
    }

    #[test]
    fn a_test_that_reads_what_another_one_has_left_comes_between_it_and_the_others() {
        let of = |writers: &[usize], readers: &[usize]| sharers(writers, readers).readers_next(4);
        assert_eq!(of(&[0], &[2]), [[0, 2, 1, 3], [0, 2, 3, 1]]);
        assert!(of(&[0], &[]).is_empty());
    }
}
