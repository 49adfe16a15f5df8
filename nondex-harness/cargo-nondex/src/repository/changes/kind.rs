//! Kinds of changed files.

/// Kind of a file, as in Lam et al., "A large-scale longitudinal study of flaky tests" (OOPSLA
/// 2020), table 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// File that contains the test.
    Test,
    /// File with other tests.
    OtherTests,
    /// Other source file.
    Code,
    /// Manifest, lock file, build script, or configuration of cargo or the toolchain.
    Build,
    /// Any other file.
    Other,
}

/// Returns the kind of a changed file. The test is, or was, in the files `of_test`.
pub(super) fn kind_of(
    file: &str,
    of_test: &[String],
    text_of: impl Fn(&str) -> Option<String>,
) -> FileKind {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_build =
        ["Cargo.toml", "Cargo.lock", "build.rs", "rust-toolchain", "rust-toolchain.toml"]
            .contains(&name)
            || file.split('/').any(|part| part == ".cargo");
    if of_test.iter().any(|own| own == file) {
        FileKind::Test
    } else if is_build {
        FileKind::Build
    } else if !name.ends_with(".rs") {
        FileKind::Other
    } else if file.split('/').any(|part| part == "tests" || part == "benches")
        || text_of(file).is_some_and(|text| text.contains("#[test]"))
    {
        FileKind::OtherTests
    } else {
        FileKind::Code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_kinds_of_the_study() {
        let text = |file: &str| {
            Some(if file == "src/a.rs" { "#[test]\nfn x() {}" } else { "" }.to_owned())
        };
        for (file, expected) in [
            ("src/own.rs", FileKind::Test),
            ("src/before.rs", FileKind::Test),
            ("tests/it.rs", FileKind::OtherTests),
            ("src/a.rs", FileKind::OtherTests),
            ("src/b.rs", FileKind::Code),
            ("a/Cargo.toml", FileKind::Build),
            ("Cargo.lock", FileKind::Build),
            ("build.rs", FileKind::Build),
            (".cargo/config.toml", FileKind::Build),
            ("README.md", FileKind::Other),
        ] {
            let of_test = ["src/own.rs", "src/before.rs"].map(str::to_owned);
            assert_eq!(kind_of(file, &of_test, text), expected, "{file}");
        }
    }
}
