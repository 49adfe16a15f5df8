//! Compiles many doctests as one program. Most of the cost of a doctest is starting the compiler
//! and the linker.
//!
//! Each doctest is a module of the program. The modules of one source are in one file with the name
//! of the source, and have the lines that they have there. The executable of a doctest is a hard
//! link to the program. The program runs the doctest that the name of its executable denotes. So a
//! doctest still has a separate process.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use camino::Utf8PathBuf;
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};

use super::call::RustdocCall;
use super::name::{file_name, place_in};
use super::program::{Program, RUN, module};
use super::{HERE, rules};
use crate::error::{Error, OrSetup, Result};
use crate::file;
use crate::program;
use crate::project::{DocPlace, Doctest};

/// Maximum number of builds. After a failed build, doctests with errors are left out. One build may
/// not show all errors, because those of one compiler phase hide those of later phases.
const ROUNDS: usize = 5;

/// Options, with a value, that concern only the documented crate or rustdoc itself.
const RUSTDOC_ONLY: [&str; 16] = [
    "--crate-name",
    "--crate-type",
    "--test-run-directory",
    "--error-format",
    "--json",
    "--color",
    "--diagnostic-width",
    "--crate-version",
    "--allow",
    "--deny",
    "--forbid",
    "--warn",
    "-A",
    "-D",
    "-F",
    "-W",
];

/// Options, with a value, that rustdoc forwards to the compiler.
const FORWARDED: [&str; 9] = [
    "--cfg",
    "--check-cfg",
    "--edition",
    "--extern",
    "--target",
    "--sysroot",
    "--cap-lints",
    "-L",
    "-C",
];

/// Compiles the doctests of a package that can share a program, if one of them is selected. Returns
/// those of `selected` that share it, by name.
///
/// The program has all of these doctests, whatever is selected. So a finding can be reproduced with
/// the same program.
///
/// # Errors
/// Returns an error if files cannot be written, or rustc cannot be run. Doctests that do not
/// compile in the program are left out.
pub(super) fn compile(
    call: &RustdocCall<'_>,
    names: &[String],
    selected: &[String],
) -> Result<BTreeMap<String, Doctest>> {
    // Coverage needs the real paths of the sources, which the shared program remaps.
    let forwarded = forwarded(&call.arguments()).filter(|_| call.compiler.covered.is_none());
    let Some(arguments) = forwarded else { return Ok(BTreeMap::new()) };
    let mut members = Member::all(call, names);
    let together = Together { call, arguments, dir: call.dir.join("together") };
    for _ in 0..ROUNDS {
        if !members.iter().any(|member| selected.contains(&member.name)) {
            break;
        }
        let Some(refused) = together.build(&members)? else {
            members.retain(|member| selected.contains(&member.name));
            return together.divide(members);
        };
        let before = members.len();
        members.retain(|member| !refused.iter().any(|place| member.has(place)));
        // Errors outside of the doctests would occur in each build.
        if members.len() == before {
            break;
        }
    }
    Ok(BTreeMap::new())
}

/// Doctest in the shared program.
struct Member {
    name: String,
    /// Name of the source in the program, with the prefix [`HERE`].
    file: String,
    program: Program,
}

impl Member {
    /// Returns the doctests that can share a program. Leaves out doctests with the same name, which
    /// cannot be distinguished.
    fn all(call: &RustdocCall<'_>, names: &[String]) -> Vec<Self> {
        let read = |file: &str| fs::read_to_string(call.start.cwd.join(file)).ok();
        let root = call.root().unwrap_or_default();
        let is_made_known = read(root).as_deref().and_then(rules::make_crate_known);
        let Some(is_made_known) = is_made_known else { return Vec::new() };
        let target = call.value("--crate-name").filter(|_| is_made_known);
        let source = |file: &str| {
            // Modules and items may have rules too, which are unknown. Those in the attributes of
            // the crate itself, in the root, were parsed above.
            let rules = if file == root { "#[doc(test(" } else { "doc(test(" };
            read(file).filter(|source| !source.contains(rules))
        };
        let mut number: BTreeMap<&String, usize> = BTreeMap::new();
        for name in names {
            *number.entry(name).or_default() += 1;
        }
        let named_once = names.iter().filter(|name| number[name] == 1);
        let mut sources: BTreeMap<String, Option<String>> = BTreeMap::new();
        named_once
            .filter_map(|name| {
                let (file, line) = place_in(name)?;
                let entry = sources.entry(file);
                let file = entry.key().clone();
                let text = entry.or_insert_with_key(|file| source(file)).as_deref()?;
                let program = Program::read(text, line, target)?;
                Some(Member { name: name.clone(), file: format!("{HERE}{file}"), program })
            })
            .collect()
    }

