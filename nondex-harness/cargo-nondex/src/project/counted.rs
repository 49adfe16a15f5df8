//! Which functions of the project's own crates tell that they run, where not all of them need to.
//!
//! Most of what a crate is compiled to is generic code of others, which need not be instrumented.
//! The pass that instruments functions leaves out those with names that it makes itself. So another
//! one, which gives symbols other names by a file of rules, runs before it and after it: all but
//! the requested functions have such a name meanwhile. Those keep a suffix, because their
//! instrumentation is tied to their names.

use std::collections::BTreeSet;
use std::fmt::Write;

use camino::Utf8Path;
use nondex_core::hash;

use crate::error::{Error, Result};

/// Which functions of the project's own crates tell that they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counted {
    /// All, and others' generic code in these crates, too.
    All,
    /// Some, and the `main` of each program.
    Some(Functions),
}

/// Functions, by what their symbols are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// The packages that the project has the sources of.
    pub packages: BTreeSet<String>,
    /// The names of their crates.
    pub crates: BTreeSet<String>,
    /// Those crates of which all functions are meant.
    pub whole: BTreeSet<String>,
    /// What functions in any of these crates, or types that they are of, are called.
    pub names: BTreeSet<String>,
}

/// How many names there are at most: with more, all functions of the project's crates are meant.
const NAMES: usize = 64;

impl Functions {
    /// The rules, as LLVM's `SymbolRewriter` reads them. What is done the first time is undone the
    /// second time, but for the suffix.
    fn rules(&self) -> String {
        // What the pass leaves out.
        const HIDDEN: &str = ".module_ctor:";
        const ASKED: &str = ".nondex.";
        let is_too_much = self.names.len() > NAMES;
        let (whole, names) =
            if is_too_much { (&self.crates, &BTreeSet::new()) } else { (&self.whole, &self.names) };
        let mut rules = String::new();
        let mut rule = |from: &str, to: &str| {
            let [from, to] = [from, to].map(|text| text.replace('\\', r"\\"));
            let _ = writeln!(rules, "function: {{ source: \"{from}\", transform: \"{to}\" }}");
        };
        rule(r"^\.module_ctor:(.*)$", r":\1");
        for name in names {
            let len = name.len();
            // A function in the older way to make symbols, or a closure in it; a type in that of an
            // impl; either in the newer way.
            let in_older = format!("ZN.*({len}{name}(17h|28_)|[.]{name}[$])");
            rule(&format!("^(_({in_older}|R.*{len}_?{name}).*[^.])$"), r"?\1");
        }
        let of_crates = |crates: &BTreeSet<String>, sign: &str| {
            let starts: Vec<String> =
                crates.iter().map(|name| format!("{}{name}", name.len())).collect();
            let (starts, names) =
                (starts.join("|"), crates.iter().map(String::as_str).collect::<Vec<_>>().join("|"));
            let inside = format!("[$]({names})[.][.]|_({starts})|C({starts})");
            format!("^{sign}(_ZN({starts}).*[^.]|_(ZN|R).*({inside}).*[^.])$")
        };
        if !names.is_empty() {
            rule(&of_crates(&self.crates, "[?]"), &format!(r"\1{ASKED}"));
            rule("^[?](.*)$", r"\1");
        }
        if !whole.is_empty() {
            rule(&of_crates(whole, ""), &format!(r"\1{ASKED}"));
        }
        rule("^(_(ZN|R).*[^.])$", &format!(r"{HIDDEN}\1"));
        rule("^:(.*)$", r"\1");
        rules
    }

    /// Writes the rules into a folder for what is built, from which what was built by other rules
    /// is taken out. The file's name is another one for other rules.
    pub(super) fn write(&self, dir: &Utf8Path) -> Result<camino::Utf8PathBuf> {
        let failed = |e| Error::setup(format!("failed to write to `{dir}`: {e}"));
        let rules = self.rules();
        let file = dir.join(format!("functions-{:016x}.yaml", hash::of(&rules)));
        let stamp = dir.join("nondex-functions");
        if std::fs::read_to_string(&stamp).ok().as_deref() != Some(file.as_str()) {
            for target in dir.read_dir_utf8().map_err(failed)?.flatten() {
                for profile in target.path().read_dir_utf8().into_iter().flatten().flatten() {
                    self.forget(&profile.path().join(".fingerprint"));
                }
            }
            std::fs::write(&file, rules).map_err(failed)?;
            std::fs::write(stamp, file.as_str()).map_err(failed)?;
        }
        Ok(file)
    }

