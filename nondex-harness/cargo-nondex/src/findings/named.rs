//! Selects a finding by its id, its test, or a part of either.

use std::collections::BTreeSet;

use super::finding::Finding;
use crate::error::{Error, Result};

/// Maximum number of names that an error lists.
const MAX_LISTED: usize = 20;

/// Returns the finding that `text` selects, if there is one. `latest` selects the first finding.
/// Otherwise `text` is a complete id or test name, or else the beginning of an id or a part of a
/// test id. A test selects its first finding.
///
/// # Errors
/// Returns a usage error that lists the candidates when there are several.
pub fn choose<'a>(findings: &'a [Finding], text: &str) -> Result<Option<&'a Finding>> {
    if text == "latest" {
        return Ok(findings.first());
    }
    if text.is_empty() {
        return Ok(None);
    }
    if let Some(exact) = findings.iter().find(|one| one.id == text) {
        return Ok(Some(exact));
    }
    let mut tests = BTreeSet::new();
    let firsts: Vec<&Finding> = findings.iter().filter(|one| tests.insert(&one.test)).collect();
    let whole = |one: &&&Finding| one.test == text || one.spec.test == text;
    let mut found: Vec<&Finding> = firsts.iter().filter(whole).copied().collect();
    if found.is_empty() {
        found.extend(findings.iter().filter(|one| one.id.starts_with(text)));
        let named_partly: Vec<_> =
            firsts.iter().filter(|one| one.test.contains(text) && !found.contains(one)).collect();
        found.extend(named_partly);
    }
    let named = found.into_iter().map(|one| (format!("{} of {}", one.id, one.test), one));
    only(text, "findings", named.collect())
}

/// Returns the single candidate for `text`. Each candidate comes with its name.
///
/// # Errors
/// Returns a usage error that lists the candidates when there are several.
pub fn only<T>(text: &str, what: &str, mut found: Vec<(String, T)>) -> Result<Option<T>> {
    if found.len() < 2 {
        return Ok(found.pop().map(|(_, one)| one));
    }
    let names: String =
        found.iter().take(MAX_LISTED).map(|(name, _)| format!("\n  {name}")).collect();
    let more = match found.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        more => format!("\n  and {more} more"),
    };
    Err(Error::usage(format!("`{text}` may be several {what}:{names}{more}")))
}

#[cfg(test)]
mod tests {
    use nondex_core::Level;

    use super::*;
    use crate::exit_code::ExitCode;
    use crate::findings::finding::tests::finding;

    #[test]
    fn a_whole_name_is_taken_before_a_part_and_a_part_must_be_of_one_test() {
        let findings = [
            finding("reads::cache", Level::Std, 1),
            finding("reads::cache", Level::Std, 2),
            finding("reads::cache_twice", Level::One, 1),
            finding("writes", Level::One, 3),
        ];
        let chosen = |text: &str| choose(&findings, text).map(|found| found.map(|one| &one.id));
        for (text, expected) in [
            ("latest", Some(0)),
            ("reads::cache", Some(0)),
            ("a$reads::cache", Some(0)),
            ("twice", Some(2)),
            ("a$writ", Some(3)),
            (findings[1].id.as_str(), Some(1)),
            (&findings[1].id[..7], Some(1)),
            ("nothing", None),
            ("", None),
        ] {
            let expected = expected.map(|at: usize| &findings[at].id);
            assert_eq!(chosen(text).unwrap(), expected, "{text}");
        }
        let error = chosen("cache").unwrap_err();
        assert_eq!(error.code(), ExitCode::Usage);
        assert_eq!(
            error.to_string(),
            format!(
                "`cache` may be several findings:\n  {} of a$reads::cache\n  \
                 {} of a$reads::cache_twice",
                findings[0].id, findings[2].id
            )
        );
        // A text that begins an id and is part of another test's name is ambiguous.
        let begins = &findings[0].id[..3];
        let named = finding(&format!("about_{begins}"), Level::Std, 1);
        let both = [findings[0].clone(), named];
        assert!(choose(&both, begins).is_err());
    }

    #[test]
    fn a_long_list_is_cut() {
        let many = (0..30).map(|n| (n.to_string(), n)).collect();
        let text = only("x", "tests", many).unwrap_err().to_string();
        assert!(text.ends_with("\n  19\n  and 10 more"), "{text}");
    }
}
