//! Builds the program of a doctest from the lines of the source, as rustdoc does.
//!
//! This module supports only doctests without special needs. The program must be the same as
//! rustdoc's, so all other cases are left to rustdoc.

use proc_macro2::TokenStream;
use syn::Item;

/// Words in the fence of a doctest without special needs.
const PLAIN: [&str; 3] = ["", "rust", SHOULD_PANIC];

/// Word in the fence of a doctest that must panic.
const SHOULD_PANIC: &str = "should_panic";

/// Texts that may have a different meaning in a program that several doctests share. They concern
/// the crate's root, items that a program can have only once, and names and places of code.
const UNSHARABLE: [&str; 23] = [
    "#![",
    "extern crate",
    "crate::",
    "$crate",
    "macro_export",
    "macro_use",
    "global_allocator",
    "panic_handler",
    "no_mangle",
    "export_name",
    "link_section",
    "ctor",
    "submit!",
    "distributed_slice",
    "type_name",
    "module_path!",
    "file!",
    "line!",
    "column!",
    "Location",
    "rust_out",
    "current_exe",
    "#[test]",
];

/// Name of the function that runs a doctest. The shared program calls it.
pub(super) const RUN: &str = "__nondex_run";

/// Program of a doctest, as a module of the shared program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Text of the module. It has one line for each line of the source from fence to fence.
    pub(super) text: String,
    /// Whether the doctest passes only if it panics.
    pub(super) should_panic: bool,
    /// First and last line of the doctest in the source, including the fences.
    pub(super) lines: [u32; 2],
}

impl Program {
    /// Builds the program of the doctest whose opening fence is at `line`, counted from 1, of a
    /// source. Returns `None` if rustdoc's program may be different. `target` is the crate for
    /// which a doctest that names it gets an `extern crate`.
    pub(super) fn read(source: &str, line: u32, target: Option<&str>) -> Option<Self> {
        let first = usize::try_from(line).ok()?.checked_sub(1)?;
        let mut lines = source.lines().skip(first);
        let opened = Comment::of(lines.next()?)?;
        let fence = Fence::opened(opened.text)?;
        let code = code(&mut lines, &opened, &fence)?;
        if UNSHARABLE.iter().any(|text| code.contains(text)) {
            return None;
        }
        // With unbalanced brackets, the module would not end where it should.
        code.parse::<TokenStream>().ok()?;
        let has_main = has_main(&code)?;
        let target = target.filter(|target| code.contains(target));
        let made_known = target.map_or_else(String::new, |target| {
            format!("#[allow(unused_extern_crates)] extern crate r#{target}; ")
        });
        let [before, after] = if has_main {
            ["", ""]
        } else if code.trim_end().ends_with("(())") {
            // As in rustdoc, this end marks a doctest that returns a `Result`.
            [
                "fn main() { fn _inner() -> core::result::Result<(), impl core::fmt::Debug> {",
                "} _inner().unwrap() } ",
            ]
        } else {
            ["fn main() {", "} "]
        };
        let text = format!(
            "pub(crate) mod {} {{ #![allow(unused)] {made_known}{before}\n{code}{after}\
             pub(crate) fn {RUN}() -> ::std::process::ExitCode \
             {{ ::std::process::Termination::report(main()) }} }}",
            module(line)
        );
        let last = line + u32::try_from(code.lines().count()).ok()? + 1;
        Some(Program { text, should_panic: fence.should_panic, lines: [line, last] })
    }
}

/// Returns the name of the module of the doctest whose opening fence is at this line.
pub(super) fn module(line: u32) -> String {
    format!("nondex_{line}")
}

/// Line of a doc comment.
struct Comment<'a> {
    mark: &'a str,
    has_space: bool,
    text: &'a str,
}

impl<'a> Comment<'a> {
    /// Parses a line. Returns `None` if it is not a line doc comment.
    fn of(line: &'a str) -> Option<Self> {
        let line = line.trim_start();
        let mark = ["///", "//!"].into_iter().find(|mark| line.starts_with(mark))?;
        let rest = &line[mark.len()..];
        let text = rest.strip_prefix(' ');
        Some(Comment { mark, has_space: text.is_some(), text: text.unwrap_or(rest) })
    }
}

/// Opening fence of a code block.
struct Fence {
    mark: char,
    length: usize,
    should_panic: bool,
}

impl Fence {
    /// Parses a fence at the beginning of a text. Returns `None` if there is none, or it has a word
    /// not in [`PLAIN`].
    fn opened(text: &str) -> Option<Self> {
        let mark = text.chars().next().filter(|c| ['`', '~'].contains(c))?;
        let words = text.trim_start_matches(mark);
        let length = text.len() - words.len();
        let mut words = words.split([',', ' ', '\t']);
        let is_plain = words.clone().all(|word| PLAIN.contains(&word));
        (length >= 3 && is_plain).then(|| Fence {
            mark,
            length,
            should_panic: words.any(|word| word == SHOULD_PANIC),
        })
    }

    /// Returns whether a text is the closing fence.
    fn is_closed_by(&self, text: &str) -> bool {
        let text = text.trim();
        text.len() >= self.length && text.chars().all(|c| c == self.mark)
    }
}

