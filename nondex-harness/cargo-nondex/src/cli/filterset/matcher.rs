//! How a predicate matches a name.

use regex::bytes::Regex;

/// One of the four ways to match a name.
#[derive(Clone, Debug)]
pub(super) enum Matcher {
    /// `=text`: equal.
    Equal(String),
    /// `~text`: contains.
    Contains(String),
    /// `/regex/`: some part matches.
    Regex(Regex),
    /// `#glob`: the whole matches. Kept as the regex that globset makes of it, because its own
    /// matcher treats names as paths.
    Glob(Regex),
}

/// Which matcher a bare text means; it depends on the predicate.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bare {
    /// As `=text`.
    Equal,
    /// As `~text`.
    Contains,
    /// As `#text`.
    Glob,
}

impl Matcher {
    /// The matcher of `/pattern/`.
    ///
    /// # Errors
    /// When the pattern is not a regular expression: the message of the regex parser, on one line.
    pub(super) fn regex(pattern: &str) -> Result<Self, String> {
        Regex::new(pattern).map(Matcher::Regex).map_err(|error| one_line(&error))
    }

    /// The matcher of `#pattern`.
    ///
    /// # Errors
    /// When the pattern is not a glob.
    pub(super) fn glob(pattern: &str) -> Result<Self, String> {
        let glob = globset::GlobBuilder::new(pattern)
            // As nextest: metacharacters are escaped by brackets, and `foo{.exe,}` also matches
            // `foo`.
            .backslash_escape(false)
            .empty_alternates(true)
            .build()
            .map_err(|error| error.kind().to_string())?;
        Regex::new(glob.regex()).map(Matcher::Glob).map_err(|error| one_line(&error))
    }

    pub(super) fn is_match(&self, name: &str) -> bool {
        match self {
            Matcher::Equal(text) => name == text,
            Matcher::Contains(text) => name.contains(text),
            Matcher::Regex(regex) | Matcher::Glob(regex) => regex.is_match(name.as_bytes()),
        }
    }
}

/// The last line of a regex error is its message; the lines before it draw the pattern.
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