    /// Returns whether the place is in the doctest.
    fn has(&self, (file, line): &(String, u32)) -> bool {
        let [first, last] = self.program.lines;
        *file == self.file && (first..=last).contains(line)
    }
}

/// Shared program of a package's doctests.
struct Together<'a> {
    call: &'a RustdocCall<'a>,
    /// Arguments that rustdoc forwards to the compiler.
    arguments: Vec<String>,
    /// Folder of the sources and the executable.
    dir: Utf8PathBuf,
}

impl Together<'_> {
    /// Builds the program. Returns the places of all errors if it does not compile.
    fn build(&self, members: &[Member]) -> Result<Option<Vec<(String, u32)>>> {
        let _ = fs::remove_dir_all(&self.dir);
        file::create_folder(&self.dir)?;
        let mut command = Command::new(&self.call.compiler.rustc);
        // With these prefixes, the program does not depend on the folder where it is built. The
        // last matching one applies, so this general one comes first.
        command.arg(format!("--remap-path-prefix={}=doctests", self.dir));
        let sources = sources(members);
        for (number, (file, text)) in sources.iter().enumerate() {
            let path = self.dir.join(format!("{number}.rs"));
            file::write(&path, text)?;
            command.arg(format!("--remap-path-prefix={path}={file}"));
        }
        let root = self.dir.join("main.rs");
        file::write(&root, &main(members, sources.keys().copied()))?;
        command
            .current_dir(&self.call.start.cwd)
            .env_clear()
            .envs(self.call.start.environment())
            .args(&self.arguments)
            .args(self.call.runtime_arguments())
            .args(["--crate-name=rust_out", "--crate-type=bin"])
            .args(["--error-format=json", "-o"])
            .args([self.executable().as_str(), root.as_str()])
            .stdin(Stdio::null());
        let output = program::output(&mut command).map_err(Error::setup)?;
        if output.status.success() {
            return Ok(None);
        }
        Ok(Some(refused(&String::from_utf8_lossy(&output.stderr))))
    }

    /// Creates a link to the program for each doctest.
    fn divide(&self, members: Vec<Member>) -> Result<BTreeMap<String, Doctest>> {
        let mut doctests = BTreeMap::new();
        for member in members {
            let executable = self.call.dir.join(file_name(&member.name, None));
            fs::hard_link(self.executable(), &executable)
                .or_else(|_| fs::copy(self.executable(), &executable).map(drop))
                .or_setup(format_args!("failed to create `{executable}`"))?;
            let doctest = Doctest {
                executable,
                should_panic: member.program.should_panic,
                place: Some(DocPlace { file: member.file, offset: 0 }),
            };
            doctests.insert(member.name, doctest);
        }
        Ok(doctests)
    }

    /// Returns the path of the program.
    fn executable(&self) -> Utf8PathBuf {
        self.dir.join("all")
    }
}

/// Returns the text of a file for each source. It has the modules of the source's doctests, at
/// their lines in the source.
fn sources(members: &[Member]) -> BTreeMap<&str, String> {
    let mut by_place: Vec<&Member> = members.iter().collect();
    by_place.sort_by_key(|member| member.program.lines);
    let mut sources: BTreeMap<&str, String> = BTreeMap::new();
    for member in by_place {
        let text = sources.entry(&member.file).or_default();
        let before = member.program.lines[0] as usize - 1;
        let missing = before.saturating_sub(text.lines().count());
        *text += &"\n".repeat(missing);
        *text += &member.program.text;
        text.push('\n');
    }
    sources
}

/// Returns the text of the program's root file. `files` are its sources, in the order of their
/// numbers.
fn main<'m>(members: &[Member], files: impl Iterator<Item = &'m str>) -> String {
    let numbers: BTreeMap<&str, usize> = files.zip(0..).collect();
    let modules = numbers
        .values()
        .map(|number| format!("#[path = \"{number}.rs\"]\nmod nondex_of_{number};\n"));
    let arms = members.iter().map(|member| {
        let name = file_name(&member.name, None);
        let number = numbers[member.file.as_str()];
        let module = module(member.program.lines[0]);
        format!("        Some({name:?}) => nondex_of_{number}::{module}::{RUN}(),\n")
    });
    format!(
        "#![allow(unused)]\n{}fn main() -> ::std::process::ExitCode {{\n    \
         let program = ::std::env::args_os().next().unwrap_or_default();\n    \
         let program = ::std::path::Path::new(&program).file_name();\n    \
         match program.and_then(|name| name.to_str()) {{\n{}        \
         _ => panic!(\"no doctest has this name\"),\n    }}\n}}\n",
        modules.collect::<String>(),
        arms.collect::<String>()
    )
}

