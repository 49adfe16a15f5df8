//! Functions with which an executable starts: C's `main`, and the `main` that the compiler
//! generates for the test harness.

use std::ops::Range;

use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

/// Function that the generated `main` of a test executable calls, in this tool's harness and in
/// libtest.
const HARNESS: &str = "test_main_static";

/// Returns the addresses of C's `main`.
pub(super) fn main(file: &object::File<'_>) -> Option<Range<u64>> {
    let main = file.symbols().find(|symbol| symbol.name() == Ok("main"))?;
    Some(main.address()..main.address() + main.size())
}

/// Returns the addresses of the `main` that the compiler generated for the test harness. Returns
/// `None` for a program that is no test executable, or if there are several candidates and C's
/// `main` refers to none.
///
/// The line of its code is the first one of the crate's root, although the user did not write it.
pub(super) fn of_harness(file: &object::File<'_>) -> Option<Range<u64>> {
    let mut mains = Vec::new();
    let mut is_test = false;
    for symbol in file.symbols() {
        let Some(name) = symbol.name().ok().filter(|_| symbol.kind() == SymbolKind::Text) else {
            continue;
        };
        // Demangling takes time, so only names that may match are demangled.
        is_test |= name.contains(HARNESS);
        if name.contains("4main") && is_main(name) {
            mains.push(symbol.address()..symbol.address() + symbol.size());
        }
    }
    mains.dedup();
    match mains.len() {
        _ if !is_test => None,
        1 => mains.pop(),
        // The program's own `main` is there, too, if tests call it. Both have the same path.
        _ => {
            let referred = referred(file)?;
            mains.into_iter().find(|main| referred.contains(&main.start))
        }
    }
}

/// Returns whether a symbol is that of the function `main` in the root of a crate.
fn is_main(symbol: &str) -> bool {
    rustc_demangle::try_demangle(symbol).is_ok_and(|name| {
        let name = format!("{name:#}");
        let name = name.split_once('.').map_or(name.as_str(), |(name, _)| name);
        name.split_once("::").is_some_and(|(_, name)| name == "main")
    })
}

/// Returns every address to which C's `main` may refer relative to its own code. On x86-64, it
/// refers in this way to the function that it starts. Offsets are read at each byte, because the
/// code is not disassembled.
fn referred(file: &object::File<'_>) -> Option<Vec<u64>> {
    let range = main(file)?;
    let text = file.sections().find(|section| {
        section.address() <= range.start && range.start < section.address() + section.size()
    })?;
    let code = text.data_range(range.start, range.end - range.start).ok()??;
    let found = (range.start + 4..).zip(code.windows(4)).filter_map(|(next, bytes)| {
        let offset = i32::from_le_bytes(bytes.try_into().ok()?);
        next.checked_add_signed(offset.into())
    });
    Some(found.collect())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const TEST: &str = "#[test] fn runs() { main() }\nfn main() {}\n";

    /// Compiles this source and returns the addresses of the harness's `main`.
    fn found(source: &str, arguments: &[&str]) -> Option<Range<u64>> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.rs"), source).unwrap();
        let mut rustc = Command::new("rustc");
        rustc.args(["a.rs", "-o", "a"]).args(arguments);
        let done = rustc.current_dir(folder.path()).output().unwrap();
        let text = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{text}");
        let bytes = std::fs::read(folder.path().join("a")).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        of_harness(&file)
    }

    #[test]
    fn the_main_of_the_harness_is_told_from_that_of_the_program_in_both_manglings() {
        // The second flag leaves the compiler's default mangling.
        for mangling in ["-Csymbol-mangling-version=v0", "-Cdebuginfo=0"] {
            assert!(found(TEST, &["--test", mangling]).is_some_and(|main| !main.is_empty()));
            let alone = "#[test] fn runs() {}\n";
            assert!(found(alone, &["--test", mangling]).is_some_and(|main| !main.is_empty()));
            assert_eq!(found(TEST, &[mangling]), None);
        }
    }
}