/// Returns the lines up to the closing fence, in the form that they have in the program. Returns
/// `None` if the block does not end, or its lines are indented in different ways or with tabs.
fn code<'a>(
    lines: &mut impl Iterator<Item = &'a str>,
    opened: &Comment<'_>,
    fence: &Fence,
) -> Option<String> {
    let mut code = String::new();
    for line in lines {
        let line = Comment::of(line).filter(|line| line.mark == opened.mark)?;
        if fence.is_closed_by(line.text) {
            return (line.has_space == opened.has_space).then_some(code);
        }
        let is_blank = line.text.trim().is_empty();
        if !is_blank && line.has_space != opened.has_space || line.text.contains('\t') {
            return None;
        }
        code += &shown(line.text);
        code.push('\n');
    }
    None
}

/// Returns a line without the marker that hides it in the documentation.
fn shown(line: &str) -> String {
    let trimmed = line.trim();
    if trimmed.starts_with("##") {
        line.replacen("##", "#", 1)
    } else if let Some(hidden) = trimmed.strip_prefix("# ") {
        hidden.to_owned()
    } else if trimmed == "#" {
        String::new()
    } else {
        line.to_owned()
    }
}

/// Returns whether the code has its own `main`, or `None` if that is uncertain.
fn has_main(code: &str) -> Option<bool> {
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    if !words.any(|word| word == "main") {
        return Some(false);
    }
    let file = syn::parse_file(code).ok()?;
    let is_main = |item: &Item| matches!(item, Item::Fn(function) if function.sig.ident == "main");
    file.items.iter().any(is_main).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str, line: u32) -> Option<Program> {
        Program::read(source, line, Some("it"))
    }

    #[test]
    fn a_program_has_a_line_for_each_of_the_source() {
        let source = "//! Text.\n//!\n//! ```\n//! # use it::f;\n//! let text = \"\n//!   two\";\n\
            //!\n//! ## not hidden\n//! ```\n";
        let source = source.replace("## not", "// not");
        let program = read(&source, 3).unwrap();
        assert_eq!(program.lines, [3, 9]);
        assert!(!program.should_panic);
        let lines: Vec<&str> = program.text.lines().collect();
        assert!(lines[0].starts_with("pub(crate) mod nondex_3 { #![allow(unused)] "));
        assert!(lines[0].ends_with("extern crate r#it; fn main() {"));
        let code = ["use it::f;", "let text = \"", "  two\";", "", "// not hidden"];
        assert_eq!(lines[1..6], code);
        assert!(lines[6].starts_with("} pub(crate) fn __nondex_run"));
        assert_eq!(lines.len(), 7);
    }

    #[test]
    fn what_hides_a_line_is_not_in_the_program() {
        let lines = ["# hidden", "#", "## shown", "#[attribute]", "  text"];
        let expected = ["hidden", "", "# shown", "#[attribute]", "  text"];
        assert_eq!(lines.map(shown), expected);
    }

    #[test]
    fn a_main_of_its_own_and_a_result_are_run_as_rustdoc_runs_them() {
        let source = "    /// ~~~rust,should_panic\n    /// fn main() {}\n    /// ~~~\n";
        let program = read(source, 1).unwrap();
        assert!(program.should_panic);
        let begin = "pub(crate) mod nondex_1 { #![allow(unused)] \nfn main() {}\npub(crate) fn";
        assert!(program.text.starts_with(begin), "{}", program.text);
        let program = read("///```\n///f()?;\n///Ok::<_, E>(())\n///```\n", 1).unwrap();
        assert!(program.text.contains("fn _inner() -> core::result::Result"));
        assert!(program.text.contains("\nOk::<_, E>(())\n} _inner().unwrap() }"));
    }

    #[test]
    fn whatever_may_be_another_case_is_left_to_rustdoc() {
        for source in [
            // No opening fence, no closing fence, or no line doc comment.
            "/// text\n",
            "/// ```\n/// f();\n",
            "/// ```\n/// f();\nfn g() {}\n/// ```\n",
            "```\nf();\n```\n",
            " * ```\n * f();\n * ```\n",
            // The fence has a special word.
            "/// ```no_run\n/// f();\n/// ```\n",
            "/// ```compile_fail,E0001\n/// f();\n/// ```\n",
            "/// ```edition2018\n/// f();\n/// ```\n",
            // The indentation is doubtful.
            "/// * list\n///   ```\n///   f();\n///   ```\n",
            "/// ```\n///f();\n/// ```\n",
            "/// ```\n/// \tf();\n/// ```\n",
            // The code has a different meaning in a shared program, or its meaning is uncertain.
            "/// ```\n/// #![feature(x)]\n/// ```\n",
            "/// ```\n/// struct S; let s = crate::S;\n/// ```\n",
            "/// ```\n/// f() }\n/// ```\n",
            "/// ```\n/// macro_rules! m { () => { fn main() {} } } m!();\n/// ```\n",
        ] {
            let line = 1 + u32::from(source.starts_with("/// *"));
            assert_eq!(read(source, line), None, "{source}");
        }
    }

    #[test]
    fn a_fence_that_says_more_does_not_close_a_block() {
        let source = "/// ````\n/// /*\n/// ```\n/// ```text\n/// */\n/// `````\n";
        assert_eq!(read(source, 1).unwrap().lines, [1, 6]);
    }
}
