//! Compiler pass that makes every plain load and store of the project's own crates an operation of
//! the scheduler. Races through `unsafe` or `static mut` involve no atomic operation.
//!
//! The pass is LLVM's `SanitizerCoverage`, without its other features.

use super::coverage;
use super::toolchain::Toolchain;

/// Flags of rustc for a crate of the project.
pub(super) const FLAGS: [&str; 2] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=2 -sanitizer-coverage-trace-loads \
     -sanitizer-coverage-trace-stores",
];

/// Function that instrumented code calls before a store of one byte.
const CALL: &str = "__sanitizer_cov_store1";

/// Returns why the compiler cannot make plain accesses operations, or `None` if it can.
pub(super) fn obstacle(toolchain: &Toolchain) -> Option<String> {
    coverage::missing(toolchain, &FLAGS, "pub fn probe(a: &mut u8) { *a = 1; }", CALL)
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;

    use super::*;

    #[test]
    fn a_compiler_that_does_not_call_anything_is_an_obstacle() {
        let toolchain = Toolchain::in_dir(Utf8Path::new(".")).unwrap();
        let source = "pub fn probe(a: &mut u8) { *a = 1; }";
        assert_eq!(coverage::missing(&toolchain, &FLAGS, source, CALL), None);
        let other = coverage::missing(&toolchain, &FLAGS, source, "__no_such_call");
        assert_eq!(other.as_deref(), Some("it has no `SanitizerCoverage`"));
        let refused = coverage::missing(&toolchain, &["-Cpasses=no-such-pass"], source, CALL);
        assert!(refused.is_some_and(|why| why.contains("error")));
    }
}
