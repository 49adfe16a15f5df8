//! Suggestions for mistyped names.

/// Minimum similarity of two names, from 0 to 1. clap requires 0.7 of a measure that gives more
/// weight to common beginnings.
const MIN_SIMILARITY: f64 = 0.6;

/// Returns the known name that is most similar to `name`, if one is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A flag is often written like a key or a variable, and vice versa.
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let name = plain(name);
    known
        .into_iter()
        .map(|known| {
            let similarity = strsim::normalized_damerau_levenshtein(&name, &plain(known));
            (similarity, known)
        })
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, known)| known)
}

/// Returns the end of a message about an unknown name: the nearest known name, or all of them.
pub fn instead<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => {
            let known: Vec<&str> = known.into_iter().collect();
            format!("expected one of: {}", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_other_words_are_not() {
        let known = ["levels", "seeds", "clean-runs", "no-sanitise"];
        for (name, expected) in [
            ("level", Some("levels")),
            ("leves", Some("levels")),
            ("clean_runs", Some("clean-runs")),
            ("CLEAN-RUN", Some("clean-runs")),
            ("no-sanitize", Some("no-sanitise")),
            ("retries", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
        assert_eq!(instead("sedes", known), "did you mean `seeds`?");
        assert_eq!(instead("x", ["a", "b"]), "expected one of: a, b");
    }
}
