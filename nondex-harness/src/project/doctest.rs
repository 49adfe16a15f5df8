//! Doctests: rustdoc compiles them as cargo asks it to, but each executable comes to us instead of being run.
//!
//! Rustdoc runs a doctest by `--test-runtool`, which is this program: it [keeps](keep) the executable and fails, so that
//! rustdoc, at the end, tells for each name the number that was written. Each doctest is compiled by itself, also where rustdoc
//! would put all of a package into one program (edition 2024), because the places in that one are nowhere in the source.

pub(super) mod keep;
mod transcript;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use nix::errno::Errno;
use nix::unistd::Pid;
use nondex_core::hash;

use self::keep::{KEEP, LINKER, PLACE};
use self::transcript::{Fate, Told};
use super::cargo::own;
use super::doc_place::DocPlace;
use super::intercept::Start;
use super::runtime::Runtime;
use super::suite::{Doctest, Harness, Suite, TestBinary, TestCase};
use crate::cli::Names;
use crate::error::{Error, Result};

/// What is put before the path of a crate's root, so that the places in its doctests differ from those in its own code.
const HERE: &str = "./";

/// Variables of libtest that change what rustdoc prints.
const LIBTEST_VARIABLES: [&str; 3] = [
    "RUST_TEST_NOCAPTURE",
    "RUST_TEST_SHUFFLE",
    "RUST_TEST_THREADS",
];

/// How doctests are compiled and will be run.
pub(super) struct Compiler<'a> {
    /// What is put in place of std; `None` when nothing is.
    pub(super) runtime: Option<&'a Runtime>,
    /// The program.
    pub(super) rustdoc: OsString,
    /// The user's own target runner.
    pub(super) runner: &'a [OsString],
    /// Which are compiled.
    pub(super) names: &'a Names,
    /// Whether the ignored ones are.
    pub(super) ignored: bool,
    /// How many at once.
    pub(super) jobs: NonZeroUsize,
    /// Whether nothing is said of the progress.
    pub(super) quiet: bool,
}

/// The doctests of a project.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    /// Those that can be run, by package.
    pub(super) suites: Vec<Suite>,
    /// Those that could not be compiled, and packages of which none could be.
    pub(super) unbuilt: Vec<Unbuilt>,
}

/// What could not be compiled.
#[derive(Debug)]
pub(super) struct Unbuilt {
    /// The id of a test, or of a binary.
    pub(super) id: String,
    /// Why, in rustdoc's words.
    pub(super) message: String,
}

/// A folder of executables, removed when dropped: they are large, and compiled again by the next command.
#[derive(Debug)]
pub(super) struct Folder(Utf8PathBuf);

impl Folder {
    /// A new folder in `dir`. Removes those that a process left behind that was killed.
    ///
    /// # Errors
    /// When it cannot be created.
    pub(super) fn create(dir: &Utf8Path) -> Result<Self> {
        for entry in dir.read_dir_utf8().into_iter().flatten().flatten() {
            let process = entry.file_name().parse().map(Pid::from_raw);
            if process.is_ok_and(|pid| nix::sys::signal::kill(pid, None) == Err(Errno::ESRCH)) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let path = dir.join(std::process::id().to_string());
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path)
            .map_err(|e| Error::setup(format!("failed to create `{path}`: {e}")))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Compiler<'_> {
    /// Compiles the doctests of every package whose rustdoc cargo started, several packages at a time.
    ///
    /// # Errors
    /// When files cannot be written, or rustdoc cannot be run. Doctests that cannot be compiled are no error.
    pub(super) fn compile(&self, calls: &[Start], folder: &Folder) -> Result<Compiled> {
        let next = AtomicUsize::new(0);
        let workers = self.jobs.get().min(calls.len());
        let work = || {
            let mut done = Vec::new();
            while let Some((number, call)) = {
                let number = next.fetch_add(1, Ordering::Relaxed);
                calls.get(number).map(|call| (number, call))
            } {
                let package = Package {
                    compiler: self,
                    call,
                    dir: folder.0.join(number.to_string()),
                    threads: self.jobs.get().div_ceil(workers.max(1)).max(2),
                };
                done.push(package.compile());
            }
            done
        };
        let parts: Vec<Result<Compiled>> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let parts = workers.into_iter().flat_map(|worker| {
                worker
                    .join()
                    .expect("a thread that compiles does not panic")
            });
            parts.collect()
        });
        let mut all = Compiled::default();
        for part in parts {
            let part = part?;
            all.suites.extend(part.suites);
            all.unbuilt.extend(part.unbuilt);
        }
        all.unbuilt.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }
}

