//! Compiles the doctests of one package.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::call::RustdocCall;
use super::keep::PLACE;
use super::name::{file_name, place_in, word};
use super::place::{is_crate_added, place_of};
use super::transcript::{self, RustdocOutcome, RustdocReport};
use super::{Compiled, HERE, Unbuilt, together};
use crate::error::{Error, OrSetup, Result};
use crate::program;
use crate::project::{Doctest, Harness, NameFilters, Suite, TestBinary, TestCase};

/// Doctests of one package.
pub(super) struct Package<'a> {
    pub(super) call: RustdocCall<'a>,
    /// Names of the doctests to compile.
    pub(super) names: &'a NameFilters,
    /// Whether ignored doctests are compiled.
    pub(super) ignored: bool,
    /// Maximum number of doctests compiled at once.
    pub(super) threads: usize,
}

impl Package<'_> {
    /// Compiles the doctests.
    ///
    /// # Errors
    /// Returns the errors of [`Compiler::compile`](super::Compiler::compile).
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
        let selected: Vec<String> =
            names.iter().filter(|name| self.names.matches(&binary.id, name)).cloned().collect();
        let together = together::compile(&self.call, &names, &selected)?;
        let reports = match self.others(&selected, &together)? {
            Ok(reports) => reports,
            Err(message) => {
                let id = binary.id;
                compiled.unbuilt.push(Unbuilt { id, message });
                return Ok(compiled);
            }
        };
        let ignored = self.ignored()?;
        let mut should_panic = self.should_panic(&reports)?.into_iter();
        let mut suite = Suite { binary, tests: Vec::new() };
        for RustdocReport { name, outcome } in reports {
            let name = name.strip_prefix(HERE).unwrap_or(&name).to_owned();
            let failing = match outcome {
                RustdocOutcome::ShouldPanic => should_panic.next(),
                _ => None,
            };
            // Rustdoc's filters may select more doctests than requested.
            if !self.names.matches(&suite.binary.id, &name) || together.contains_key(&name) {
                continue;
            }
            let doctest = match outcome {
                RustdocOutcome::Compiled => continue,
                RustdocOutcome::Ignored => None,
                RustdocOutcome::Broken(message) => {
                    let id = format!("{}${name}", suite.binary.id);
                    let message = message.replace(&format!("--> {HERE}"), "--> ");
                    compiled.unbuilt.push(Unbuilt { id, message });
                    continue;
                }
                RustdocOutcome::Kept(number) => {
                    Some(self.doctest(&name, &self.kept("all", number), false)?)
                }
                RustdocOutcome::ShouldPanic => {
                    let kept = failing.ok_or_else(|| self.unknown(&name))?;
                    Some(self.doctest(&name, &kept, true)?)
                }
            };
            suite.tests.push(TestCase {
                ignored: doctest.is_none() || ignored.contains(&name),
                ..case(name, doctest)
            });
        }
        let shared = together.into_iter().map(|(name, doctest)| case(name, Some(doctest)));
        suite.tests.extend(shared);
        number(&mut suite.tests);
        if !suite.tests.is_empty() {
            compiled.suites.push(suite);
        }
        Ok(compiled)
    }

    /// Returns the kept programs that must panic, in the order of the reports.
    fn should_panic(&self, reports: &[RustdocReport]) -> Result<Vec<Utf8PathBuf>> {
        let names: Vec<&str> = reports
            .iter()
            .filter(|report| report.outcome == RustdocOutcome::ShouldPanic)
            .map(|report| report.name.as_str())
            .collect();
        if let [_] = names[..] {
            // Numbers are assigned without gaps, so this program has the one that no report has.
            let mut number = 0;
            let is_claimed = |number| {
                reports.iter().any(|report| report.outcome == RustdocOutcome::Kept(number))
            };
            while is_claimed(number) {
                number += 1;
            }
            return Ok(vec![self.kept("all", number)]);
        }
        if names.is_empty() {
            return Ok(Vec::new());
        }
        // Rustdoc runs them again on one thread. The numbers then follow the order of its reports.
        let words: Vec<&str> = names.iter().map(|name| word(name)).collect();
        let again = match self.rustdoc("should-panic", 1, &words)? {
            Ok(again) => again,
            Err(message) => return Err(Error::build(message)),
        };
        let ran = again.iter().filter(|report| {
            matches!(report.outcome, RustdocOutcome::Kept(_) | RustdocOutcome::ShouldPanic)
        });
        let mut programs: Vec<(&str, u64)> = ran
            .zip(0..)
            .filter(|(report, _)| report.outcome == RustdocOutcome::ShouldPanic)
            .map(|(report, number)| (report.name.as_str(), number))
            .collect();
        names
            .iter()
            .map(|name| {
                let index = programs
                    .iter()
                    .position(|(found, _)| found == name)
                    .ok_or_else(|| self.unknown(name))?;
                Ok(self.kept("should-panic", programs.remove(index).1))
            })
            .collect()
    }

    /// Returns the names of ignored doctests, or none if these are not compiled.
    fn ignored(&self) -> Result<Vec<String>> {
        if !self.ignored {
            return Ok(Vec::new());
        }
        Ok(self.listed(&["--ignored"])?.unwrap_or_default())
    }

    /// Returns the names of the doctests that rustdoc's harness lists with these options, or `None`
    /// if rustdoc fails.
    fn listed(&self, options: &[&str]) -> Result<Option<Vec<String>>> {
        let mut command = self.call.command("list", 1)?;
        for option in ["--list", "--format=terse"].iter().chain(options) {
            command.arg(format!("--test-args={option}"));
        }
        let output = program::output(&mut command).map_err(Error::setup)?;
        if !output.status.success() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let names = text
            .lines()
            .filter_map(|line| line.strip_suffix(": test"))
            .map(|name| name.strip_prefix(HERE).unwrap_or(name).to_owned())
            .collect();
        Ok(Some(names))
    }

    /// Runs [`rustdoc`](Self::rustdoc) for the doctests that are not compiled `together`.
    fn others(
        &self,
        names: &[String],
        together: &BTreeMap<String, Doctest>,
    ) -> Result<Result<Vec<RustdocReport>, String>> {
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

    /// Runs rustdoc for the doctests that have one of these words in their name, or for all
    /// requested ones without words. The run tool keeps the executables in the folder `dir`.
    /// Returns rustdoc's message as the inner error if rustdoc fails before it reports results.
    fn rustdoc(
        &self,
        dir: &str,
        threads: usize,
        words: &[&str],
    ) -> Result<Result<Vec<RustdocReport>, String>> {
        let mut command = self.call.command(dir, threads)?;
        let filters: Vec<&str> = match words {
            [] => self.names.filters.iter().map(|name| word(name)).collect(),
            words => words.to_vec(),
        };
        // Rustdoc splits `--test-args` at spaces. A filter is thus a single word, which may select
        // more than requested, and a name with spaces cannot be skipped.
        let skip = self
            .names
            .skip
            .iter()
            .filter(|name| !name.contains(' ') && !self.names.exact)
            .map(|name| format!("--skip={name}"));
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

    /// Returns the path of the executable with this number in the folder `dir`.
    fn kept(&self, dir: &str, number: u64) -> Utf8PathBuf {
        self.call.dir.join(dir).join(number.to_string())
    }

    /// Returns the doctest whose program is at `kept`. Renames the program to a readable name.
    fn doctest(&self, name: &str, kept: &Utf8Path, should_panic: bool) -> Result<Doctest> {
        let executable = self.call.dir.join(file_name(name, kept.file_name()));
        fs::rename(kept, &executable)
            .or_setup(format_args!("rustdoc did not run the doctest `{name}`: `{kept}`"))?;
        let place = fs::read_to_string(kept.with_extension(PLACE)).ok();
        let mut place = place.and_then(|text| place_of(&text));
        if let (Some(place), Some((file, line))) = (&mut place, place_in(name)) {
            let source = fs::read_to_string(self.call.start.cwd.join(file)).unwrap_or_default();
            let target = self.call.value("--crate-name").unwrap_or_default();
            // Rustdoc adds two lines that make the crate known, but counts them as one.
            place.offset -= i64::from(is_crate_added(&source, line, target));
        }
        Ok(Doctest { executable, should_panic, place })
    }

    /// Returns the error for a doctest whose program was not kept.
    fn unknown(&self, name: &str) -> Error {
        let rustdoc = self.call.compiler.rustdoc.display();
        Error::setup(format!("`{rustdoc}` did not run the doctest `{name}`"))
    }
}

/// Returns the test case of a doctest that is not ignored.
fn case(name: String, doctest: Option<Doctest>) -> TestCase {
    let (file, line) = place_in(&name).unzip();
    TestCase { file, line, doctest, ..TestCase::new(name) }
}

/// Sorts tests by name, and adds a number to names that occur more than once. Doctests from a macro
/// may share a name. They are sorted by the bytes of their programs, so the numbers are the same
/// each time.
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
