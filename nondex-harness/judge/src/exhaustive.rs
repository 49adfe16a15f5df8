//! Runs a test under *all* orders if there are few.
//!
//! The choices of a test that is otherwise deterministic form a tree. Each node is a choice with a
//! branch for each order of its elements. The next choice, if any, may depend on the orders before
//! it. A run is a path from the root to a leaf. So the runs made so far show the known part of the
//! tree, and the test ran under all orders when no branch is missing.
//!
//! Every seed draws its orders from the recorded choices. So a seed that takes a missing branch is
//! found without a run. A failure there has a level and a seed like any other.

use std::collections::{BTreeSet, HashMap, HashSet};

use nondex_core::choice::{draw, key};
use nondex_core::{ChoiceRecord, Level, RunSpec};

use super::missing::Missing;
use super::options::Options;
use super::question::Question;
use super::run::Run;

/// Returns how many seeds are searched for one that takes a missing branch, for at most `orders`
/// orders. Of `n` equally likely orders, the last is drawn after about n·ln(n) seeds (coupon
/// collector). After n·(ln(n) + 12) seeds, one is missing with a probability of at most e^-12.
fn seeds_for(orders: u64) -> u64 {
    (orders as f64 * ((orders as f64).ln() + 12.0)) as u64
}

/// Maximum number of orders that are all tried.
pub const MAX_ORDERS: u64 = 10_000;

/// Maximum number of runs that are requested at once.
const BATCH: usize = 16;

/// Knowledge of the orders of a test at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// All orders were run, by these seeds together with the runs in canonical order.
    Complete(Vec<u64>),
    /// There are too many orders, or they cannot be distinguished.
    Impossible,
}

/// Runs the test under all orders at `level`, if there are no more than the [limit].
///
/// # Errors
/// Returns the runs to make first.
pub fn explore(question: Question<'_>, level: Level) -> Result<Exploration, Missing> {
    let (options, evidence) = (question.options, question.evidence);
    let limit = limit(options);
    if level == Level::Std || limit == 0 || !options.prune {
        return Ok(Exploration::Impossible);
    }
    let of_seed = |seed| question.seed_spec(level, seed);
    let clean = question.clean_spec();
    let natural = question.has_natural_clean_run().then(|| question.natural_spec());
    if evidence.of(&clean).iter().any(|run| has_nothing_to_try(run, level)) {
        return Ok(Exploration::Impossible);
    }
    let mut tree = Tree::new(level, limit);
    let mut seeds = BTreeSet::new();
    for (spec, runs) in evidence.specs() {
        let is_seed = spec.level() == level && *spec == of_seed(spec.seed());
        let is_base = is_plain(level) && (*spec == clean || natural.as_ref() == Some(spec));
        for run in runs {
            if is_seed {
                tree.add(run, |choice| drawn(spec, choice));
                seeds.insert(spec.seed());
            } else if is_base {
                tree.add(run, |choice| Some((0..choice.len as usize).collect()));
            }
        }
    }
    if tree.is_impossible || tree.has_no_choice() {
        return Ok(Exploration::Impossible);
    }
    if tree.is_complete(ROOT) {
        return Ok(Exploration::Complete(seeds.into_iter().collect()));
    }
    // At most double the number of runs: if the test hangs, each of them takes the whole time
    // limit.
    let size = BATCH.min(seeds.len().max(1));
    let mut batch = Vec::new();
    let mut branches = HashSet::new();
    for seed in options.seeds.iter().copied().chain(0..seeds_for(limit)) {
        // At ID and EQ no choice is known before one seed was run.
        if batch.len() == size || tree.is_empty() && !batch.is_empty() {
            break;
        }
        let spec = of_seed(seed);
        if !seeds.insert(seed) {
            continue;
        }
        if let Some(branch) = tree.missing_branch(|choice| drawn(&spec, choice))
            && branches.insert(branch)
        {
            batch.push(spec);
        }
    }
    let purpose = options.purpose_of_seeds();
    if batch.is_empty() || evidence.spent().leaves_out(purpose) {
        return Ok(Exploration::Impossible);
    }
    Err(Missing::new(batch).serving(purpose))
}

/// Returns the requested levels at which the test ran under all orders. The test must never have
/// changed its outcome and must have no other choices. All orders at FULL include those of the
/// levels below it, except STD, which changes more than orders.
pub fn verified(question: Question<'_>) -> Vec<Level> {
    let mut points = question.repeated().flat_map(|run| run.points.iter());
    // Other values may lead to other orders.
    if points.any(|point| !point.site.family.is_of_orders()) {
        return Vec::new();
    }
    let is_complete = |level| {
        let explored = explore(question, level);
        matches!(explored, Ok(Exploration::Complete(_)))
    };
    let mut levels = question.options.realistic_first();
    levels.retain(|&level| level != Level::Std);
    if !(levels.contains(&Level::Full) && is_complete(Level::Full)) {
        levels.retain(|&level| is_complete(level));
    }
    levels
}

/// Returns the number of orders up to which all orders of a test are tried.
pub fn limit(options: &Options) -> u64 {
    options.exhaustive.max(options.seeds.len() as u64).min(MAX_ORDERS)
}

