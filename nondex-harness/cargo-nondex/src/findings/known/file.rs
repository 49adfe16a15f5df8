//! Reads and edits the file of known flakes.

use std::ops::Range;

use camino::Utf8Path;
use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::error::{Error, Result};
use crate::file;
use crate::report::Verdict;
use crate::toml_error;

/// Path of the file, relative to the root of the workspace.
pub const KNOWN_FILE: &str = ".config/nondex-known.toml";

/// The line that begins an entry in the file.
const HEADER: &str = "[[known]]";

/// The content of the file.
#[derive(Clone, Debug, Default)]
pub struct Known {
    text: String,
    entries: Vec<KnownEntry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(default)]
    known: Vec<Spanned<KnownEntry>>,
}

/// One test or several tests that are known to be flaky.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownEntry {
    /// The id of the test, `<binary-id>$<test name>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// A filterset, in place of one test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filterset: Option<String>,
    /// Why the test is not fixed yet.
    pub reason: String,
    /// Where the reason is documented, such as an issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The last day on which it may be flaky.
    #[serde(with = "super::date")]
    pub expires: NaiveDate,
    /// The known verdict. Without it, the entry covers any flaky verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The known [cause](super::cause()). Without it, the entry covers any cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cause: Vec<String>,
}

impl KnownEntry {
    /// Returns the id of the test, or the filterset.
    pub fn name(&self) -> &str {
        self.test.as_ref().or(self.filterset.as_ref()).map_or("", String::as_str)
    }

    /// Returns whether the entry covers a failure: it has the known verdict, and every cause that
    /// was `found` is known, or one that is `shared` by seeds. Known causes may be absent, because
    /// a search that ends early finds fewer.
    pub(super) fn covers(&self, verdict: Verdict, found: &[String], shared: &[String]) -> bool {
        let is_known = |cause: &String| self.cause.is_empty() || self.cause.contains(cause);
        self.verdict.is_none_or(|known| known == verdict)
            && (found.iter().all(is_known) || shared.iter().any(is_known))
    }

    /// Describes the known verdict and cause for people.
    pub(super) fn words(&self) -> String {
        let verdict = self.verdict.map_or("flaky", Verdict::name);
        match self.cause.as_slice() {
            [] => verdict.to_owned(),
            causes => format!("{verdict} by {}", causes.join(" and ")),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.test.is_some() == self.filterset.is_some() {
            return Err("an entry needs either `test` or `filterset`".to_owned());
        }
        if let Some(test) = self.test.as_ref().filter(|test| !test.contains('$')) {
            return Err(format!(
                "`test = \"{test}\"` is not a test id, expected `<binary-id>$<test name>` as in \
                 reports"
            ));
        }
        let name = self.name();
        if self.reason.trim().is_empty() {
            return Err(format!("`{name}` has no reason"));
        }
        match self.verdict.filter(|verdict| !verdict.is_flaky()) {
            Some(verdict) => {
                Err(format!("`{name}` has the verdict `{verdict}`, which is not a flaky one"))
            }
            None => Ok(()),
        }
    }
}

impl Known {
    /// Reads the file. Returns an empty list if there is no file.
    ///
    /// # Errors
    /// Returns a set-up error that describes what is wrong with the file.
    pub fn read(path: &Utf8Path) -> Result<Self> {
        let Some(text) = file::read_if_there(path)? else { return Ok(Self::default()) };
        Self::parse(text, path).map_err(Error::setup)
    }

    /// Parses `text`; `path` is for messages.
    pub(super) fn parse(text: String, path: &Utf8Path) -> Result<Self, String> {
        let content: Content =
            toml::from_str(&text).map_err(|error| toml_error::wrong(&error, &text, path))?;
        for entry in &content.known {
            let wrong = |why| format!("{}: {why}", toml_error::place(&text, path, &entry.span()));
            entry.get_ref().check().map_err(wrong)?;
        }
        let entries = content.known.into_iter().map(Spanned::into_inner).collect();
        Ok(Known { entries, text })
    }

    /// Returns the entries in the order of the file.
    pub fn entries(&self) -> &[KnownEntry] {
        &self.entries
    }

    /// Appends an entry and removes those with the same name. The rest of the file is unchanged.
    ///
    /// # Errors
    /// Returns an error when the entry is incomplete, or an old one cannot be located in the text.
    pub fn add(&mut self, entry: KnownEntry) -> Result<(), String> {
        entry.check()?;
        self.remove(|old| old.name() == entry.name())?;
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push_str(if self.text.ends_with('\n') { "\n" } else { "\n\n" });
        }
        let written = toml::to_string(&entry).map_err(|e| e.to_string())?;
        self.text.push_str(HEADER);
        self.text.push('\n');
        self.text.push_str(&written);
        self.entries.push(entry);
        Ok(())
    }

