//! A child process of a test works for the same test.
//!
//! Our variable is gone from the environment by then, so that a test sees the environment that cargo gives it. But the
//! block of variables a process was *started* with stays readable (Linux: `/proc/<pid>/environ`), so a program that is
//! built over the facade looks for it in its ancestors. The search costs a read or two, once in a process.
//!
//! A child is told apart by its program's name and its arguments: two calls of one command line choose alike.

use std::path::Path;

use crate::hash;
use crate::spec::{RunSpec, SPEC_VARIABLE};

/// How far up an ancestor is looked for: a test, a shell, a tool, and some.
const GENERATIONS: usize = 16;

/// The spec an ancestor was started with, and what stands in front of this process's thread paths.
pub(crate) fn find() -> Option<(RunSpec, String)> {
    let mut pid = parent(Path::new("/proc/self/stat"))?;
    for _ in 0..GENERATIONS {
        if pid <= 1 {
            return None;
        }
        let block = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        if let Some(text) = variable(&block) {
            return Some((RunSpec::from_json(text).ok()?, process()));
        }
        pid = parent(Path::new(&format!("/proc/{pid}/stat")))?;
    }
    None
}

fn variable(block: &[u8]) -> Option<&str> {
    let value = block.split(|&byte| byte == 0).find_map(|entry| {
        entry
            .strip_prefix(SPEC_VARIABLE.as_bytes())?
            .strip_prefix(b"=")
    })?;
    std::str::from_utf8(value).ok()
}

/// The parent in a `stat` file: the second field after the program's name, which stands in parentheses and may hold
/// anything.
fn parent(stat: &Path) -> Option<u32> {
    let text = std::fs::read(stat).ok()?;
    let text = String::from_utf8_lossy(&text);
    text.rsplit_once(')')?
        .1
        .split_ascii_whitespace()
        .nth(1)?
        .parse()
        .ok()
}

fn process() -> String {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    let name = Path::new(&program).file_name().unwrap_or_default();
    let words: Vec<_> = words.collect();
    format!(
        "p{:08x}.",
        hash::of(&(
            name.as_encoded_bytes(),
            words
                .iter()
                .map(|w| w.as_encoded_bytes())
                .collect::<Vec<_>>()
        )) as u32
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_found_in_a_block_whatever_else_is_there() {
        assert_eq!(variable(b"A=1\0NONDEX_SPEC={x}\0B=\xff\0"), Some("{x}"));
        assert_eq!(variable(b"A=1\0NONDEX_SPECS=2\0NOT_NONDEX_SPEC=3"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_parent_is_read_as_the_system_reports_it() {
        assert_eq!(
            parent(Path::new("/proc/self/stat")),
            Some(std::os::unix::process::parent_id())
        );
    }
}