/// The doctests of one package.
struct Package<'a> {
    compiler: &'a Compiler<'a>,
    /// How cargo would have started rustdoc.
    call: &'a Start,
    /// Where they are kept.
    dir: Utf8PathBuf,
    threads: usize,
}

impl Package<'_> {
    fn compile(&self) -> Result<Compiled> {
        let env = self.call.environment();
        let package = env
            .get(OsStr::new("CARGO_PKG_NAME"))
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let target = self.value("--crate-name").unwrap_or(&package).to_owned();
        let cwd = self.value("--test-run-directory").map(Utf8PathBuf::from);
        let binary = TestBinary {
            id: format!("{package}::doc/{target}"),
            package,
            target,
            kind: "doc".to_owned(),
            executable: self.dir.clone(),
            cwd: cwd.unwrap_or_else(|| self.call.cwd.clone()),
            env,
            runner: self.compiler.runner.to_vec(),
            harness: Harness::Doctest,
            preload: None,
        };
        if !self.compiler.quiet {
            use anstyle::AnsiColor::Green;
            let style = Green.on_default().bold();
            anstream::eprintln!(
                "{style}   Compiling{style:#} doctests of {}",
                binary.package
            );
        }
        let mut compiled = Compiled::default();
        let told = match self.rustdoc("all", self.threads, &[])? {
            Ok(told) => told,
            Err(message) => {
                let id = binary.id;
                compiled.unbuilt.push(Unbuilt { id, message });
                return Ok(compiled);
            }
        };
        let ignored = self.ignored()?;
        let should_panic = self.should_panic(&told)?;
        let mut should_panic = should_panic.into_iter();
        let mut suite = Suite {
            binary,
            tests: Vec::new(),
        };
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for Told { name, fate } in told {
            let name = name.strip_prefix(HERE).unwrap_or(&name).to_owned();
            let failing = match fate {
                Fate::ShouldPanic => should_panic.next(),
                _ => None,
            };
            if !self.compiler.names.matches(&name) {
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
            // Macros can make several with one name.
            let count = seen.entry(name.clone()).or_default();
            *count += 1;
            let (file, line) = place_in(&name).unzip();
            suite.tests.push(TestCase {
                file,
                line,
                ignored: doctest.is_none() || ignored.contains(&name),
                name: match count {
                    1 => name,
                    count => format!("{name} #{count}"),
                },
                doctest,
            });
        }
        suite.tests.sort_by(|a, b| a.name.cmp(&b.name));
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
        // Once more and one after the other, so that they are kept in the order in which rustdoc tells of them.
        let words: Vec<&str> = names.iter().map(|name| word(name)).collect();
        let again = match self.rustdoc("should-panic", 1, &words)? {
            Ok(again) => again,
            Err(message) => return Err(Error::build(message)),
        };
        let ran = again
            .iter()
            .filter(|told| matches!(told.fate, Fate::Kept(_) | Fate::ShouldPanic));
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
        if !self.compiler.ignored {
            return Ok(Vec::new());
        }
        let mut command = self.command("list", 1)?;
        for word in ["--list", "--format=terse", "--ignored"] {
            command.arg(format!("--test-args={word}"));
        }
        let output = self.output(&mut command)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = text.lines().filter_map(|line| line.strip_suffix(": test"));
        Ok(names
            .map(|name| name.strip_prefix(HERE).unwrap_or(name).to_owned())
            .collect())
    }

    /// Lets rustdoc compile, and keep in the folder `dir`, what has one of these words in its name. Its own words when it
    /// could not begin.
    fn rustdoc(
        &self,
        dir: &str,
        threads: usize,
        words: &[&str],
    ) -> Result<Result<Vec<Told>, String>> {
        let mut command = self.command(dir, threads)?;
        let names = self.compiler.names;
        let filters: Vec<&str> = match words {
            [] => names.filters.iter().map(|name| word(name)).collect(),
            words => words.to_vec(),
        };
        // Rustdoc divides each at spaces, so it is asked for more than is needed.
        let skip = names
            .skip
            .iter()
            .filter(|name| !name.contains(' ') && !names.exact);
        let skip = skip.map(|name| format!("--skip={name}"));
        let filters = filters.into_iter().filter(|word| !word.is_empty());
        for argument in filters.map(str::to_owned).chain(skip) {
            command.arg(format!("--test-args={argument}"));
        }
        if self.compiler.ignored {
            command.arg("--test-args=--include-ignored");
        }
        let output = self.output(&mut command)?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(transcript::read(&text).ok_or_else(|| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            format!("rustdoc failed ({}): {}", output.status, stderr.trim())
        }))
    }

    fn output(&self, command: &mut Command) -> Result<std::process::Output> {
        command.output().map_err(|e| {
            let rustdoc = self.compiler.rustdoc.display();
            Error::setup(format!("failed to run `{rustdoc}`: {e}"))
        })
    }

    /// Rustdoc as cargo would have started it, with our part in it.
    fn command(&self, dir: &str, threads: usize) -> Result<Command> {
        let own = own()?;
        let dir = self.dir.join(dir);
        let temporary = self.dir.join("tmp");
        let failed = |path: &Utf8Path, e| Error::setup(format!("failed to write `{path}`: {e}"));
        for path in [&dir, &temporary] {
            fs::create_dir_all(path).map_err(|e| failed(path, e))?;
        }
        let mut command = Command::new(&self.compiler.rustdoc);
        command
            .current_dir(&self.call.cwd)
            .env_clear()
            .envs(self.call.environment())
            // On the filesystem that executables are moved to.
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null());
        for name in LIBTEST_VARIABLES {
            command.env_remove(name);
        }
        command.args(self.arguments());
        let word = |word: &str| format!("--test-runtool-arg={word}");
        command
            .arg(format!("--test-runtool={own}"))
            .args([word(KEEP), word(dir.as_str())])
            .arg(format!("--test-args=--test-threads={threads}"))
            .arg("--test-args=--color=never");
        if let Some(linker) = self.linker() {
            // By its name the compiler knows how to call it.
            let name = Utf8Path::new(linker).file_name().unwrap_or("cc");
            let link = self.dir.join(name);
            if !link.exists() {
                symlink(&own, &link).map_err(|e| failed(&link, e))?;
            }
            command.arg(format!("-Clinker={link}")).env(LINKER, linker);
        }
        if self.is_merging() {
            // A program of several doctests needs the crate `test`. One that cannot be read makes rustdoc do without such a
            // program, as it does when the doctests do not fit together.
            let unreadable = self.dir.join("libtest.rlib");
            fs::write(&unreadable, "").map_err(|e| failed(&unreadable, e))?;
            command.arg(format!("--extern=test={unreadable}"));
        }
        // What is built for the host, as proc macros are, has the host's own std.
        if let Some(runtime) = self.compiler.runtime
            && self.value("--target").is_some()
        {
            command
                .arg(format!("-Ldependency={}", runtime.libraries))
                .arg(format!("--extern=std={}", runtime.std))
                // Stacks have lines by it.
                .arg("-Cdebuginfo=line-tables-only");
            if self.value("--cap-lints").is_none() {
                command.arg("--cap-lints=allow");
            }
        }
        Ok(command)
    }

    /// Cargo's arguments without those that we give ourselves.
    fn arguments(&self) -> Vec<String> {
        const OURS: [&str; 3] = ["--test-args", "--test-runtool", "--test-runtool-arg"];
        let mut kept: Vec<String> = Vec::new();
        let mut arguments = self.call.arguments.iter();
        while let Some(argument) = arguments.next() {
            let (flag, value) = argument
                .split_once('=')
                .map_or((argument.as_str(), None), |(flag, value)| {
                    (flag, Some(value))
                });
            if OURS.contains(&flag) {
                if value.is_none() {
                    arguments.next();
                }
                continue;
            }
            let is_root = kept.last().is_some_and(|last| last == "--test");
            kept.push(if is_root && Utf8Path::new(argument).is_relative() {
                format!("{HERE}{argument}")
            } else {
                argument.clone()
            });
        }
        kept
    }

    /// The value of a flag, the last one.
    fn value(&self, flag: &str) -> Option<&str> {
        let arguments = &self.call.arguments;
        let after = arguments
            .windows(2)
            .rev()
            .find_map(|pair| (pair[0] == flag).then_some(pair[1].as_str()));
        after.or_else(|| {
            let mut arguments = arguments.iter().rev();
            arguments.find_map(|argument| argument.strip_prefix(flag)?.strip_prefix('='))
        })
    }

    /// Whether rustdoc puts several doctests into one program.
    fn is_merging(&self) -> bool {
        let edition = self.value("--edition").unwrap_or("2015");
        !["2015", "2018", "2021"].contains(&edition)
    }

    /// The linker that the compiler would call; `None` when that is not known.
    fn linker(&self) -> Option<&str> {
        let arguments = &self.call.arguments;
        let chosen = arguments.iter().rev().find_map(|argument| {
            let option = argument.strip_prefix("-C").unwrap_or(argument);
            option.strip_prefix("linker=")
        });
        let is_for_host = || {
            let target = self.value("--target");
            target.is_none_or(|target| target.starts_with(std::env::consts::ARCH))
        };
        chosen.or_else(|| (cfg!(unix) && is_for_host()).then_some("cc"))
    }

    fn kept(&self, dir: &str, number: u64) -> Utf8PathBuf {
        self.dir.join(dir).join(number.to_string())
    }

    /// The doctest whose program was kept at `kept`, which gets a name that people recognise.
    fn doctest(&self, name: &str, kept: &Utf8Path, should_panic: bool) -> Result<Doctest> {
        let executable = self.dir.join(file_name(name, kept.file_name()));
        fs::rename(kept, &executable).map_err(|e| {
            Error::setup(format!(
                "rustdoc did not run the doctest `{name}`: `{kept}`: {e}"
            ))
        })?;
        let place = fs::read_to_string(kept.with_extension(PLACE)).ok();
        let mut place = place.and_then(|text| place_of(&text));
        if let (Some(place), Some((file, line))) = (&mut place, place_in(name)) {
            let source = fs::read_to_string(self.call.cwd.join(file)).unwrap_or_default();
            let target = self.value("--crate-name").unwrap_or_default();
            // Rustdoc makes the crate known by two lines of its own, and counts them as one.
            place.offset -= i64::from(is_crate_added(&source, line, target));
        }
        Ok(Doctest {
            executable,
            should_panic,
            place,
        })
    }

    fn unknown(&self, name: &str) -> Error {
        let rustdoc = self.compiler.rustdoc.display();
        Error::setup(format!("`{rustdoc}` did not run the doctest `{name}`"))
    }
}