    /// Lets cargo build the packages again of which it has something here.
    fn forget(&self, fingerprints: &Utf8Path) {
        for entry in fingerprints.read_dir_utf8().into_iter().flatten().flatten() {
            let package = entry.file_name().rsplit_once('-').map(|(package, _)| package);
            if package.is_some_and(|package| self.packages.contains(package)) {
                // The symbols that are left show that it was instrumented.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use object::{Object, ObjectSymbol};

    use super::*;

    const SOURCE: &str = "#[derive(Clone)] pub struct Kept(pub Vec<u8>);
        #[derive(Clone)] pub struct Other(pub Vec<u8>);
        pub mod asked { pub fn not(a: &[u8]) -> Vec<u8> { a.iter().map(|a| a + 1).collect() } }
        pub fn asked(a: &[u8]) -> Vec<u8> { a.iter().map(|a| a + 1).collect() }
        impl Kept { pub fn new() -> Self { Kept(Vec::new()) } }
        impl Other { pub fn asked(&self) {} }
        pub fn copies(a: &Kept, b: &Other) -> (Kept, Other) { (a.clone(), b.clone()) }";

    /// What the functions of this crate are called that tell, where those with these names are to,
    /// as the compiler calls all functions.
    fn telling(names: &[&str], whole: &[&str], mangling: &str) -> Vec<String> {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let folder = tempfile::tempdir().unwrap();
        let dir = Utf8Path::from_path(folder.path()).unwrap();
        let functions = Functions {
            packages: set(&["probe"]),
            crates: set(&["probe"]),
            whole: set(whole),
            names: set(names),
        };
        let covered = super::super::coverage::Covered::prepare(&Counted::Some(functions), dir);
        std::fs::write(dir.join("probe.rs"), SOURCE).unwrap();
        let arguments = ["probe.rs", "--crate-type=lib", "--emit=obj=probe.o", mangling];
        let mut rustc = Command::new("rustc");
        rustc.args(arguments).args(covered.unwrap().arguments(&arguments));
        let done = rustc.current_dir(dir).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let bytes = std::fs::read(dir.join("probe.o")).unwrap();
        let object = object::File::parse(&*bytes).unwrap();
        let symbols = object.symbols().filter_map(|symbol| symbol.name().ok().map(str::to_owned));
        let symbols: Vec<String> = symbols
            .filter(|name| {
                name.starts_with("_ZN") || name.starts_with("_R") || name.contains("ctor:")
            })
            .collect();
        assert!(symbols.iter().any(|name| !name.ends_with(".nondex.")));
        assert!(symbols.iter().all(|name| !name.contains(":")), "{symbols:?}");
        let telling =
            symbols.into_iter().filter_map(|name| Some(name.strip_suffix(".nondex.")?.to_owned()));
        telling.collect()
    }

    #[test]
    fn what_tells_is_what_has_an_asked_name_in_a_crate_of_the_project() {
        let count =
            |names: &[String], part: &str| names.iter().filter(|name| name.contains(part)).count();
        for mangling in ["-Csymbol-mangling-version=v0", "-Cdebuginfo=0"] {
            let telling = |names: &[&str], whole: &[&str]| telling(names, whole, mangling);
            // A function, its closure, and the method that is called so.
            let asked = telling(&["asked"], &[]);
            assert!(asked.len() >= 3, "{mangling}: {asked:?}");
            assert_eq!(count(&asked, "Kept"), 0, "{mangling}: {asked:?}");
            let kept = telling(&["Kept"], &[]);
            assert!(count(&kept, "5clone") >= 1, "{mangling}: {kept:?}");
            assert_eq!(count(&kept, "asked"), 0, "{mangling}: {kept:?}");
            // Others' code that is called so is none of the project's.
            let new = telling(&["new"], &[]);
            assert_eq!(count(&new, "3new"), new.len(), "{mangling}: {new:?}");
            let all = telling(&[], &["probe"]);
            assert!(all.len() >= 7, "{mangling}: {all:?}");
            assert_eq!(telling(&[], &[]), [""; 0]);
        }
    }
}
