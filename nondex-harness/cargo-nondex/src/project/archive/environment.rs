//! Environment variables of test executables: those that cargo sets, and those of the machine.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::roots::Roots;

type Variables = BTreeMap<OsString, OsString>;

/// Variable with the folders where the loader searches for dynamic libraries.
pub(super) const LIBRARIES: &str = "LD_LIBRARY_PATH";

/// Variables that cargo and rustup set to programs and folders of the machine.
const OF_MACHINE: [&str; 6] =
    ["CARGO", "CARGO_HOME", "PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUST_RECURSION_COUNT"];

/// Returns the variables in `all` that cargo added to `own`, the variables of this machine. Leaves
/// out those that name programs and folders of the machine.
pub(super) fn of_cargo(all: &Variables, own: &Variables) -> Variables {
    let of_machine = |name: &OsStr| OF_MACHINE.iter().any(|other| name == *other);
    let mut added: Variables = all
        .iter()
        .filter(|(name, value)| own.get(*name) != Some(*value) && !of_machine(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    // Cargo puts its folders before those of the machine, which another machine does not have.
    let libraries = added.get_mut(OsStr::new(LIBRARIES));
    let own = own.get(OsStr::new(LIBRARIES)).and_then(|own| own.to_str());
    if let Some((libraries, own)) = libraries.zip(own)
        && let Some(rest) = libraries.to_str().and_then(|all| all.strip_suffix(own))
    {
        *libraries = rest.trim_end_matches(':').into();
    }
    added
}

/// Returns the variables of a test executable on a machine whose variables are `own`. `added` are
/// the variables that cargo set on the machine that packed the tests.
pub(super) fn here(added: &Variables, own: &Variables, roots: &Roots) -> Variables {
    let mut all = own.clone();
    for (name, value) in added {
        let text = value.to_str().map(|text| roots.text(text));
        let mut value = text.map_or_else(|| value.clone(), OsString::from);
        if name == LIBRARIES
            && let Some(own) = own.get(name).filter(|own| !own.is_empty())
        {
            value.push(":");
            value.push(own);
        }
        all.insert(name.clone(), value);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn what_cargo_adds_is_added_to_what_another_machine_has() {
        let before =
            variables(&[("HOME", "/home/a"), ("PATH", "/bin"), ("LD_LIBRARY_PATH", "/a/lib")]);
        let mut all = before.clone();
        all.extend(variables(&[
            ("PATH", "/cargo:/bin"),
            ("CARGO", "/cargo/cargo"),
            ("CARGO_PKG_NAME", "shop"),
            ("OUT_DIR", "/w/target/out"),
            ("LD_LIBRARY_PATH", "/w/target/deps:/rust:/a/lib"),
        ]));
        let added = of_cargo(&all, &before);
        let expected = [
            ("CARGO_PKG_NAME", "shop"),
            ("LD_LIBRARY_PATH", "/w/target/deps:/rust"),
            ("OUT_DIR", "/w/target/out"),
        ];
        assert_eq!(added, variables(&expected));

        let roots = Roots::new(vec![["/w/target".into(), "/x".into()]]);
        let own = variables(&[("HOME", "/home/b"), ("LD_LIBRARY_PATH", "/b/lib")]);
        let expected = [
            ("CARGO_PKG_NAME", "shop"),
            ("HOME", "/home/b"),
            ("LD_LIBRARY_PATH", "/x/deps:/rust:/b/lib"),
            ("OUT_DIR", "/x/out"),
        ];
        assert_eq!(here(&added, &own, &roots), variables(&expected));
        let none = here(&added, &variables(&[]), &roots);
        assert_eq!(none[OsStr::new(LIBRARIES)], "/x/deps:/rust");
    }
}