    /// Removes the selected entries and the comments directly before them. Returns their number.
    ///
    /// # Errors
    /// Returns an error when the entries cannot be located in the text. This happens when a person
    /// wrote an entry that does not start with a line `[[known]]`.
    pub fn remove(&mut self, is_removed: impl Fn(&KnownEntry) -> bool) -> Result<usize, String> {
        let before = self.entries.len();
        if !self.entries.iter().any(&is_removed) {
            return Ok(0);
        }
        let pieces = pieces(&self.text);
        if pieces.len() != before {
            return Err(format!(
                "entries can only be removed from a file in which each begins with a line \
                 `{HEADER}`"
            ));
        }
        let removed: Vec<_> =
            pieces.into_iter().zip(&self.entries).filter(|(_, entry)| is_removed(entry)).collect();
        // From the end, so that the remaining ranges stay valid.
        for (piece, _) in removed.into_iter().rev() {
            self.text.replace_range(piece, "");
        }
        self.entries.retain(|entry| !is_removed(entry));
        Ok(before - self.entries.len())
    }

    /// Writes the file, and creates its directory if necessary.
    ///
    /// # Errors
    /// Returns a set-up error with the path.
    pub fn write(&self, path: &Utf8Path) -> Result<()> {
        file::write(path, &self.text)
    }
}

/// Returns the byte range of each entry in the text, including the comments directly before it.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut starts = Vec::new();
    let mut at = 0;
    let mut comments = None;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        if content.starts_with('#') {
            comments.get_or_insert(at);
        } else if content == HEADER {
            starts.push(comments.take().unwrap_or(at));
        } else {
            comments = None;
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Flaky, we know.\n\n# The first.\n[[known]]\ntest = \"a$b\"\n\
        reason = \"later\"\nexpires = 2027-01-31\n\n# The second.\n# It is a set.\n[[known]]\n\
        filterset = \"test(c)\"\nreason = \"sleeps\" # a lot\nexpires = 2027-02-28\n\
        verdict = \"ND\"\n";

    fn parse(text: &str) -> Result<Known, String> {
        Known::parse(text.to_owned(), KNOWN_FILE.into())
    }

    #[test]
    fn entries_are_added_and_removed_and_all_else_stays() {
        let mut known = parse(FILE).unwrap();
        assert_eq!(known.entries().len(), 2);
        let entry = KnownEntry {
            cause: vec!["x at src/lib.rs: y(\"z\")".to_owned()],
            ..known.entries()[0].clone()
        };
        known.add(entry.clone()).unwrap();
        let again = parse(&known.text).unwrap();
        assert_eq!(again.entries(), known.entries());
        assert_eq!(again.entries()[1], entry);
        assert!(known.text.starts_with("# Flaky, we know.\n\n# The second.\n"), "{}", known.text);
        assert_eq!(known.remove(|entry| entry.test.is_some()), Ok(1));
        assert_eq!(known.remove(|_| true), Ok(1));
        assert_eq!(known.text, "# Flaky, we know.\n\n");
        assert_eq!(known.remove(|_| true), Ok(0));
    }

    #[test]
    fn an_entry_that_cannot_be_found_is_not_removed() {
        let text = "known = [{ test = \"a$b\", reason = \"x\", expires = 2027-01-31 }]\n";
        let mut known = parse(text).unwrap();
        assert!(known.remove(|_| true).unwrap_err().contains("[[known]]"));
        assert_eq!(known.text, text);
    }

    #[test]
    fn what_is_wrong_with_an_entry_is_said() {
        for (entry, expected) in [
            ("reason = \"x\"\nexpires = 2027-01-31", "either `test` or `filterset`"),
            (
                "test = \"a$b\"\nfilterset = \"all()\"\nreason = \"x\"\nexpires = 2027-01-31",
                "either `test` or `filterset`",
            ),
            ("test = \"a::b\"\nreason = \"x\"\nexpires = 2027-01-31", "not a test id"),
            ("test = \"a$b\"\nreason = \" \"\nexpires = 2027-01-31", "no reason"),
            ("test = \"a$b\"\nreason = \"x\"", ":1:1: `[[known]]`: missing key `expires`"),
            (
                "test = \"a$b\"\nreason = \"x\"\nexpires = \"soon\"",
                ":4:11: `expires = \"soon\"`: `\"soon\"` is not a date, expected one such as \
                 2027-01-31",
            ),
            (
                "test = \"a$b\"\nreason = 3",
                ":3:10: `reason = 3`: invalid type: integer `3`, expected a string",
            ),
            ("test = \"a$b\"\nreason", ":3:7: `reason`: key with no value, expected `=`"),
            ("test = \"a$b\"\nreason = \"x\"\nexpires = 10:00:00", "not a date"),
            (
                "test = \"a$b\"\nreason = \"x\"\nexpires = 2027-01-31\nverdict = \"broken\"",
                "not a flaky one",
            ),
            (
                "test = \"a$b\"\nreason = \"x\"\nexpires = 2027-01-31\nuntil = 1",
                "unknown key `until`",
            ),
        ] {
            let error = parse(&format!("[[known]]\n{entry}\n")).unwrap_err();
            assert!(error.starts_with(".config/nondex-known.toml:"), "{error}");
            assert!(error.contains(expected), "{entry}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
