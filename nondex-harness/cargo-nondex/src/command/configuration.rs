//! Fills in options that the command line leaves out, from environment variables and the
//! configuration file.

use std::ffi::OsString;

use crate::cli::filterset::Expression;
use crate::cli::{BuildArgs, Command, CommandLine, FilterArgs, OutputArgs, RunArgs, TestingArgs};
use crate::config::{self, Config, GivenKeys, Settings, Variables};
use crate::error::{Error, Result};
use crate::project;
use crate::shell;

/// Fills in options from the settings with the same names, unless they are given.
macro_rules! fill {
    ($args:expr, $settings:ident: $($option:ident),+) => {{
        $(fill(&mut $args.$option, &$settings.$option);)+
    }};
}

/// Command to execute, and its configuration.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Command, with all options filled in.
    pub command: Command,
    /// Command line as the user would write it again, for the report.
    pub line: String,
    /// Options for the output.
    pub output: OutputArgs,
    /// Configuration, for everything that is not an option of the command.
    pub config: Config,
    /// Options that take precedence over overrides for single tests.
    pub given: GivenKeys,
    /// Warnings about variables and configuration, one sentence each.
    pub warnings: Vec<String>,
}

/// Reason why no command can be executed.
#[derive(Debug)]
pub enum Refusal {
    /// The command line is invalid, or only requests help. clap's error shows which, and prints
    /// itself.
    Usage(clap::Error),
    /// A variable, the configuration file or an archive is invalid.
    Setup(Error),
}

