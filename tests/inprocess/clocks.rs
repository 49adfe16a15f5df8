//! Values of clocks. The monotonic clock starts at a time that the seed decides, in all threads and
//! forks of a test. Waits for its deadlines take as long as the clock shows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nondex_core::{Family, Level, Outcome, RunSpec, model};

use crate::compile::{compile_threads, fixture};
use crate::threads::{run_in, tests_of};

const FIXTURE: &str = "clocks.rs";

fn executable() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| compile_threads(&fixture(FIXTURE)))
}

#[test]
fn clocks_and_deadlines_on_them_agree_in_all_threads_and_forks() {
    let tests = tests_of(FIXTURE, "right_");
    assert_eq!(tests.len(), 8);
    for test in tests {
        let seeds = (0..3).map(|seed| RunSpec::new(&test, Level::Std, seed));
        for spec in [RunSpec::clean(&test)].into_iter().chain(seeds) {
            let (events, record) = run_in(executable(), &spec);
            let about = format!("{test} {} {} {events}", spec.level(), spec.seed());
            assert_eq!(record.outcome, Outcome::Passed, "{about}");
        }
    }
}

#[test]
fn the_monotonic_clock_starts_at_the_same_time_in_all_runs_of_a_spec_and_elsewhere_with_a_seed() {
    const TEST: &str = "shows_where_the_clock_starts";
    let start = |spec: &RunSpec| {
        let (_, record) = run_in(executable(), spec);
        let sites = record.points.iter().map(|point| &point.site);
        let starts = sites.filter(|site| site.api == model::CLOCK_GETTIME.api);
        let families: Vec<Family> = starts.map(|site| site.family).collect();
        assert_eq!(families, [Family::Entropy]);
        record.failure.expect("it always fails").message
    };
    let specs = || (0..4).map(|seed| RunSpec::new(TEST, Level::Std, seed));
    let specs = || [RunSpec::clean(TEST)].into_iter().chain(specs());
    for spec in specs() {
        assert_eq!(start(&spec), start(&spec));
    }
    let starts: BTreeSet<String> = specs().map(|spec| start(&spec)).collect();
    assert_eq!(starts.len(), 5);
}
