//! Our build flags, back in cargo's words.

use std::ffi::OsString;

use crate::cli::BuildArgs;

/// The arguments of `cargo test` that select what `args` selects. The target, the target directory and the mode are the
/// caller's.
pub(crate) fn for_cargo(args: &BuildArgs) -> Vec<OsString> {
    let BuildArgs {
        packages,
        workspace,
        exclude,
        lib,
        bins,
        bin,
        examples,
        example,
        tests,
        test,
        benches,
        bench,
        all_targets,
        doc,
        features,
        all_features,
        no_default_features,
        jobs,
        release,
        cargo_profile,
        target: _,
        target_dir: _,
        mode: _,
        without_network: _,
        doctests: _,
        manifest_path,
        locked,
        offline,
        frozen,
        config,
    } = args;
    let mut words = Vec::new();
    for (flag, set) in [
        ("--workspace", workspace),
        ("--lib", lib),
        ("--bins", bins),
        ("--examples", examples),
        ("--tests", tests),
        ("--benches", benches),
        ("--all-targets", all_targets),
        ("--doc", doc),
        ("--all-features", all_features),
        ("--no-default-features", no_default_features),
        ("--release", release),
        ("--locked", locked),
        ("--offline", offline),
        ("--frozen", frozen),
    ] {
        words.extend(set.then(|| OsString::from(flag)));
    }
    for (flag, values) in [
        ("--package", packages),
        ("--exclude", exclude),
        ("--bin", bin),
        ("--example", example),
        ("--test", test),
        ("--bench", bench),
        ("--features", features),
        ("--config", config),
    ] {
        words.extend(
            values
                .iter()
                .flat_map(|value| [OsString::from(flag), value.into()]),
        );
    }
    for (flag, value) in [
        ("--jobs", jobs.map(|jobs| jobs.to_string())),
        ("--profile", cargo_profile.clone()),
        (
            "--manifest-path",
            manifest_path.as_ref().map(ToString::to_string),
        ),
    ] {
        words.extend(
            value
                .into_iter()
                .flat_map(|value| [OsString::from(flag), value.into()]),
        );
    }
    words
}

/// The arguments of a cargo that only finds out which packages there are.
pub(crate) fn for_resolution(args: &BuildArgs) -> Vec<OsString> {
    for_cargo(&BuildArgs {
        manifest_path: args.manifest_path.clone(),
        locked: args.locked,
        offline: args.offline,
        frozen: args.frozen,
        config: args.config.clone(),
        ..BuildArgs::default()
    })
}