/// Returns those of rustdoc's arguments that rustdoc forwards to the compiler. Returns `None` if an
/// argument is unknown, or the edition is 2015.
fn forwarded(arguments: &[String]) -> Option<Vec<String>> {
    let mut kept = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let is = |flag: &&str| {
            let rest = argument.strip_prefix(*flag);
            rest.is_some_and(|rest| {
                rest.is_empty() || !flag.starts_with("--") || rest.starts_with('=')
            })
        };
        // A value that is not part of the argument is the next argument.
        let value_follows = |flag: &str| argument == flag;
        if let Some(flag) = FORWARDED.iter().find(|flag| is(flag)) {
            kept.push(argument.clone());
            if value_follows(flag) {
                kept.push(arguments.next()?.clone());
            }
        } else if let Some(flag) = RUSTDOC_ONLY.iter().find(|flag| is(flag)) {
            if value_follows(flag) {
                arguments.next()?;
            }
        } else if argument.starts_with('-') && argument != "--test" {
            return None;
        }
    }
    let edition = kept.iter().any(|argument| argument.contains("edition"));
    let is_2015 = kept.iter().any(|argument| argument.ends_with("2015"));
    (edition && !is_2015).then_some(kept)
}

/// Returns the places of all errors that the compiler printed, with those of the macro calls that
/// they come from.
fn refused(text: &str) -> Vec<(String, u32)> {
    let diagnostics = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let errors = diagnostics.filter(|one: &Diagnostic| one.level == DiagnosticLevel::Error);
    let mut places = Vec::new();
    for span in errors.flat_map(|error| error.spans) {
        let mut span = Some(&span);
        while let Some(DiagnosticSpan { file_name, line_start, expansion, .. }) = span {
            let line = u32::try_from(*line_start).unwrap_or(0);
            places.push((file_name.clone(), line));
            span = expansion.as_ref().map(|expansion| &expansion.span);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &str) -> Option<String> {
        let arguments: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
        forwarded(&arguments).map(|kept| kept.join(" "))
    }

    #[test]
    fn the_compiler_gets_what_rustdoc_hands_on() {
        let call = "--edition=2021 --crate-type lib --color auto --crate-name it --test src/lib.rs \
            --test-run-directory /it --warn=unused -D x --target t --extern it=/it.rlib -L a -Lb \
            -C c --cfg d --cap-lints warn --error-format json";
        let expected =
            "--edition=2021 --target t --extern it=/it.rlib -L a -Lb -C c --cfg d --cap-lints warn";
        assert_eq!(of(call).as_deref(), Some(expected));
        // In edition 2015, paths start at the root of the program, not at the module.
        for call in ["--edition 2015 --test a", "--test a", "--edition 2021 -Zunknown"] {
            assert_eq!(of(call), None, "{call}");
        }
    }

    #[test]
    fn a_doctest_is_refused_by_an_error_in_what_it_expands_to() {
        let span = |file: &str, line: u32, expansion: &str| {
            format!(
                "{{\"file_name\":\"{file}\",\"byte_start\":0,\"byte_end\":0,\
                 \"line_start\":{line},\"line_end\":{line},\"column_start\":1,\
                 \"column_end\":1,\"is_primary\":true,\"text\":[],\"label\":null,\
                 \"suggested_replacement\":null,\"expansion\":{expansion}}}"
            )
        };
        let inner = span("./src/lib.rs", 7, "null");
        let expansion =
            format!("{{\"span\":{inner},\"macro_decl_name\":\"m!\",\"def_site_span\":null}}");
        let outer = span("/std/macros.rs", 3, &expansion);
        let error = |level: &str| {
            format!(
                "{{\"message\":\"x\",\"code\":null,\"level\":\"{level}\",\
                 \"spans\":[{outer}],\"children\":[],\"rendered\":null}}"
            )
        };
        let text = format!("{}\nother\n{}\n", error("warning"), error("error"));
        let expected = [("/std/macros.rs", 3), ("./src/lib.rs", 7)];
        let expected = expected.map(|(file, line)| (file.to_owned(), line));
        assert_eq!(refused(&text), expected);
    }
}
