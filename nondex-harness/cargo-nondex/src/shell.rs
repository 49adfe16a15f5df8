//! Command lines that can be pasted into a shell.

use std::borrow::Cow;

/// Returns the argument as a POSIX shell reads it: in single quotes, unless nothing in it needs
/// them.
pub fn quote(argument: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return Cow::Borrowed(argument);
    }
    Cow::Owned(format!("'{}'", argument.replace('\'', r"'\''")))
}

/// Returns the arguments as one command line.
pub fn join<'a>(arguments: impl IntoIterator<Item = &'a str>) -> String {
    arguments.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_change_is_quoted() {
        assert_eq!(
            join(["cargo", "nondex", "-E", "test(a b)", "it's", "", "a$b", "--x=1"]),
            r"cargo nondex -E 'test(a b)' 'it'\''s' '' 'a$b' --x=1"
        );
    }
}
