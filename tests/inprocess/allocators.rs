//! A test's own allocator: no interposed function takes memory from it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nondex_core::Outcome;

use crate::compile::{compile_threads, fixture};
use crate::threads::{run_in, specs, tests_of};

fn executable() -> &'static Path {
    static COMPILED: OnceLock<PathBuf> = OnceLock::new();
    COMPILED.get_or_init(|| compile_threads(&fixture("allocators.rs")))
}

#[test]
fn what_an_allocator_calls_with_its_lock_does_not_call_the_allocator() {
    for test in tests_of("allocators.rs", "right_") {
        for spec in specs(&test, 12) {
            let (events, record) = run_in(executable(), &spec);
            assert_eq!(record.outcome, Outcome::Passed, "{spec:?}\n{events}");
        }
    }
}
