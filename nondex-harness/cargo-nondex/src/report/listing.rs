//! Long lists of names, shortened.

/// The first of these names, up to a limit, and how many more there are: `a, b and 7 more`.
#[must_use]
pub fn first(names: &[impl AsRef<str>], most: usize) -> String {
    let (shown, rest) = names.split_at(most.min(names.len()));
    let shown: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match rest.len() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_whole_where_it_is_short() {
        assert_eq!(first(&[""; 0], 3), "");
        assert_eq!(first(&["a", "b"], 2), "a, b");
        assert_eq!(first(&["a", "b", "c"], 2), "a, b and 1 more");
    }
}
