//! Checks the packages, targets and features that a plan names. If one of them does not exist,
//! cargo fails in the same way as for an error of the compiler.

use std::collections::BTreeSet;

use cargo_metadata::{Metadata, Package, TargetKind};

use super::plan::{BuildPlan, Mode};
use crate::error::{Error, Result};

/// Maximum number of names that an error lists.
const MAX_LISTED: usize = 20;

/// Flags that name a target, with a description and its kind.
const TARGETS: [(&str, &str, TargetKind); 4] = [
    ("--bin", "binary", TargetKind::Bin),
    ("--example", "example", TargetKind::Example),
    ("--test", "test target", TargetKind::Test),
    ("--bench", "benchmark", TargetKind::Bench),
];

/// Package whose types `--mode swap` switches.
const SWAPPED: &str = "nondex-collections";

/// Refuses a plan that cargo would refuse as if the project did not build. Such a plan has a name
/// that is certain to be in none of the selected packages, or flags that exclude each other.
/// `is_dependency` returns whether a member of the workspace depends on the package with this name.
///
/// # Errors
/// Returns a usage error with the names that exist. Returns a set-up error if `--mode swap` is
/// selected and no selected package depends on [`SWAPPED`].
pub(super) fn check(
    plan: &BuildPlan,
    metadata: &Metadata,
    is_dependency: impl Fn(&str) -> Result<bool>,
) -> Result<()> {
    if !plan.workspace && !plan.exclude.is_empty() {
        return Err(Error::usage("--exclude can only be used together with --workspace"));
    }
    let members = metadata.workspace_packages();
    let is_member = |name: &str| members.iter().any(|package| *package.name == name);
    let mut are_members = true;
    for spec in &plan.packages {
        let name = spec.split('@').next().unwrap_or_default();
        if !is_plain(name) {
            are_members = false;
        } else if !is_member(name) {
            are_members = false;
            if !is_dependency(name)? {
                let names = members.iter().map(|package| package.name.to_string());
                return Err(none("package", name, names.collect()));
            }
        }
    }
    if !are_members {
        return Ok(());
    }
    let selected = selected(plan, metadata);
    if plan.mode == Mode::Swap && !selected.iter().any(|package| imports(package)) {
        return Err(Error::setup(format!(
            "`--mode swap` varies what is imported from `{SWAPPED}`, and no selected package \
             depends on it: add the dependency, select another package by `-p` or `--workspace`, \
             or leave the mode out"
        )));
    }
    let pairs = plan.targets.iter().zip(plan.targets.iter().skip(1));
    for (flag, name) in pairs {
        let Some((_, what, kind)) = TARGETS.iter().find(|(known, ..)| known == flag) else {
            continue;
        };
        let names: BTreeSet<String> = selected
            .iter()
            .flat_map(|package| &package.targets)
            .filter(|target| target.kind.contains(kind))
            .map(|target| target.name.clone())
            .collect();
        if is_plain(name) && !names.contains(name) {
            return Err(none(what, name, names));
        }
    }
    let flags = plan.flags.iter().zip(plan.flags.iter().skip(1));
    let lists = flags.filter(|(flag, _)| *flag == "--features");
    for name in lists.flat_map(|(_, list)| list.split([',', ' '])).filter(|name| is_plain(name)) {
        // The feature may be one of the current package, whichever packages are selected.
        let known: BTreeSet<String> =
            members.iter().flat_map(|package| package.features.keys()).cloned().collect();
        if !known.contains(name) {
            return Err(none("feature", name, known));
        }
    }
    Ok(())
}

/// Returns whether a package is [`SWAPPED`], or depends on it by this name.
fn imports(package: &Package) -> bool {
    let mut names = package.dependencies.iter().map(|of| of.rename.as_deref().unwrap_or(&of.name));
    *package.name == SWAPPED || names.any(|name| name == SWAPPED)
}

/// Returns the members that a plan selects. The plan must not name other packages.
pub(super) fn selected<'m>(plan: &BuildPlan, metadata: &'m Metadata) -> Vec<&'m Package> {
    let is_in = |package: &&Package| {
        let is_named = |spec: &String| spec.split('@').next() == Some(package.name.as_str());
        if !plan.packages.is_empty() {
            plan.packages.iter().any(is_named)
        } else if plan.workspace {
            !plan.exclude.iter().any(is_named)
        } else {
            metadata.workspace_default_members.contains(&package.id)
        }
    };
    metadata.workspace_packages().into_iter().filter(is_in).collect()
}

/// Returns whether this is one plain name: not a pattern, a URL, or several features.
fn is_plain(name: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.chars().all(is_of_name)
}

