//! Arguments of rustc: their options, and those that a build over the runtime adds or leaves out.

use std::ffi::{OsStr, OsString};

/// Crate with the shims, for projects that import them.
const SHIMS_CRATE: &str = "nondex_collections";

/// Value of `--cfg` that switches the shims on.
const SHIMS: &str = "feature=\"nondex\"";

/// Returns whether these arguments compile the crate with this name.
pub(super) fn is_crate(arguments: &[impl AsRef<OsStr>], name: &str) -> bool {
    arguments.windows(2).any(|pair| pair[0].as_ref() == "--crate-name" && pair[1].as_ref() == name)
}

/// Returns the values of this option of `-C`, in the order of the arguments. The value of an option
/// without one is empty.
pub(super) fn codegen<'a, S: AsRef<OsStr>>(
    arguments: &'a [S],
    name: &'a str,
) -> impl DoubleEndedIterator<Item = &'a str> {
    arguments.iter().filter_map(move |argument| {
        let argument = argument.as_ref().to_str()?;
        let option = argument.strip_prefix("-C").or_else(|| argument.strip_prefix("--codegen="));
        let option = option.unwrap_or(argument).trim_start();
        let (option, value) = option.split_once('=').unwrap_or((option, ""));
        (option.replace('_', "-") == name).then_some(value)
    })
}

/// Returns the arguments of a crate of the target without those that a build over the runtime does
/// not use:
///
/// - Link-time optimisation. The runtime's libraries have no bitcode, which would be a quarter of
///   their size, and no outcome of a test depends on it.
/// - The shims of a project that itself switches on the feature `nondex` of `nondex-collections`.
///   Without the feature, that crate is only `std`: the runtime makes the choices. With both, the
///   program would define every interposed function twice.
/// - If the crate `is_covered`, the options that give debug information other paths than those of
///   the sources.
pub(super) fn for_runtime(arguments: &[OsString], is_covered: bool) -> Vec<&OsString> {
    let mut kept = without(arguments.iter(), &["-C", "--codegen"], is_lto);
    if is_crate(arguments, SHIMS_CRATE) {
        kept = without(kept, &["--cfg"], |cfg| cfg == SHIMS);
    }
    if is_covered {
        kept = without(kept, &["--remap-path-prefix"], |_| true);
    }
    kept
}

/// Returns the arguments without those values of these flags that `is_left_out` returns `true` for.
/// A value is the next argument, or follows the flag in the same one.
fn without<'a>(
    arguments: impl IntoIterator<Item = &'a OsString>,
    flags: &[&str],
    is_left_out: impl Fn(&str) -> bool,
) -> Vec<&'a OsString> {
    let mut kept: Vec<&OsString> = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        let is_value = kept.last().is_some_and(|last| flags.iter().any(|flag| *last == flag));
        let mut joined = flags.iter().filter_map(|flag| text.strip_prefix(flag));
        if is_value && is_left_out(&text) {
            kept.pop();
        } else if is_value
            || !joined.any(|value| !value.is_empty() && is_left_out(value.trim_start_matches('=')))
        {
            kept.push(argument);
        }
    }
    kept
}

fn is_lto(option: &str) -> bool {
    let name = option.trim_start().split('=').next().unwrap_or_default();
    matches!(name.replace('_', "-").as_str(), "lto" | "linker-plugin-lto")
}

/// Returns the arguments that add debug information, whatever the profile sets, to a crate of the
/// project or one `of_others`. Without it, a race has no lines and a static has no location. It
/// does not change what the code does.
///
/// For the project's own crates, statics and the locks in them must have locations, which only full
/// debug information has. For others' crates, lines are enough.
pub(super) fn debug_info(arguments: &[OsString], of_others: bool) -> Vec<&'static str> {
    let level = codegen(arguments, "debuginfo").next_back().unwrap_or_else(|| {
        // rustc does not accept `-C debuginfo` without a value. `-g` requests full information.
        if arguments.iter().any(|argument| argument == "-g") { "full" } else { "none" }
    });
    let more = match level {
        "2" | "full" => None,
        _ if !of_others => Some("-Cdebuginfo=2"),
        "0" | "none" | "line-directives-only" => Some("-Cdebuginfo=line-tables-only"),
        _ => None,
    };
    // The debug information is read from the executable.
    ["-Csplit-debuginfo=off", "-Cstrip=none"].into_iter().chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(arguments: &str) -> String {
        let arguments: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
        let kept: Vec<_> = for_runtime(&arguments, false)
            .into_iter()
            .map(|argument| argument.to_str().unwrap())
            .collect();
        kept.join(" ")
    }

    #[test]
    fn whatever_way_it_is_asked_for_it_is_left_out_and_nothing_else_is() {
        for asked in [
            "-C lto",
            "-C lto=fat",
            "-Clto=thin",
            "--codegen lto=yes",
            "--codegen=lto",
            "-C linker-plugin-lto",
            "-Clinker_plugin_lto=y",
        ] {
            assert_eq!(
                kept(&format!("--crate-name a -C opt-level=3 {asked} -C panic=abort src/lib.rs")),
                "--crate-name a -C opt-level=3 -C panic=abort src/lib.rs",
                "{asked}"
            );
        }
        for other in [
            "--crate-name lto lto.rs",
            "-C embed-bitcode=no -C link-arg=-flto",
            "--cfg lto -C metadata=lto",
            "-C link-args=lto",
        ] {
            assert_eq!(kept(other), other);
        }
    }

    #[test]
    fn only_their_own_crate_loses_its_feature() {
        for (name, is_left_out) in [("nondex_collections", true), ("mine", false)] {
            let words = ["--crate-name", name, "--cfg", "feature=\"network\""];
            let arguments = words.into_iter().chain(["--cfg", SHIMS]).map(OsString::from);
            let arguments: Vec<OsString> = arguments.collect();
            let kept = for_runtime(&arguments, false);
            assert_eq!(kept.len(), if is_left_out { 4 } else { 6 });
            assert_eq!(kept, arguments.iter().take(kept.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn lines_are_kept_whatever_the_profile_says_and_not_more_than_needed_of_others() {
        let kept = ["-Csplit-debuginfo=off", "-Cstrip=none"];
        let full = Some("-Cdebuginfo=2");
        let tables = Some("-Cdebuginfo=line-tables-only");
        for (given, own, others) in [
            ("--test", full, tables),
            ("-C debuginfo=0 -C strip=symbols", full, tables),
            ("-Cdebuginfo=none", full, tables),
            ("-C debuginfo=line-directives-only", full, tables),
            ("-C debuginfo=line-tables-only", full, None),
            ("--codegen=debuginfo=1 -C split-debuginfo=packed", full, None),
            ("-C debuginfo=2", None, None),
            ("-g", None, None),
            ("-C debuginfo=2 -C debuginfo=0", full, tables),
        ] {
            let given: Vec<OsString> = given.split(' ').map(OsString::from).collect();
            for (of_others, expected) in [(false, own), (true, others)] {
                let added = debug_info(&given, of_others);
                assert_eq!(added[..2], kept);
                assert_eq!(added.get(2).copied(), expected, "{given:?} {of_others}");
            }
        }
    }

    #[test]
    fn a_call_of_rustc_names_its_crate() {
        assert!(is_crate(&["rustc", "--crate-name", "rustix", "lib.rs"], "rustix"));
        assert!(!is_crate(&["rustc", "--crate-name", "rustix_openpty"], "rustix"));
        assert!(!is_crate(&["rustc", "--extern", "rustix"], "rustix"));
    }
}
