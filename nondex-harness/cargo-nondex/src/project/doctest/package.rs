//! The doctests of one package.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::call::Call;
use super::keep::PLACE;
use super::name::{file_name, place_in, word};
use super::place::{is_crate_added, place_of};
use super::transcript::{self, Fate, Told};
use super::{Compiled, HERE, Unbuilt, together};
use crate::error::{Error, Result};
use crate::program;
use crate::project::{Doctest, Harness, Names, Suite, TestBinary, TestCase};

/// The doctests of one package.
pub(super) struct Package<'a> {
    pub(super) call: Call<'a>,
    /// Which are compiled.
    pub(super) names: &'a Names,
    /// Whether the ignored ones are.
    pub(super) ignored: bool,
    /// How many are compiled at once.
    pub(super) threads: usize,
}

impl Package<'_> {
    /// Compiles them.
    ///
    /// # Errors
    /// As [`Compiler::compile`].
    pub(super) fn compile(&self) -> Result<Compiled> {
        let env = self.call.start.environment();
        let package = env
            .get(OsStr::new("CARGO_PKG_NAME"))
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let target = self.call.value("--crate-name").unwrap_or(&package).to_owned();
        let cwd = self.call.value("--test-run-directory").map(Utf8PathBuf::from);
        let binary = TestBinary {
            id: format!("{package}::doc/{target}"),
            package,
            target,
            kind: "doc".to_owned(),
            executable: self.call.dir.clone(),
            cwd: cwd.unwrap_or_else(|| self.call.start.cwd.clone()),
            env,
            runner: self.call.compiler.runner.to_vec(),
            harness: Harness::Doctest,
            is_on_host: self.call.has_own_std(),
            preload: None,
            moved: None,
        };
        if !self.call.compiler.quiet {
            use anstyle::AnsiColor::Green;
            let style = Green.on_default().bold();
            anstream::eprintln!("{style}   Compiling{style:#} doctests of {}", binary.package);
        }
        let mut compiled = Compiled::default();
        let names = self.listed(&[])?.unwrap_or_default();
        let selected = names.iter().filter(|name| self.names.matches(&binary.id, name));
        let selected: Vec<String> = selected.cloned().collect();
        let together = together::compile(&self.call, &names, &selected)?;
        let told = match self.others(&selected, &together)? {
            Ok(told) => told,
            Err(message) => {
                let id = binary.id;
                compiled.unbuilt.push(Unbuilt { id, message });
                return Ok(compiled);
            }
        };
        let ignored = self.ignored()?;
        let mut should_panic = self.should_panic(&told)?.into_iter();
        let mut suite = Suite { binary, tests: Vec::new() };
        for Told { name, fate } in told {
            let name = name.strip_prefix(HERE).unwrap_or(&name).to_owned();
            let failing = match fate {
                Fate::ShouldPanic => should_panic.next(),
                _ => None,
            };
            if !self.names.matches(&suite.binary.id, &name) || together.contains_key(&name) {
                continue;
            }
            let doctest = match fate {
                Fate::Compiled => continue,
                Fate::Ignored => None,
                Fate::Broken(message) => {
                    let id = format!("{}${name}", suite.binary.id);
                    let message = message.replace(&format!("--> {HERE}"), "--> ");
                    compiled.unbuilt.push(Unbuilt { id, message });
                    continue;
                }
                Fate::Kept(number) => {
                    Some(self.doctest(&name, &self.kept("all", number), false)?)
                }
                Fate::ShouldPanic => {
                    let kept = failing.ok_or_else(|| self.unknown(&name))?;
                    Some(self.doctest(&name, &kept, true)?)
                }
            };
            suite.tests.push(TestCase {
                ignored: doctest.is_none() || ignored.contains(&name),
                ..case(name, doctest)
            });
        }
        let together = together.into_iter();
        suite.tests.extend(together.map(|(name, doctest)| case(name, Some(doctest))));
        number(&mut suite.tests);
        if !suite.tests.is_empty() {
            compiled.suites.push(suite);
        }
        Ok(compiled)
    }

    /// The kept programs that must panic, in the order in which `told` has them.
    fn should_panic(&self, told: &[Told]) -> Result<Vec<Utf8PathBuf>> {
        let names: Vec<&str> = told
            .iter()
            .filter(|told| told.fate == Fate::ShouldPanic)
            .map(|told| told.name.as_str())
            .collect();
        if let [_] = names[..] {
            // The one that nobody else claims.
            let mut number = 0;
            let is_claimed = |number| told.iter().any(|told| told.fate == Fate::Kept(number));
            while is_claimed(number) {
                number += 1;
            }
            return Ok(vec![self.kept("all", number)]);
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
        // Once more and one after the other, so that they are kept in the order in which rustdoc
        // reports them.
        let words: Vec<&str> = names.iter().map(|name| word(name)).collect();
        let again = match self.rustdoc("should-panic", 1, &words)? {
            Ok(again) => again,
            Err(message) => return Err(Error::build(message)),
        };
        let ran =
            again.iter().filter(|told| matches!(told.fate, Fate::Kept(_) | Fate::ShouldPanic));
        let mut programs: Vec<(&str, u64)> = ran
            .zip(0..)
            .filter(|(told, _)| told.fate == Fate::ShouldPanic)
            .map(|(told, number)| (told.name.as_str(), number))
            .collect();
        let found = names.iter().map(|name| {
            let index = programs.iter().position(|(found, _)| found == name);
            let index = index.ok_or_else(|| self.unknown(name))?;
            Ok(self.kept("should-panic", programs.remove(index).1))
        });
        found.collect()
    }

    /// The names of ignored doctests, when they are compiled as the others are.
    fn ignored(&self) -> Result<Vec<String>> {
        if !self.ignored {
            return Ok(Vec::new());
        }
        Ok(self.listed(&["--ignored"])?.unwrap_or_default())
    }

    /// The names of all doctests, with these words for rustdoc's harness; `None` where rustdoc does
    /// not come to them.
    fn listed(&self, words: &[&str]) -> Result<Option<Vec<String>>> {
        let mut command = self.call.command("list", 1)?;
        for word in ["--list", "--format=terse"].iter().chain(words) {
            command.arg(format!("--test-args={word}"));
        }
        let output = program::output(&mut command).map_err(Error::setup)?;
        if !output.status.success() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
        let names = names.map(|name| name.strip_prefix(HERE).unwrap_or(name).to_owned());
        Ok(Some(names.collect()))
    }

    /// Lets rustdoc compile what is not compiled `together`.
    fn others(
        &self,
        names: &[String],
        together: &BTreeMap<String, Doctest>,
    ) -> Result<Result<Vec<Told>, String>> {
        if together.is_empty() {
            return self.rustdoc("all", self.threads, &[]);
        }
        let others = names.iter().filter(|name| !together.contains_key(*name));
        let words: Vec<&str> = others.map(|name| word(name)).collect();
        if words.is_empty() {
            Ok(Ok(Vec::new()))
        } else {
            self.rustdoc("all", self.threads, &words)
        }
    }

    /// Lets rustdoc compile, and keep in the folder `dir`, what has one of these words in its name.
    /// Its own words when it could not begin.
    fn rustdoc(
        &self,
        dir: &str,
        threads: usize,
        words: &[&str],
    ) -> Result<Result<Vec<Told>, String>> {
        let mut command = self.call.command(dir, threads)?;
        let filters: Vec<&str> = match words {
            [] => self.names.filters.iter().map(|name| word(name)).collect(),
            words => words.to_vec(),
        };
        // Rustdoc splits each at spaces, so the word may select more than needed.
        let skip = self.names.skip.iter().filter(|name| !name.contains(' ') && !self.names.exact);
        let skip = skip.map(|name| format!("--skip={name}"));
        let filters = filters.into_iter().filter(|word| !word.is_empty());
        for argument in filters.map(str::to_owned).chain(skip) {
            command.arg(format!("--test-args={argument}"));
        }
        if self.ignored {
            command.arg("--test-args=--include-ignored");
        }
        let output = program::output(&mut command).map_err(Error::setup)?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(transcript::read(&text).ok_or_else(|| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            format!("rustdoc failed ({}): {}", output.status, stderr.trim())
        }))
    }

    fn kept(&self, dir: &str, number: u64) -> Utf8PathBuf {
        self.call.dir.join(dir).join(number.to_string())
    }

    /// The doctest whose program was kept at `kept`, which gets a name that people recognise.
    fn doctest(&self, name: &str, kept: &Utf8Path, should_panic: bool) -> Result<Doctest> {
        let executable = self.call.dir.join(file_name(name, kept.file_name()));
        fs::rename(kept, &executable).map_err(|e| {
            Error::setup(format!("rustdoc did not run the doctest `{name}`: `{kept}`: {e}"))
        })?;
        let place = fs::read_to_string(kept.with_extension(PLACE)).ok();
        let mut place = place.and_then(|text| place_of(&text));
        if let (Some(place), Some((file, line))) = (&mut place, place_in(name)) {
            let source = fs::read_to_string(self.call.start.cwd.join(file)).unwrap_or_default();
            let target = self.call.value("--crate-name").unwrap_or_default();
            // Rustdoc makes the crate known by two added lines, and counts them as one.
            place.offset -= i64::from(is_crate_added(&source, line, target));
        }
        Ok(Doctest { executable, should_panic, place })
    }

    fn unknown(&self, name: &str) -> Error {
        let rustdoc = self.call.compiler.rustdoc.display();
        Error::setup(format!("`{rustdoc}` did not run the doctest `{name}`"))
    }
}

/// A doctest that is not ignored.
fn case(name: String, doctest: Option<Doctest>) -> TestCase {
    let (file, line) = place_in(&name).unzip();
    TestCase { file, line, doctest, ..TestCase::new(name) }
}

/// Sorts tests by name, and numbers those that share one, as those that a macro makes may: by their
/// programs, in an order that is the same every time.
fn number(tests: &mut [TestCase]) {
    let program = |test: &TestCase| {
        let doctest = test.doctest.as_ref();
        doctest.and_then(|doctest| fs::read(&doctest.executable).ok())
    };
    tests.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| program(a).cmp(&program(b))));
    for part in tests.chunk_by_mut(|a, b| a.name == b.name) {
        for (test, number) in part.iter_mut().zip(1..).skip(1) {
            test.name = format!("{} #{number}", test.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_share_a_name_are_numbered() {
        let names = ["b (line 2)", "a (line 1)", "b (line 2)", "b (line 2)"];
        let mut tests = names.map(TestCase::new);
        number(&mut tests);
        let numbered = tests.map(|test| test.name);
        assert_eq!(numbered, ["a (line 1)", "b (line 2)", "b (line 2) #2", "b (line 2) #3"]);
    }
}