/// Parses the arguments of a process, with its name first, and fills in options from these
/// variables and the configuration.
///
/// # Errors
/// When the arguments, the variables or the configuration are invalid.
pub fn understand(
    args: impl IntoIterator<Item = OsString>,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<Asked, Refusal> {
    let args: Vec<OsString> = args.into_iter().collect();
    let line = written(&args);
    let (mut command, output) = CommandLine::parse(args).map_err(Refusal::Usage)?;
    let variables = Variables::new(variables).map_err(Refusal::Setup)?;
    extract(&mut command, output.quiet).map_err(Refusal::Setup)?;
    let mut config = load(&mut command, &variables).map_err(Refusal::Setup)?;
    let overrides = std::mem::take(&mut config.profile.overrides);
    let settings = config.variables.clone().over(config.profile.clone());
    let given = given_by(&mut command, &config.variables, &settings);
    if let Some(args) = command.campaign() {
        fill_campaign(args, &settings);
    }
    if let Some(args) = command.testing() {
        fill_testing(args, &settings);
    }
    if let Some(args) = command.project() {
        match args.archive.extracted {
            // The other build options were fixed when the archive was packed.
            Some(_) => fill!(args.build, settings: jobs),
            None => fill_build(&mut args.build, &settings),
        }
        fill_filter(&mut args.filter, &settings);
        args.filter.default_filter.clone_from(&config.nextest.default_filter);
    }
    match &mut command {
        Command::Archive(args) => fill_build(&mut args.build, &settings),
        Command::Confirm(args) => fill!(args, settings: timeout),
        Command::Report(args) => fill!(args, settings: history_dir),
        Command::Test(args) => {
            fill!(args, settings: strict);
            fill!(args.world, settings: real_threads, max_steps);
            if !args.fail_fast {
                fill(&mut args.max_fail, &config.nextest.max_fail);
            }
        }
        _ => {}
    }
    config.profile.overrides = overrides;
    let warnings = [variables.unknown(), config.nextest.notes.clone()].concat();
    Ok(Asked { command, line, output, config, given, warnings })
}

/// Returns the command line as `cargo nondex …`, quoted for a shell.
fn written(args: &[OsString]) -> String {
    let texts: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let mut words: Vec<&str> = texts.iter().skip(1).map(AsRef::as_ref).collect();
    if words.first() == Some(&"nondex") {
        words.remove(0);
    }
    shell::join(["cargo", "nondex"].into_iter().chain(words))
}

/// Loads the configuration, for commands that select tests or show the history.
fn load(command: &mut Command, variables: &Variables) -> Result<Config> {
    if let Command::Report(args) = command
        && args.history.is_some()
    {
        let root = config::workspace_root(args.location.manifest_path.as_deref());
        return config::load(variables, None, root, None);
    }
    let archive = command.archive().and_then(|args| args.extracted.as_ref());
    let extracted = archive.map(|extracted| extracted.workspace_root.clone());
    let (config, build) = match command {
        Command::Archive(args) => (&args.config, &args.build),
        other => match other.project() {
            Some(args) => (&args.config, &args.build),
            None => return Ok(Config::default()),
        },
    };
    let root = extracted.or_else(|| config::workspace_root(build.manifest_path.as_deref()));
    config::load(variables, config.config_file.as_deref(), root, config.profile.as_deref())
}

/// Extracts the archive with the tests, if the command uses one. This comes before the
/// configuration is loaded, because the archive may contain the configuration file.
fn extract(command: &mut Command, quiet: bool) -> Result<()> {
    let refused = |what: &str, why: &str| {
        Err(Error::usage(format!("{what} does not work on an archive: {why}")))
    };
    let is_of_archive = command.archive().is_some_and(|args| args.archive_file.is_some());
    if is_of_archive {
        match command {
            Command::Confirm(_) => return refused("`confirm`", "it builds the tests"),
            Command::Deflake(_) => {
                return refused("`deflake`", "it builds the tests of another commit");
            }
            Command::Check(args) if args.base.is_some() => {
                return refused("`--base`", "it builds the tests of another commit");
            }
            _ => {}
        }
        let changed = command.testing().map(|args| &args.changed.changed);
        if changed.is_some_and(Option::is_some) {
            return refused("`--changed`", "the tests must record what they run");
        }
    }
    let Some(args) = command.archive() else { return Ok(()) };
    let Some(file) = &args.archive_file else { return Ok(()) };
    let [to, checkout] = [&args.extract_to, &args.workspace_remap].map(Option::as_deref);
    args.extracted = Some(project::extract(file, to, checkout, quiet)?);
    Ok(())
}

/// Returns which options the command line or a variable gives.
fn given_by(command: &mut Command, variables: &Settings, all: &Settings) -> GivenKeys {
    let has_jobs = command.project().is_some_and(|args| args.build.jobs.is_some());
    let jobs = has_jobs || all.jobs.is_some();
    let has_levels = command.campaign().is_some_and(|args| !args.levels.is_empty());
    let Some(args) = command.testing() else { return GivenKeys { jobs, ..GivenKeys::default() } };
    let models = [&args.models.models, &args.models.skip_models];
    let variable = [&variables.models, &variables.skip_models];
    GivenKeys {
        jobs,
        levels: has_levels || variables.levels.is_some(),
        models: models.into_iter().chain(variable).any(Option::is_some),
        network: args.network.network.or(variables.network).is_some(),
        sanitise: args.network.no_sanitise.or(variables.no_sanitise).is_some(),
        timeout: args.timeout.or(variables.timeout).is_some(),
    }
}

/// Fills in the options of a campaign.
fn fill_campaign(args: &mut RunArgs, settings: &Settings) {
    if args.seed.is_none() {
        fill!(args, settings: seeds);
    }
    fill_list(&mut args.levels, settings.levels.as_ref());
    fill!(args, settings: schedule, clean_runs, exhaustive, search_runs, strict, real_threads);
    fill!(args, settings: max_steps, regressions);
    fill!(args.budget, settings: budget_factor);
    if args.budget.budget_factor.is_none() {
        fill!(args.budget, settings: thorough);
    }
}

/// Fills in the options of commands that run tests.
fn fill_testing(args: &mut TestingArgs, settings: &Settings) {
    fill!(args, settings: timeout, max_time);
    fill!(args.files, settings: junit, sarif, gitlab);
    fill!(args.changed, settings: history_dir);
    fill!(args.models, settings: models, skip_models);
    fill!(args.network, settings: network, network_verify, max_sanitised, no_sanitise);
    for (list, given) in [
        (&mut args.models.only_files, &settings.files),
        (&mut args.models.skip_files, &settings.skip_files),
        (&mut args.network.network_allow, &settings.network_allow),
    ] {
        fill_list(list, given.as_ref().map(|names| &names.0));
    }
}

/// Fills in the options of a build. A selection of packages on the command line replaces that of
/// the configuration.
fn fill_build(args: &mut BuildArgs, settings: &Settings) {
    if args.packages.is_empty() && args.workspace.is_none() {
        fill_list(&mut args.packages, settings.package.as_ref());
        fill!(args, settings: workspace);
    }
    if args.packages.is_empty() {
        fill_list(&mut args.exclude, settings.exclude.as_ref());
    }
    fill_list(&mut args.features, settings.features.as_ref());
    fill!(args, settings: all_features, no_default_features, jobs, mode);
    if !args.release {
        fill!(args, settings: cargo_profile);
    }
}

/// Fills in the filtersets.
fn fill_filter(args: &mut FilterArgs, settings: &Settings) {
    let texts = |sets: &Vec<Expression>| -> Vec<String> {
        sets.iter().map(|set| set.text().to_owned()).collect()
    };
    fill_list(&mut args.filtersets, settings.filterset.as_ref().map(texts).as_ref());
}

/// Fills in an option that is not given.
fn fill<T: Clone>(option: &mut Option<T>, setting: &Option<T>) {
    if option.is_none() {
        option.clone_from(setting);
    }
}

/// Fills in a list that is empty.
fn fill_list<T: Clone>(option: &mut Vec<T>, setting: Option<&Vec<T>>) {
    if let (true, Some(setting)) = (option.is_empty(), setting) {
        option.clone_from(setting);
    }
}
