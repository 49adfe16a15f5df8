//! Measures how many runs the schedules need until a bug of a known kind shows:
//! `cargo run --package nondex-core --example schedules`.
//!
//! Each kind of bug depends in a different way on the order of one or two collections. An instance
//! is a bug that concerns random elements at a random call, and does not show in canonical order.
//! The seeds 0, 1, 2, … are tried until the bug shows. The result depends only on the algorithm, so
//! it is the same on every machine.

use nondex_core::choice::draw;
use nondex_core::{ChoiceRecord, Level, Schedule, hash};

/// Numbers of elements of the collections.
const LENS: [usize; 6] = [2, 3, 5, 8, 16, 64];

/// Number of bugs for each kind and length.
const INSTANCES: u64 = 2_000;

/// Default number of seeds of a campaign.
const DEFAULT_SEEDS: u64 = 10;

/// Maximum number of seeds for a bug. With random schedules, 1 of 10^13 of the rarest bugs here
/// needs more.
const MAX_SEEDS: u64 = 2_000;

/// Condition under which a bug shows.
#[derive(Clone, Copy)]
enum Bug {
    /// Two elements are in this order, which is not the canonical one.
    Pair([usize; 2]),
    /// One element comes first.
    First(usize),
    /// One element comes last.
    Last(usize),
    /// Three elements are in this order.
    Triple([usize; 3]),
    /// The element is at the position.
    Position(usize, usize),
    /// Two elements have different orders in two collections, or in two reads of one collection at
    /// level FULL.
    Disagreement([usize; 2]),
}

/// Names of the kinds of bugs.
const KINDS: [&str; 6] =
    ["pair order", "first element", "last element", "triple order", "position", "two reads differ"];

impl Bug {
    /// Returns a random bug of a kind that does not show in canonical order. Returns `None` if no
    /// such bug is possible with this number of elements.
    fn random(kind: usize, len: usize, random: &mut Random) -> Option<Bug> {
        let mut distinct = |count: usize| {
            let mut elements: Vec<usize> = Vec::new();
            while elements.len() < count {
                let element = random.below(len);
                if !elements.contains(&element) {
                    elements.push(element);
                }
            }
            elements
        };
        Some(match kind {
            0 => {
                let pair = distinct(2);
                Bug::Pair([pair[0].max(pair[1]), pair[0].min(pair[1])])
            }
            1 => Bug::First(1 + random.below(len - 1)),
            2 => Bug::Last(random.below(len - 1)),
            3 if len < 3 => return None,
            3 => loop {
                let triple = distinct(3);
                if !triple.is_sorted() {
                    break Bug::Triple([triple[0], triple[1], triple[2]]);
                }
            },
            4 => {
                let places = distinct(2);
                Bug::Position(places[0], places[1])
            }
            _ => {
                let pair = distinct(2);
                Bug::Disagreement([pair[0], pair[1]])
            }
        })
    }

    /// Returns whether the bug shows if the two collections have these orders.
    fn shows(self, order: &[usize], other: &[usize]) -> bool {
        let at = |order: &[usize], element| order.iter().position(|&here| here == element);
        let is_before = |order: &[usize], [a, b]: [usize; 2]| at(order, a) < at(order, b);
        match self {
            Bug::Pair(pair) => is_before(order, pair),
            Bug::First(element) => order[0] == element,
            Bug::Last(element) => order[order.len() - 1] == element,
            Bug::Triple([a, b, c]) => is_before(order, [a, b]) && is_before(order, [b, c]),
            Bug::Position(element, place) => order[place] == element,
            Bug::Disagreement(pair) => is_before(order, pair) != is_before(other, pair),
        }
    }
}

/// Small random generator (`SplitMix64`).
struct Random(u64);

impl Random {
    /// Returns the next number.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash::mix(self.0)
    }

    /// Returns a number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

/// Numbers of runs until bugs of one kind and length showed.
struct Needed {
    mean: f64,
    /// Number of runs that show 95 % of the bugs.
    quantile: u64,
    /// Share of the bugs that the default seeds show.
    shown_by_default: f64,
}

/// Function that formats one of the numbers.
type Show = fn(&Needed) -> String;

/// Measures the runs until bugs of a kind and length show. Returns `None` if there are no such
/// bugs.
fn measure(schedule: Schedule, kind: usize, len: usize) -> Option<Needed> {
    let mut random = Random((kind * 1000 + len) as u64);
    let mut runs = Vec::new();
    for _ in 0..INSTANCES {
        let bug = Bug::random(kind, len, &mut random)?;
        let places = [random.next(), random.next()];
        let order = |seed, place| -> Vec<usize> {
            let choice = ChoiceRecord {
                place,
                ordinal: 0,
                len: len as u64,
                aspect: None,
                reading: None,
                own: 0,
            };
            draw(schedule, Level::Full, seed, &choice)
                .expect("FULL looks at nothing but the call")
                .collect()
        };
        let shows = |&seed: &u64| bug.shows(&order(seed, places[0]), &order(seed, places[1]));
        runs.push(1 + (0..MAX_SEEDS).find(shows).unwrap_or(MAX_SEEDS));
    }
    runs.sort_unstable();
    Some(Needed {
        mean: runs.iter().sum::<u64>() as f64 / runs.len() as f64,
        quantile: runs[runs.len() * 95 / 100],
        shown_by_default: runs.iter().filter(|&&run| run <= DEFAULT_SEEDS).count() as f64
            / runs.len() as f64,
    })
}

/// Table: its title, and the rows. Each row has the name of a kind of bug, and a cell for each
/// length.
pub(crate) type Table = (&'static str, Vec<(&'static str, Vec<String>)>);

/// Returns the tables for collections of these lengths.
pub(crate) fn tables(lens: &[usize]) -> [Table; 3] {
    let needed: Vec<Vec<_>> = (0..KINDS.len())
        .map(|kind| {
            let cell = |&len: &usize| Schedule::DRAWN.map(|schedule| measure(schedule, kind, len));
            lens.iter().map(cell).collect()
        })
        .collect();
    let parts: [(&str, Show); 3] = [
        ("runs until it shows, mean", |needed| format!("{:.1}", needed.mean)),
        ("runs that show 95 %", |needed| needed.quantile.to_string()),
        ("shown by 10 seeds, %", |needed| format!("{:.1}", 100.0 * needed.shown_by_default)),
    ];
    parts.map(|(title, show)| {
        let cell = |[covering, random]: &[Option<Needed>; 2]| match (covering, random) {
            (Some(covering), Some(random)) => format!("{} / {}", show(covering), show(random)),
            _ => "–".to_owned(),
        };
        let rows = KINDS
            .into_iter()
            .zip(&needed)
            .map(|(kind, cells)| (kind, cells.iter().map(cell).collect()))
            .collect();
        (title, rows)
    })
}

fn main() {
    println!("Each cell: covering / random, of {INSTANCES} bugs.");
    for (title, rows) in tables(&LENS) {
        let lens = LENS.map(|len| format!("{len} elements"));
        println!("\n| {title} | {} |", lens.join(" | "));
        println!("|---|{}", "---|".repeat(LENS.len()));
        for (kind, cells) in rows {
            println!("| {kind} | {} |", cells.join(" | "));
        }
    }
}
