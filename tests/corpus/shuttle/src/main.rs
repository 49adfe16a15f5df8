//! Programs of `tests/fixtures/threads` that depend only on the schedule, under Shuttle's random
//! and PCT schedulers. Prints the iteration in which each bug is found.
//!
//! ```text
//! cargo run --manifest-path tests/corpus/shuttle/Cargo.toml -- [ITERATIONS]
//! ```

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

mod prelude {
    pub use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    pub use shuttle::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
    pub use shuttle::thread;
}
#[path = "../../../fixtures/threads/src/programs/mod.rs"]
mod programs;

/// Numbers of iterations for which found bugs are counted.
const MILESTONES: [usize; 4] = [10, 20, 50, 200];

/// Returns the iteration, from 0, in which a program fails.
fn first_failure(scheduler: impl Scheduler + 'static, program: fn()) -> Option<usize> {
    let iterations = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&iterations);
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    // A spin-wait that an unfair schedule never ends is no bug.
    config.max_steps = MaxSteps::ContinueAfter(20_000);
    let runner = Runner::new(scheduler, config);
    let run = move || {
        counted.fetch_add(1, SeqCst);
        program();
    };
    let result = panic::catch_unwind(AssertUnwindSafe(|| runner.run(run)));
    result.is_err().then(|| iterations.load(SeqCst) - 1)
}

fn main() {
    let most = std::env::args()
        .nth(1)
        .map_or(200, |count| count.parse().expect("a number of iterations"));
    panic::set_hook(Box::new(|_| ()));
    let programs = include!(concat!(env!("OUT_DIR"), "/list.rs"));
    let mut found: [Vec<usize>; 3] = Default::default();
    println!("| program | random | PCT, depth 2 | PCT, depth 3 |");
    println!("|---|---|---|---|");
    for (name, program) in programs {
        let firsts = [
            first_failure(RandomScheduler::new_from_seed(1, most), program),
            first_failure(PctScheduler::new_from_seed(1, 2, most), program),
            first_failure(PctScheduler::new_from_seed(1, 3, most), program),
        ];
        let shown =
            firsts.map(|first| first.map_or("-".to_owned(), |iteration| iteration.to_string()));
        println!("| {name} | {} |", shown.join(" | "));
        if name.ends_with("::bug") {
            for (found, first) in found.iter_mut().zip(firsts) {
                found.extend(first);
            }
        }
    }
    let bugs = programs
        .iter()
        .filter(|(name, _)| name.ends_with("::bug"))
        .count();
    for (scheduler, firsts) in ["random", "PCT, depth 2", "PCT, depth 3"].iter().zip(found) {
        let counts = MILESTONES.map(|most| {
            format!(
                "{} in {most}",
                firsts.iter().filter(|first| **first < most).count()
            )
        });
        println!("{scheduler}: of {bugs} bugs, found {}", counts.join(", "));
    }
}
