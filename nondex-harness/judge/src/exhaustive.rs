//! Running a test under *all* orders, where there are few.
//!
//! The choices of a test that is deterministic but for them form a tree: at each node one choice,
//! with a branch for each order of its elements; which choice comes next, if any, may depend on the
//! orders before it. A run is a path from the root to a leaf. So the tree is known from the runs
//! made until now, and the test has been run under all orders when no branch is missing. As every
//! seed draws its orders from the records, a seed that takes a missing branch is found without
//! running anything: what fails has a level and a seed like any other run.

use std::collections::{BTreeSet, HashMap, HashSet};

use nondex_core::choice::{draw, key};
use nondex_core::{ChoiceRecord, Level, RunSpec};

use super::missing::Missing;
use super::options::Options;
use super::question::Question;
use super::run::Run;

/// How many seeds are looked through for one that takes a missing branch, when there are at most so
/// many orders: of `n` equally likely ones the last is drawn after about n·ln(n) seeds, and after
/// n·(ln(n) + 12) with a probability of all but e^-12.
fn seeds_for(orders: u64) -> u64 {
    (orders as f64 * ((orders as f64).ln() + 12.0)) as u64
}

/// More orders than these are never all tried.
pub const MAX_ORDERS: u64 = 10_000;

/// Number of runs that are requested at once.
const WAVE: usize = 16;

/// What is known of the orders of a test at one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// All were run: these seeds, together with the runs in canonical order, show each.
    Complete(Vec<u64>),
    /// There are too many, or they cannot be distinguished.
    Impossible,
}

/// Runs `test` under all orders at `level`, if there are no more than [may be](limit).
///
/// # Errors
/// The runs to make first.
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
    // Twice as many as were run before: should the test hang, each of them takes the whole time
    // limit.
    let size = WAVE.min(seeds.len().max(1));
    let mut batch = Vec::new();
    let mut branches = HashSet::new();
    for seed in options.seeds.iter().copied().chain(0..seeds_for(limit)) {
        // At ID and EQ nothing is known before one seed has been run.
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

/// The levels of those asked for at which a test that never changed its outcome, and has no other
/// choices, has been run under all orders. All orders at FULL are all that there can be at the
/// levels below it, but for STD, where more than orders changes.
pub fn verified(question: Question<'_>) -> Vec<Level> {
    let mut points = question.repeated().flat_map(|run| run.points.iter());
    // With other values there may be other orders.
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

/// How many orders of a test are all tried.
pub fn limit(options: &Options) -> u64 {
    options.exhaustive.max(options.seeds.len() as u64).min(MAX_ORDERS)
}

/// Whether a run in canonical order is one of the runs of this level, and is known from what every
/// run record.
const fn is_plain(level: Level) -> bool {
    matches!(level, Level::One | Level::Full)
}

fn drawn(spec: &RunSpec, choice: &ChoiceRecord) -> Option<Vec<usize>> {
    Some(draw(spec.schedule(), spec.level(), spec.seed(), choice)?.collect())
}

/// The runs of a test at one level as a tree of choices.
struct Tree {
    level: Level,
    limit: u64,
    nodes: Vec<Node>,
    /// Whether a path has more orders than may be tried, runs contradict each other, or one has not
    /// told all its choices.
    is_impossible: bool,
}

#[derive(Default)]
struct Node {
    /// The choice that is made here.
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

    /// Adds a run, whose choices took these orders.
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
        // Of choices that agree in what their level looks at, the first one decides.
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
            // After the same orders comes the same choice, or something else than orders decides.
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

    /// Whether no branch is missing from here on.
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

    /// The first branch without a run that a run takes whose choices have these orders: its node,
    /// and the order there.
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

/// Whether a clean run shows that no order is drawn at `level`, or that not all that is drawn is an
/// order. No seed need be run to see that.
fn has_nothing_to_try(run: &Run, level: Level) -> bool {
    let mut varying = run.points.iter().map(|point| point.site.family);
    match all_choices(run, level) {
        Some(choices) => choices.iter().all(|choice| choice.keeps_base(level)),
        None => varying.any(|family| !family.is_of_orders() && family.varies(level)),
    }
}

/// The orders of a run that a run at `level` chooses, if it chooses nothing else and it is known
/// that there were no others: threads that were killed have not told theirs. What does not vary at
/// this level is what it is in every run there.
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
