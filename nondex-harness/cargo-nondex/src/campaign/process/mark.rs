//! Mark of a run's processes: the environment entry with the spec, which no other run has.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use nondex_core::protocol::spec::SPEC_VARIABLE;

/// Returns the mark that a command gives to its process.
pub(super) fn given(command: &Command) -> Option<Vec<u8>> {
    let (_, value) = command.get_envs().find(|(name, _)| *name == SPEC_VARIABLE)?;
    let mut entry = OsString::from(SPEC_VARIABLE);
    entry.push("=");
    entry.push(value?);
    Some(entry.as_bytes().to_vec())
}

/// Returns the mark that a process was started with.
pub(super) fn of(process: i32) -> Option<Vec<u8>> {
    let block = std::fs::read(format!("/proc/{process}/environ")).ok()?;
    found_in(&block).map(<[u8]>::to_vec)
}

/// Returns the entry with the spec in the environment block of a process.
fn found_in(block: &[u8]) -> Option<&[u8]> {
    block.split(|byte| *byte == 0).find(|entry| {
        entry.strip_prefix(SPEC_VARIABLE.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_found_in_a_block_whatever_else_is_there() {
        let block = b"A=1\0NONDEX_SPEC={x}\0B=\xff\0";
        assert_eq!(found_in(block), Some(&b"NONDEX_SPEC={x}"[..]));
        assert_eq!(found_in(b"A=1\0NONDEX_SPECS=2"), None);
    }
}
