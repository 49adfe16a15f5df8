//! Names of test targets, as nextest defines them.

use cargo_metadata::{Target, TargetKind};

/// Returns the kind of a target.
pub(super) fn kind(target: &Target) -> &'static str {
    match target.kind.first() {
        Some(TargetKind::Bin) => "bin",
        Some(TargetKind::Test) => "test",
        Some(TargetKind::Example) => "example",
        Some(TargetKind::Bench) => "bench",
        Some(TargetKind::ProcMacro) => "proc-macro",
        _ => "lib",
    }
}

/// Returns the id of the test executable of a target.
pub fn binary_id(package: &str, target: &Target) -> String {
    match kind(target) {
        "lib" | "proc-macro" => package.to_owned(),
        "test" => format!("{package}::{}", target.name),
        kind => format!("{package}::{kind}/{}", target.name),
    }
}
