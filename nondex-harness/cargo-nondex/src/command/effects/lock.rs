//! Packages of the project that a change of `Cargo.lock` affects, because they depend on changed
//! entries.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::project::reached;

/// Returns the packages of the project that the difference between two lock files affects, each
/// with a line of the second file that shows it. Returns `None` if this cannot be determined. A
/// package with another version may enable other features of everything that it depends on, or
/// depended on.
pub(super) fn locked(before: &str, after: &str) -> Option<Vec<(String, u32)>> {
    let [old, new] = [before, after].map(File::of);
    let (old, new) = old.zip(new)?;
    if old.rest != new.rest {
        return None;
    }
    let different: BTreeSet<&str> =
        old.packages.symmetric_difference(&new.packages).map(|(name, _)| name.as_str()).collect();
    let mut edges = old.edges;
    for (name, others) in new.edges {
        edges.entry(name).or_default().extend(others);
    }
    let parts_of =
        |name: &str| edges.get(name).into_iter().flatten().map(String::as_str).collect::<Vec<_>>();
    let affected = reached(different.iter().copied(), parts_of);
    let acted_on = new.own.union(&old.own).map(String::as_str).filter_map(|package| {
        let parts = reached([package], parts_of);
        let mut why = parts.intersection(&affected);
        // A changed package is better evidence than a package that depends on it.
        let named = parts.intersection(&different).next().or_else(|| why.next())?;
        Some((package.to_owned(), line_of(after, named)))
    });
    Some(acted_on.collect())
}

/// Contents of a lock file.
#[derive(Debug, Default)]
struct File {
    /// Name and whole entry of each package.
    packages: BTreeSet<(String, String)>,
    /// Names of the dependencies of each package, over all its versions.
    edges: BTreeMap<String, BTreeSet<String>>,
    /// Packages without a source, which belong to the project.
    own: BTreeSet<String>,
    /// Everything else in the file.
    rest: Table,
}

impl File {
    /// Parses a lock file. Returns `None` if it is malformed.
    fn of(text: &str) -> Option<Self> {
        let mut file = File { rest: text.parse().ok()?, ..File::default() };
        let Value::Array(packages) = file.rest.remove("package")? else { return None };
        for package in &packages {
            let name = package.get("name")?.as_str()?;
            let dependencies = package.get("dependencies").and_then(Value::as_array);
            // An entry is a name, followed by a version and a source if several packages have this
            // name.
            let names = dependencies
                .into_iter()
                .flatten()
                .filter_map(|entry| Some(entry.as_str()?.split(' ').next()?.to_owned()));
            file.edges.entry(name.to_owned()).or_default().extend(names);
            if package.get("source").is_none() {
                file.own.insert(name.to_owned());
            }
            file.packages.insert((name.to_owned(), package.to_string()));
        }
        Some(file)
    }
}

/// Returns the line of a package's entry, or 1.
fn line_of(text: &str, package: &str) -> u32 {
    let name = format!("name = \"{package}\"");
    text.lines().zip(1..).find(|(line, _)| *line == name).map_or(1, |(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a lock file with these packages: name, version and dependencies. Packages with a
    /// capital letter belong to the project.
    fn file(packages: &[(&str, u8, &[&str])]) -> String {
        let mut text = "version = 4\n".to_owned();
        for (name, version, others) in packages {
            let source = if name.starts_with(char::is_uppercase) {
                ""
            } else {
                "source = \"registry+https://example.com\"\n"
            };
            text += &format!(
                "\n[[package]]\nname = \"{name}\"\nversion = \"{version}.0.0\"\n\
                 {source}dependencies = {others:?}\n"
            );
        }
        text
    }

    #[test]
    fn what_is_locked_otherwise_acts_on_those_that_depend_on_it_or_on_what_it_depends_on() {
        let of = |a: u8, a_needs: &'static [&'static str]| {
            file(&[
                ("First", 1, &["a"]),
                ("Second", 1, &["shared"]),
                ("Third", 1, &["First"]),
                ("Fourth", 1, &["d 1.0.0"]),
                ("a", a, a_needs),
                ("d", 1, &[]),
                ("shared", 1, &[]),
            ])
        };
        let names = |before: &str, after: &str| {
            let found = locked(before, after).unwrap().into_iter();
            found.map(|(package, _)| package).collect::<Vec<_>>()
        };
        let none: [&str; 0] = [];
        assert_eq!(names(&of(1, &[]), &of(1, &[])), none);
        assert_eq!(names(&of(1, &[]), &of(2, &[])), ["First", "Third"]);
        // `a` may enable features of `shared`, which another package uses too.
        let all = ["First", "Second", "Third"];
        assert_eq!(names(&of(1, &["shared"]), &of(2, &["shared"])), all);
        assert_eq!(names(&of(1, &["shared"]), &of(2, &[])), all);
        let found = locked(&of(1, &[]), &of(2, &[])).unwrap();
        assert_eq!(of(2, &[]).lines().nth(found[0].1 as usize - 1), Some("name = \"a\""));
    }

    #[test]
    fn nothing_is_said_of_a_lock_file_that_cannot_be_read_or_is_of_another_version() {
        let plain = file(&[("A", 1, &[])]);
        assert_eq!(locked("", &plain), None);
        assert_eq!(locked("<<<<", &plain), None);
        let other = plain.replace("version = 4", "version = 3");
        assert_eq!(locked(&other, &plain), None);
        let patched = format!("{plain}\n[[patch.unused]]\nname = \"x\"\n");
        assert_eq!(locked(&plain, &patched), None);
    }
}
