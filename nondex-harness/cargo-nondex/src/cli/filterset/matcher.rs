//! Matches names against the argument of a predicate.

use regex::bytes::Regex;

/// Matcher of names, of one of four kinds.
#[derive(Clone, Debug)]
pub(super) enum Matcher {
    /// `=text`: the name equals the text.
    Equal(String),
    /// `~text`: the name contains the text.
    Contains(String),
    /// `/regex/`: a part of the name matches.
    Regex(Regex),
    /// `#glob`: the whole name matches. This is globset's regex for the glob, because globset's own
    /// matcher treats names as paths.
    Glob(Regex),
}

/// Matcher that a text without a prefix means. It depends on the predicate.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bare {
    /// Same as `=text`.
    Equal,
    /// Same as `~text`.
    Contains,
    /// Same as `#text`.
    Glob,
}

impl Matcher {
    /// Returns the matcher of `/pattern/`.
    ///
    /// # Errors
    /// Returns the message of the regex parser, on one line, if the pattern is invalid.
    pub(super) fn regex(pattern: &str) -> Result<Self, String> {
        Regex::new(pattern).map(Matcher::Regex).map_err(|error| one_line(&error))
    }

    /// Returns the matcher of `#pattern`.
    ///
    /// # Errors
    /// Returns a message if the pattern is not a glob.
    pub(super) fn glob(pattern: &str) -> Result<Self, String> {
        let glob = globset::GlobBuilder::new(pattern)
            // As in nextest, brackets escape metacharacters, and `foo{.exe,}` also matches `foo`.
            .backslash_escape(false)
            .empty_alternates(true)
            .build()
            .map_err(|error| error.kind().to_string())?;
        Regex::new(glob.regex()).map(Matcher::Glob).map_err(|error| one_line(&error))
    }

    /// Returns whether a name matches.
    pub(super) fn is_match(&self, name: &str) -> bool {
        match self {
            Matcher::Equal(text) => name == text,
            Matcher::Contains(text) => name.contains(text),
            Matcher::Regex(regex) | Matcher::Glob(regex) => regex.is_match(name.as_bytes()),
        }
    }
}

/// Returns the message of a regex error, which is its last line. The lines before it show the
/// pattern.
fn one_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_the_whole_name_and_is_not_a_path() {
        let glob = |pattern| Matcher::glob(pattern).unwrap();
        assert!(glob("a::*").is_match("a::b/c::d"));
        assert!(!glob("b*").is_match("ab"));
        assert!(glob("foo{.exe,}").is_match("foo"));
        assert!(glob("[*]").is_match("*"));
        assert!(!glob("[*]").is_match("x"));
    }

    #[test]
    fn an_invalid_pattern_says_why_on_one_line() {
        assert_eq!(Matcher::regex("[").unwrap_err(), "unclosed character class");
        assert_eq!(Matcher::glob("*[").unwrap_err(), "unclosed character class; missing ']'");
    }
}
