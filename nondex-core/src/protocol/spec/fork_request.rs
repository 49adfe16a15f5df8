//! Request to a fork server: a test executable that forks test processes. The driver sends it as
//! one message, with the descriptor for the output of the fork.

use super::SPEC_VARIABLE;

/// First byte of the value of [`SPEC_VARIABLE`] in a fork server. The other bytes are room for the
/// specs of its forks.
pub const FORK_SERVER: u8 = b'#';

/// What a fork of a server gets in place of what the server was started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkRequest<'r> {
    /// Environment entries (`NAME=value`), each with a NUL at its end. The server was started with
    /// longer values of these variables.
    pub variables: &'r [u8],
    /// Arguments after the name of the program, each with a NUL at its end.
    pub arguments: &'r [u8],
}

impl<'r> ForkRequest<'r> {
    /// Variables that have other values in each fork, with the maximum lengths of their values in
    /// bytes.
    pub const VARIABLES: [(&'static str, usize); 2] = [(SPEC_VARIABLE, 4096), ("TMPDIR", 512)];
    /// Maximum length of all arguments in bytes, with their NULs.
    pub const MAX_ARGUMENTS: usize = 1024;
    /// Maximum number of arguments.
    pub const MAX_COUNT: usize = 16;
    /// Maximum length of a request in bytes.
    pub const MAX_LENGTH: usize = {
        let (mut length, mut at) = (1 + Self::MAX_ARGUMENTS, 0);
        while at < Self::VARIABLES.len() {
            let (name, value) = Self::VARIABLES[at];
            length += name.len() + 1 + value + 1;
            at += 1;
        }
        length
    };

    /// Returns the request as a message: the entries, an empty one, and the arguments. Returns
    /// `None` if a server has no room for it.
    pub fn message(&self) -> Option<Vec<u8>> {
        let count = self.arguments.iter().filter(|byte| **byte == 0).count();
        let has_room = self.variables().all(|(name, value)| {
            let same = Self::VARIABLES.iter().find(|(known, _)| known.as_bytes() == name);
            same.is_some_and(|(_, length)| value.len() <= *length)
        });
        let is_short = self.arguments.len() <= Self::MAX_ARGUMENTS && count <= Self::MAX_COUNT;
        (has_room && is_short).then(|| [self.variables, b"\0", self.arguments].concat())
    }

    /// Parses a message. Allocates no memory.
    pub fn parse(message: &'r [u8]) -> Option<Self> {
        let is_end = |at: &usize| message[*at] == 0 && (*at == 0 || message[at - 1] == 0);
        let end = (0..message.len()).find(is_end)?;
        Some(ForkRequest { variables: &message[..end], arguments: &message[end + 1..] })
    }

    /// Returns the names and values of the variables.
    pub fn variables(&self) -> impl Iterator<Item = (&'r [u8], &'r [u8])> {
        let entries = self.variables.split(|byte| *byte == 0);
        entries.filter_map(|entry| {
            let end = entry.iter().position(|byte| *byte == b'=')?;
            Some((&entry[..end], &entry[end + 1..]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns values of all variables, the spec's with this many bytes more than fit.
    fn variables(more: usize) -> String {
        let [spec, temporary] = ForkRequest::VARIABLES;
        let entry = |(name, length): (&str, usize)| format!("{name}={}\0", "x".repeat(length));
        entry((spec.0, spec.1 + more)) + &entry(temporary)
    }

    #[test]
    fn a_request_is_read_as_it_was_written_unless_it_is_too_long() {
        let (longest, longer) = (variables(0), variables(1));
        let mut arguments = [b'x'; ForkRequest::MAX_ARGUMENTS];
        arguments[ForkRequest::MAX_ARGUMENTS - ForkRequest::MAX_COUNT..].fill(0);
        let usual = ForkRequest { variables: b"NONDEX_SPEC={}\0TMPDIR=/a=b\0", arguments: b"a\0" };
        let largest = ForkRequest { variables: longest.as_bytes(), arguments: &arguments };
        for request in [usual, largest, ForkRequest { arguments: b"", ..usual }] {
            assert_eq!(ForkRequest::parse(&request.message().unwrap()), Some(request));
        }
        assert_eq!(largest.message().unwrap().len(), ForkRequest::MAX_LENGTH);
        let variables: Vec<_> = usual.variables().collect();
        assert_eq!(variables, [(&b"NONDEX_SPEC"[..], &b"{}"[..]), (b"TMPDIR", b"/a=b")]);
        for refused in [
            ForkRequest { variables: longer.as_bytes(), ..usual },
            ForkRequest { variables: b"OTHER=1\0", ..usual },
            ForkRequest { arguments: &[0; ForkRequest::MAX_COUNT + 1], ..usual },
            ForkRequest { arguments: &[b'x'; ForkRequest::MAX_ARGUMENTS + 1], ..usual },
        ] {
            assert_eq!(refused.message(), None);
        }
        assert_eq!(ForkRequest::parse(b"no end"), None);
    }
}
