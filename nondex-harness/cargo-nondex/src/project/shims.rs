//! Shims of a project that itself switches on the feature `nondex` of `nondex-collections`.
//!
//! Over the runtime, the feature is left out, so that crate is only `std`: the runtime makes the
//! choices. With both, the program would define every interposed function twice.

use std::ffi::OsString;

/// Arguments of rustc that name the crate with the shims.
const CRATE: [&str; 2] = ["--crate-name", "nondex_collections"];

/// Arguments of rustc that switch the shims on.
const FEATURE: [&str; 2] = ["--cfg", "feature=\"nondex\""];

/// Returns the arguments of a call of rustc, without the shims' feature if the call compiles their
/// crate.
pub(super) fn without(mut arguments: Vec<&OsString>) -> Vec<&OsString> {
    let place = |pair: [&str; 2]| {
        arguments.windows(2).position(|found| found[0] == pair[0] && found[1] == pair[1])
    };
    if let Some(feature) = place(CRATE).and_then(|_| place(FEATURE)) {
        arguments.drain(feature..feature + 2);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_their_own_crate_loses_its_feature() {
        for (name, is_left_out) in [("nondex_collections", true), ("mine", false)] {
            let words = ["--crate-name", name, "--cfg", "feature=\"network\""];
            let arguments = words.into_iter().chain(FEATURE).map(OsString::from);
            let arguments: Vec<OsString> = arguments.collect();
            let kept = without(arguments.iter().collect());
            assert_eq!(kept.len(), if is_left_out { 4 } else { 6 });
            assert_eq!(kept, arguments.iter().take(kept.len()).collect::<Vec<_>>());
        }
    }
}