/// A part of a name without spaces that few other names have.
fn word(name: &str) -> &str {
    let words = || name.split_whitespace();
    match words().next_back() {
        Some(line) if name.contains(" (line ") && line.ends_with(')') => line,
        _ => words().max_by_key(|word| word.len()).unwrap_or(""),
    }
}

/// File and line in a name as rustdoc makes it, `src/lib.rs - item (line 3)`.
fn place_in(name: &str) -> Option<(String, u32)> {
    let (file, _) = name.split_once(" - ")?;
    let (_, line) = name.rsplit_once("(line ")?;
    Some((file.to_owned(), line.strip_suffix(')')?.parse().ok()?))
}

/// Whether rustdoc adds `extern crate` to the doctest at a line of a source: when it names the crate and does not do so itself.
fn is_crate_added(source: &str, line: u32, target: &str) -> bool {
    let marks = ["///", "//!", "* "];
    let unmarked = |line: &'_ str| {
        let line = line.trim_start();
        let after = marks.iter().find_map(|mark| line.strip_prefix(mark));
        after.unwrap_or(line).trim_start().to_owned()
    };
    let code: Vec<String> = source
        .lines()
        .skip(line as usize)
        .map(unmarked)
        .take_while(|line| !line.starts_with("```") && !line.starts_with("~~~"))
        .collect();
    let has = |text: &str| code.iter().any(|line| line.contains(text));
    has(target) && !has(&format!("extern crate {target}"))
}