/// Returns the error for a name that does not exist. `names` are those that do.
fn none(what: &str, name: &str, names: BTreeSet<String>) -> Error {
    let more = names.len().saturating_sub(MAX_LISTED);
    let listed: Vec<String> = names.into_iter().take(MAX_LISTED).collect();
    let there = match (listed.as_slice(), more) {
        ([], _) => "there is none".to_owned(),
        (names, 0) => format!("there are: {}", names.join(", ")),
        (names, more) => format!("there are: {} and {more} more", names.join(", ")),
    };
    Error::usage(format!("no {what} is called `{name}`; {there}"))
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use serde_json::{Value, json};

    use super::*;
    use crate::exit_code::ExitCode;

    /// Returns the metadata of a workspace with `shop`, the default member, and `store`.
    fn metadata() -> Metadata {
        let package = |name: &str, targets: &[(&str, &str)]| {
            let targets = targets.iter().map(|(kind, name)| {
                json!({
                    "name": name, "kind": [kind], "crate_types": ["bin"],
                    "src_path": "/w/src/x.rs",
                })
            });
            json!({
                "name": name, "version": "1.0.0", "id": name, "source": null,
                "dependencies": [], "targets": targets.collect::<Vec<Value>>(),
                "features": {"fast": []}, "manifest_path": "/w/Cargo.toml",
            })
        };
        let metadata = json!({
            "packages": [
                package("shop", &[("lib", "shop"), ("test", "cart"), ("bin", "till")]),
                package("store", &[("test", "disk")]),
            ],
            "workspace_members": ["shop", "store"],
            "workspace_default_members": ["shop"],
            "resolve": null,
            "workspace_root": Utf8Path::new("/w"),
            "target_directory": "/w/target",
            "version": 1,
        });
        serde_json::from_value(metadata).unwrap()
    }

    fn checked(plan: &BuildPlan) -> Result<(), String> {
        let checked = check(plan, &metadata(), |name| Ok(name == "serde"));
        checked.map_err(|error| {
            assert_eq!(error.code(), ExitCode::Usage);
            error.to_string()
        })
    }

    #[test]
    fn a_package_that_does_not_exist_is_refused_with_those_that_do() {
        for spec in ["shop", "store", "shop@1.0.0", "serde", "sh*", "file:///w#shop"] {
            let plan = BuildPlan { packages: vec![spec.to_owned()], ..BuildPlan::default() };
            assert_eq!(checked(&plan), Ok(()), "{spec}");
        }
        for spec in ["nope", "nope@1.0.0"] {
            let plan = BuildPlan { packages: vec![spec.to_owned()], ..BuildPlan::default() };
            let error = "no package is called `nope`; there are: shop, store";
            assert_eq!(checked(&plan), Err(error.to_owned()), "{spec}");
        }
    }

    #[test]
    fn a_target_that_no_selected_package_has_is_refused_with_those_that_they_have() {
        let of = |package: &str, workspace, targets: &[&str]| {
            checked(&BuildPlan {
                packages: Some(package.to_owned())
                    .filter(|name| !name.is_empty())
                    .into_iter()
                    .collect(),
                workspace,
                targets: targets.iter().map(|word| (*word).to_owned()).collect(),
                ..BuildPlan::default()
            })
        };
        assert_eq!(of("", false, &["--lib", "--test", "cart"]), Ok(()));
        assert_eq!(of("", false, &["--test", "c*", "--bin", "till"]), Ok(()));
        assert_eq!(of("", true, &["--test", "disk"]), Ok(()));
        assert_eq!(of("store", false, &["--test", "disk"]), Ok(()));
        assert_eq!(of("sh*", false, &["--test", "nope"]), Ok(()));
        for (package, workspace, targets, error) in [
            ("", false, ["--test", "disk"], "no test target is called `disk`; there are: cart"),
            (
                "",
                true,
                ["--test", "till"],
                "no test target is called `till`; there are: cart, disk",
            ),
            ("store", false, ["--example", "a"], "no example is called `a`; there is none"),
        ] {
            assert_eq!(of(package, workspace, &targets), Err(error.to_owned()));
        }
    }

    #[test]
    fn packages_are_left_out_only_of_the_whole_workspace() {
        let of = |workspace| BuildPlan {
            exclude: vec!["store".to_owned()],
            workspace,
            ..BuildPlan::default()
        };
        assert_eq!(checked(&of(true)), Ok(()));
        assert!(checked(&of(false)).unwrap_err().starts_with("--exclude can only be used"));
    }

    #[test]
    fn what_is_switched_must_be_a_dependency() {
        let swap = BuildPlan { mode: Mode::Swap, ..BuildPlan::default() };
        let mut metadata = metadata();
        let checked = |metadata: &Metadata| check(&swap, metadata, |_| Ok(true));
        let error = checked(&metadata).unwrap_err();
        assert_eq!(error.code(), ExitCode::Setup);
        assert!(error.to_string().contains("depends on it"), "{error}");
        let dependency = json!({
            "name": SWAPPED, "source": null, "req": "*", "kind": "dev", "optional": false,
            "uses_default_features": true, "features": [], "target": null, "rename": null,
            "registry": null, "path": null,
        });
        let shop = metadata.packages.iter_mut().find(|package| *package.name == "shop").unwrap();
        shop.dependencies.push(serde_json::from_value(dependency).unwrap());
        checked(&metadata).unwrap();
    }

    #[test]
    fn a_feature_that_no_package_has_is_refused() {
        for (list, expected) in [
            ("fast", Ok(())),
            ("fast,serde/derive", Ok(())),
            ("fast slow", Err("no feature is called `slow`; there are: fast".to_owned())),
        ] {
            let plan = BuildPlan {
                flags: vec!["--features".to_owned(), list.to_owned()],
                ..BuildPlan::default()
            };
            assert_eq!(checked(&plan), expected, "{list}");
        }
    }
}
