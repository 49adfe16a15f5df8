//! Platforms that support whole-program mode.

use std::ffi::OsStr;

use camino::Utf8Path;

use super::arguments::codegen;
use super::checkout::Checkout;
use super::config;
use crate::error::Error;

/// Refuses a `target` other than 64-bit Linux with glibc, whose functions whole-program mode
/// replaces.
///
/// # Errors
/// Returns an error that names the target, the requirement, and the alternative.
pub(super) fn check(target: &str) -> crate::error::Result<()> {
    let architecture = target.split('-').next().unwrap_or_default();
    let is_wide = architecture.contains("64") || architecture == "s390x";
    // With another ABI, such as `gnux32`, pointers have 32 bits.
    let is_glibc = ["-linux-gnu", "-linux-gnuabi64"].map(|end| target.ends_with(end));
    if is_wide && is_glibc.contains(&true) {
        return Ok(());
    }
    Err(Error::setup(format!(
        "whole-program mode needs 64-bit Linux with glibc, and the tests would be built for \
         {target}: depend on nondex-collections and use `--mode swap`"
    )))
}

/// Target feature that links libc statically. Also the name of the file that marks such tests in
/// the folder of recorded starts.
const STATIC: &str = "crt-static";

/// Returns whether a call of rustc links libc statically. The last argument with the feature
/// counts.
pub(super) fn is_static(arguments: &[impl AsRef<OsStr>]) -> bool {
    let features = codegen(arguments, "target-feature").flat_map(|features| features.split(','));
    let mut settings = features.filter_map(|feature| match feature.trim() {
        "+crt-static" => Some(true),
        "-crt-static" => Some(false),
        _ => None,
    });
    settings.next_back().unwrap_or(false)
}

/// Records in the folder of starts that tests would be linked statically with libc. Does nothing
/// without such a folder.
pub(super) fn note_static(starts: &Utf8Path) -> Result<(), String> {
    if starts.as_str().is_empty() {
        return Ok(());
    }
    std::fs::write(starts.join(STATIC), "")
        .map_err(|e| format!("failed to write to `{starts}`: {e}"))
}

/// Refuses tests that would be linked statically with libc, if that was recorded.
///
/// # Errors
/// Returns an error that names the flag, the requirement, and the alternatives.
pub(super) fn check_linkage(starts: &Utf8Path) -> crate::error::Result<()> {
    if !starts.join(STATIC).exists() {
        return Ok(());
    }
    Err(Error::setup(
        "whole-program mode replaces libc's functions, but the tests would be linked statically \
         with libc (`-C target-feature=+crt-static`, from RUSTFLAGS or cargo's configuration): \
         disable this for one run by RUSTFLAGS='-C target-feature=-crt-static', or depend on \
         nondex-collections and use `--mode swap`, which does not observe `Path::read_dir`, random \
         bytes and the network",
    ))
}

/// Returns whether a source of rustc's flags mentions the feature: the environment, `given`, or a
/// [configuration file](config::files) of `dir`. Only then is it worth querying cargo for the
/// flags.
pub(super) fn mentions_static(
    dir: &Utf8Path,
    checkout: Option<&Checkout>,
    given: &[String],
) -> bool {
    let mentions = |text: &str| text.contains(STATIC);
    let in_file = |path: &Utf8Path| std::fs::read_to_string(path).is_ok_and(|text| mentions(&text));
    let in_environment = || {
        std::env::vars_os().any(|(name, value)| {
            name.to_string_lossy().contains("RUSTFLAGS") && mentions(&value.to_string_lossy())
        })
    };
    in_environment()
        || given.iter().any(|config| mentions(config) || in_file(Utf8Path::new(config)))
        || config::files(dir, checkout).any(|file| in_file(&file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_linux_of_64_bits_with_glibc_is_accepted() {
        for target in [
            "x86_64-unknown-linux-gnu",
            "aarch64-unknown-linux-gnu",
            "s390x-unknown-linux-gnu",
            "mips64-unknown-linux-gnuabi64",
        ] {
            assert!(check(target).is_ok(), "{target}");
        }
        for target in [
            "armv7-unknown-linux-gnueabihf",
            "i686-unknown-linux-gnu",
            "x86_64-unknown-linux-gnux32",
            "x86_64-unknown-linux-musl",
            "aarch64-apple-darwin",
            "x86_64-pc-windows-gnu",
        ] {
            let message = check(target).unwrap_err().to_string();
            assert!(message.contains(target) && message.contains("--mode swap"), "{message}");
        }
    }

    #[test]
    fn the_last_word_on_how_libc_is_linked_counts() {
        for (arguments, expected) in [
            (&["-Ctarget-feature=+crt-static"][..], true),
            (&["-C", "target-feature=+crt-static"], true),
            (&["--codegen", "target-feature=+sse2,+crt-static"], true),
            (&["--codegen=target-feature=+crt-static,+sse2"], true),
            (&["-Ctarget-feature=+crt-static", "-Ctarget-feature=-crt-static"], false),
            (&["-Ctarget-feature=-crt-static", "-Ctarget-feature=+crt-static"], true),
            (&["-Ctarget-feature=+sse2", "-Copt-level=3", "--crate-name", "crt-static"], false),
            (&["-C"], false),
        ] {
            assert_eq!(is_static(arguments), expected, "{arguments:?}");
        }
    }

    #[test]
    fn flags_are_looked_for_wherever_cargo_takes_them_from() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        let inner = dir.join("a/b");
        std::fs::create_dir_all(dir.join(".cargo")).unwrap();
        let flag = "build.rustflags = ['-Ctarget-feature=+crt-static']";
        assert!(!mentions_static(&inner, None, &[]));
        assert!(mentions_static(&inner, None, &[flag.to_owned()]));
        let file = dir.join("more.toml");
        std::fs::write(&file, flag).unwrap();
        assert!(mentions_static(&inner, None, &[file.to_string()]));
        std::fs::write(dir.join(".cargo/config.toml"), flag).unwrap();
        assert!(mentions_static(&inner, None, &[]));
    }

    #[test]
    fn tests_with_libc_inside_are_refused_with_what_can_be_done() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(dir.path()).unwrap();
        assert!(check_linkage(dir).is_ok());
        note_static(dir).unwrap();
        let message = check_linkage(dir).unwrap_err().to_string();
        for word in ["+crt-static", "-crt-static", "--mode swap", "libc"] {
            assert!(message.contains(word), "{word}: {message}");
        }
    }
}