/// Where a doctest stands, as [`keep`] wrote it down.
fn place_of(text: &str) -> Option<DocPlace> {
    let (file, offset) = text.trim_end().split_once('\n')?;
    file.starts_with(HERE).then_some(())?;
    Some(DocPlace {
        file: file.to_owned(),
        offset: offset.parse().ok()?,
    })
}

/// The name of the executable of a doctest. The number is only there for those that share their name.
fn file_name(name: &str, number: Option<&str>) -> String {
    const LONGEST: usize = 80;
    let mut text = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        };
        if c != '-' || !text.ends_with('-') {
            text.push(c);
        }
    }
    text.truncate(LONGEST);
    let unique = hash::of(&(name, number));
    format!("{}-{unique:016x}", text.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_where_a_doctest_is() {
        let place = place_in("src/a.rs - A<b>::c (line 31)");
        assert_eq!(place, Some(("src/a.rs".to_owned(), 31)));
        assert_eq!(place_in("src/a.rs"), None);
    }

    #[test]
    fn rustdoc_is_asked_for_a_word_that_selects_the_test() {
        for (name, expected) in [
            ("src/lib.rs - A<b>::c (line 31)", "31)"),
            ("Map::keys", "Map::keys"),
            ("- Map::keys (", "Map::keys"),
            ("", ""),
        ] {
            assert_eq!(word(name), expected, "{name}");
        }
    }

    #[test]
    fn a_crate_is_added_to_a_doctest_that_names_it() {
        let source = "/// ```\n/// # use it::a;\n/// ```\n/// it\n/// ```\n/// extern crate it;\n/// it::b();\n/// ```\n";
        assert!(is_crate_added(source, 1, "it"));
        assert!(!is_crate_added(source, 3 + 2, "it"));
        assert!(!is_crate_added(source, 1, "other"));
        assert!(!is_crate_added(source, 99, "it"));
    }

    #[test]
    fn what_a_linker_wrote_down_is_read() {
        let place = place_of("./src/lib.rs\n-1\n").unwrap();
        assert_eq!((place.source(), place.offset), ("src/lib.rs", -1));
        assert_eq!(place_of("/elsewhere/src/lib.rs\n3\n"), None);
        assert_eq!(place_of(""), None);
    }

    #[test]
    fn executables_have_names_that_tell_them_apart() {
        let first = file_name("src/lib.rs - f (line 3)", Some("1"));
        assert!(first.starts_with("src-lib.rs-f-line-3-"), "{first}");
        assert_ne!(first, file_name("src/lib.rs - f (line 3)", Some("2")));
    }
}
