//! Child processes of a test, which work for the same test.
//!
//! This tool removes its variables from the environment of the test, so that the test sees what
//! cargo sets up. But the block of variables with which a process was *started* stays readable
//! (Linux: `/proc/<pid>/environ`). A program that is built with the shims therefore searches the
//! spec in the test's own process, or in its ancestors. The search costs one or two reads, once in
//! a process.
//!
//! [`CHILD_VARIABLE`] gives a child its identity: the path of the thread that started it, and the
//! child's ordinal. A child may lack the variable, for example because a statically linked program
//! started it. Its command line and the number of earlier children with that command line then
//! identify it.

#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "called before `main`"
)]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

use crate::hash;
use crate::protocol::spec::{CHILD_VARIABLE, RunSpec, SPEC_VARIABLE};

/// Maximum number of ancestors to search: a test, a shell, a tool, and some more.
const GENERATIONS: usize = 16;

/// A child process of a test.
#[derive(Debug)]
pub(crate) struct Child {
    /// Spec of the run of its test.
    pub(crate) spec: RunSpec,
    /// Path of its main thread.
    pub(crate) path: String,
    /// Number of the test's own process.
    pub(crate) root: u32,
}

/// Returns the identity of this process as a child of a test, if it is one.
pub(crate) fn find() -> Option<Child> {
    // Does not use `getenv`, which the program may replace.
    let value = std::env::vars_os()
        .find(|(name, _)| name == CHILD_VARIABLE)
        .and_then(|(_, value)| value.into_string().ok());
    let identity = value.as_deref().and_then(read);
    let of_root = identity.and_then(|(root, path)| {
        let spec = spec_of(&environment(root)?)?;
        Some(Child { spec, path: path.to_owned(), root })
    });
    of_root.or_else(|| of_ancestors(identity.map(|(_, path)| path)))
}

/// Parses a value of [`CHILD_VARIABLE`] into the number of the test's process and the path.
fn read(value: &str) -> Option<(u32, &str)> {
    let (root, path) = value.split_once(':')?;
    Some((root.parse().ok()?, path))
}

fn of_ancestors(path: Option<&str>) -> Option<Child> {
    let mut nearest: Option<String> = None;
    let mut pid = parent(Path::new("/proc/self/stat"))?;
    for _ in 0..GENERATIONS {
        if pid <= 1 {
            return None;
        }
        let block = environment(pid)?;
        if let Some(spec) = spec_of(&block) {
            let path = match path {
                Some(path) => path.to_owned(),
                None => derived_path(&spec, &nearest.unwrap_or_default()),
            };
            return Some(Child { spec, path, root: pid });
        }
        if nearest.is_none() {
            let value = variable(&block, CHILD_VARIABLE);
            nearest = value.and_then(read).map(|(_, path)| path.to_owned());
        }
        pid = parent(Path::new(&format!("/proc/{pid}/stat")))?;
    }
    None
}

fn environment(pid: u32) -> Option<Vec<u8>> {
    std::fs::read(format!("/proc/{pid}/environ")).ok()
}

fn spec_of(block: &[u8]) -> Option<RunSpec> {
    RunSpec::from_variable(variable(block, SPEC_VARIABLE)?).ok()
}

fn variable<'a>(block: &'a [u8], name: &str) -> Option<&'a str> {
    let value = block
        .split(|&byte| byte == 0)
        .find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    std::str::from_utf8(value).ok()
}

/// Returns the parent's number from a `stat` file: the second field after the program's name. The
/// name is in parentheses and may contain any characters.
fn parent(stat: &Path) -> Option<u32> {
    let text = std::fs::read(stat).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Derives the path of a process without [`CHILD_VARIABLE`], below its `nearest` ancestor that has
/// one.
fn derived_path(spec: &RunSpec, nearest: &str) -> String {
    let mut command_line = std::env::args_os();
    let program = command_line.next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default();
    let arguments: Vec<_> = command_line.collect();
    let command = hash::of(&(
        name.as_encoded_bytes(),
        arguments.iter().map(|argument| argument.as_encoded_bytes()).collect::<Vec<_>>(),
    )) as u32;
    let path = format!("{nearest}/p{command:08x}");
    match spec.record.as_deref().and_then(|record| before(record, &path)) {
        None | Some(0) => path,
        Some(number) => format!("{path}-{number}"),
    }
}

/// Returns how many processes used `path` before this one, and notes this one.
fn before(record: &Path, path: &str) -> Option<usize> {
    let notes = record.with_extension(NOTES);
    let own = format!("{path} {}\n", std::process::id());
    let mut file: File = OpenOptions::new().append(true).create(true).open(&notes).ok()?;
    // Appends are atomic, so all processes agree on the order of the notes.
    file.write_all(own.as_bytes()).ok()?;
    let mut text = String::new();
    File::open(&notes).ok()?.read_to_string(&mut text).ok()?;
    let of_path = text.lines().filter(|line| {
        let noted = line.rsplit_once(' ');
        noted.is_some_and(|(noted, _)| noted == path)
    });
    Some(of_path.take_while(|line| *line != own.trim_end()).count())
}

/// Extension of the file next to the record that lists the children without [`CHILD_VARIABLE`].
pub const NOTES: &str = "children";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_found_in_a_block_whatever_else_is_there() {
        let spec = |block| variable(block, SPEC_VARIABLE);
        assert_eq!(spec(b"A=1\0NONDEX_SPEC={x}\0B=\xff\0"), Some("{x}"));
        assert_eq!(spec(b"A=1\0NONDEX_SPECS=2\0NOT_NONDEX_SPEC=3"), None);
    }

    #[test]
    fn a_child_reads_who_it_is() {
        assert_eq!(read("12:0.1/3"), Some((12, "0.1/3")));
        assert_eq!(read("0.1/3"), None);
        assert_eq!(read("x:0"), None);
    }

    #[test]
    fn children_of_one_command_line_are_counted() {
        let folder = std::env::temp_dir().join(format!("nondex-children-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let record = folder.join("1.jsonl");
        let notes = folder.join("1.children");
        std::fs::write(&notes, "/p1 1\n/p2 2\n/p1 3\n").unwrap();
        assert_eq!(before(&record, "/p1"), Some(2));
        assert_eq!(before(&record, "/p3"), Some(0));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_parent_is_read_as_the_system_reports_it() {
        assert_eq!(parent(Path::new("/proc/self/stat")), Some(std::os::unix::process::parent_id()));
    }
}
