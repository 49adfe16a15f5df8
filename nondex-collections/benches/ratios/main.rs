//! Costs of the mirrored collections compared with std's, as ratios.
//!
//! `cargo bench -p nondex-collections` counts the instructions of each operation with valgrind, for
//! std's map and for the mirrored one. It does so in one process, in canonical order and at every
//! level. Other work on the machine does not change the counts.
//!
//! `--bench ratios -- --times` measures times instead: each figure is the ratio of the minimum
//! times. `-- --records` measures the cost of records. The output is the tables of the book. Other
//! arguments after `--` select operations: `-- iter/1000/`.

mod instructions;
mod memory;
mod operations;
mod records;
mod times;

use std::error::Error;

use nondex_core::{Context, Level, RunSpec, context};
use operations::{FIXED, Meter, OPERATIONS, mirror, of_std};
use times::Timed;

/// A measurement: an operation on a map with this number of entries.
#[derive(Clone, Copy, Debug)]
struct Row {
    operation: &'static str,
    len: u64,
    /// Whether the hasher is repeatable.
    is_fixed: bool,
}

impl Row {
    /// Returns all rows whose names contain `filter`.
    fn all(filter: &str) -> Vec<Row> {
        [(OPERATIONS, false), (FIXED, true)]
            .into_iter()
            .flat_map(|(operations, is_fixed)| {
                operations.iter().flat_map(move |&(operation, lens)| {
                    lens.iter().map(move |&len| Row { operation, len, is_fixed })
                })
            })
            .filter(|row| row.name().contains(filter))
            .collect()
    }

    fn name(self) -> String {
        let hasher = if self.is_fixed { "fixed" } else { "random" };
        format!("{}/{}/{hasher}", self.operation, self.len)
    }

    /// Measures std's operation, and the mirrored one in each run, each with a new meter.
    fn measure<M: Meter>(self, meter: impl Fn() -> M) -> Vec<M> {
        type Fixed = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;
        let Row { operation, len, .. } = self;
        let mut of_std = meter();
        if !self.is_fixed {
            of_std::measure(&mut of_std, operation, len, &of_std::RandomState::new());
        } else {
            of_std::measure(&mut of_std, operation, len, &Fixed::default());
        }
        let mut measured = vec![of_std];
        for (_, spec) in runs() {
            let run = Context::new(spec);
            let _test = context::enter(&run, "bench");
            let mut own = meter();
            if !self.is_fixed {
                mirror::measure(&mut own, operation, len, &mirror::RandomState::new());
            } else {
                mirror::measure(&mut own, operation, len, &Fixed::default());
            }
            measured.push(own);
        }
        measured
    }
}

/// Returns the runs in which the mirrored map is measured: the clean run, and one at each level.
fn runs() -> Vec<(&'static str, RunSpec)> {
    let mut runs = vec![("base", RunSpec::clean("bench"))];
    runs.extend(Level::ALL.map(|level| (level.name(), RunSpec::new("bench", level, 3))));
    runs
}

/// The measurements of each row: of std's operation, and of the mirrored one in each run.
type Table = Vec<(Row, Vec<f64>)>;

/// Prints a table of measurements in this unit.
fn print(unit: &str, rows: &Table) {
    let names: Vec<&str> = runs().iter().map(|run| run.0).collect();
    for is_fixed in [false, true] {
        let hasher = if is_fixed { "repeatable hasher" } else { "`RandomState`" };
        println!("\n| {hasher} | std | {} |", names.join(" | "));
        println!("|{}", "---|".repeat(names.len() + 2));
        for (row, measured) in rows.iter().filter(|(row, _)| row.is_fixed == is_fixed) {
            let [of_std, own @ ..] = measured.as_slice() else { continue };
            print!("| {} of {} | {of_std:.0}{unit} |", row.operation, row.len);
            for own in own {
                print!(" {:.2} |", own / of_std);
            }
            println!();
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |option: &str| arguments.iter().any(|argument| argument == option);
    let filter =
        arguments.iter().find(|argument| !argument.starts_with("--")).map_or("", String::as_str);
    if has(instructions::CHILD) {
        instructions::execute(filter);
    } else if has("--records") {
        records::print()?;
    } else if has("--times") {
        let times = |row: Row| row.measure(Timed::new).into_iter().map(Timed::least);
        let rows: Table =
            Row::all(filter).into_iter().map(|row| (row, times(row).collect())).collect();
        print(" ns", &rows);
        memory::print();
    } else {
        print("", &instructions::measure(filter)?);
        memory::print();
    }
    Ok(())
}