/// Returns whether a run in canonical order counts as a run of this level, and its choices are
/// known from what every run records.
const fn is_plain(level: Level) -> bool {
    matches!(level, Level::One | Level::Full)
}

fn drawn(spec: &RunSpec, choice: &ChoiceRecord) -> Option<Vec<usize>> {
    Some(draw(spec.schedule(), spec.level(), spec.seed(), choice)?.collect())
}

/// Tree of the choices in the runs of a test at one level.
struct Tree {
    level: Level,
    limit: u64,
    nodes: Vec<Node>,
    /// Whether a path has too many orders, runs contradict each other, or a run did not report all
    /// its choices.
    is_impossible: bool,
}

#[derive(Default)]
struct Node {
    /// Choice that is made at this node.
    choice: Option<ChoiceRecord>,
    branches: HashMap<Vec<usize>, usize>,
    /// Whether a run ended here.
    is_leaf: bool,
}

const ROOT: usize = 0;

impl Tree {
    fn new(level: Level, limit: u64) -> Self {
        Tree { level, limit, nodes: vec![Node::default()], is_impossible: false }
    }

    /// Adds a run whose choices took these orders.
    fn add(&mut self, run: &Run, order: impl Fn(&ChoiceRecord) -> Option<Vec<usize>>) {
        let added = all_choices(run, self.level).and_then(|choices| self.add_path(choices, order));
        self.is_impossible |= added.is_none();
    }

    fn add_path(
        &mut self,
        choices: &[ChoiceRecord],
        order: impl Fn(&ChoiceRecord) -> Option<Vec<usize>>,
    ) -> Option<()> {
        let mut node = ROOT;
        let mut orders = 1_u64;
        // Among choices that are equal as far as the level looks at them, the first one decides for
        // all.
        let mut made = HashSet::new();
        for choice in choices.iter().filter(|choice| !choice.keeps_base(self.level)) {
            if !made.insert(key(self.level, choice)?) {
                continue;
            }
            orders = orders.checked_mul(factorial(choice.len)?)?;
            if orders > self.limit {
                return None;
            }
            let known = self.nodes[node].choice.get_or_insert(*choice);
            // Equal orders must lead to the same choice. Otherwise something other than orders
            // decides.
            if known != choice || self.nodes[node].is_leaf {
                return None;
            }
            let next = self.nodes.len();
            let branch = *self.nodes[node].branches.entry(order(choice)?).or_insert(next);
            if branch == next {
                self.nodes.push(Node::default());
            }
            node = branch;
        }
        self.nodes[node].is_leaf = true;
        self.nodes[node].choice.is_none().then_some(())
    }

    fn is_empty(&self) -> bool {
        self.nodes[ROOT].choice.is_none() && !self.nodes[ROOT].is_leaf
    }

    fn has_no_choice(&self) -> bool {
        self.nodes[ROOT].is_leaf
    }

    /// Returns whether no branch below `node` is missing.
    fn is_complete(&self, node: usize) -> bool {
        let Node { choice, branches, is_leaf } = &self.nodes[node];
        match choice {
            None => *is_leaf,
            Some(choice) => {
                factorial(choice.len) == Some(branches.len() as u64)
                    && branches.values().all(|&branch| self.is_complete(branch))
            }
        }
    }

    /// Returns the first branch without a run on the path with these orders: its node, and the
    /// order there.
    fn missing_branch(
        &self,
        order: impl Fn(&ChoiceRecord) -> Option<Vec<usize>>,
    ) -> Option<(usize, Vec<usize>)> {
        let mut node = ROOT;
        while let Some(choice) = &self.nodes[node].choice {
            let order = order(choice)?;
            match self.nodes[node].branches.get(&order) {
                Some(&branch) => node = branch,
                None => return Some((node, order)),
            }
        }
        (!self.nodes[node].is_leaf).then_some((node, Vec::new()))
    }
}

/// Returns whether a clean run shows that trying orders at `level` is useless: no order is drawn,
/// or something else is drawn too. No seed needs to run to see this.
fn has_nothing_to_try(run: &Run, level: Level) -> bool {
    let mut varying = run.points.iter().map(|point| point.site.family);
    match all_choices(run, level) {
        Some(choices) => choices.iter().all(|choice| choice.keeps_base(level)),
        None => varying.any(|family| !family.is_of_orders() && family.varies(level)),
    }
}

/// Returns the choices of an order in this run. Choices that do not vary at this level are ignored.
/// Returns `None` if a run at `level` makes other choices too. Also returns `None` if some choices
/// may be unknown because a thread was killed before it could report them.
fn all_choices(run: &Run, level: Level) -> Option<&[ChoiceRecord]> {
    let mut count = 0;
    for point in &*run.points {
        let family = point.site.family;
        if family.is_of_orders() {
            count += point.count;
        } else if family.varies(level) {
            return None;
        }
    }
    (run.complete && count == run.choices.len() as u64).then_some(&run.choices)
}

fn factorial(n: u64) -> Option<u64> {
    (2..=n).try_fold(1_u64, u64::checked_mul)
}

#[cfg(test)]
mod tests;
