//! The command line as a whole: `cargo nondex [COMMAND] [OPTIONS]`.

use std::ffi::OsString;

use camino::Utf8PathBuf;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use super::build_args::BuildArgs;
use super::config_args::ConfigArgs;
use super::confirm_args::ConfirmArgs;
use super::explain_args::ExplainArgs;
use super::location_args::LocationArgs;
use super::network_list_args::NetworkListArgs;
use super::output_args::OutputArgs;
use super::replay_args::ReplayArgs;
use super::report_args::ReportArgs;
use super::run_args::RunArgs;
use super::test_filter::FilterArgs;
use crate::config::{self, Config, DEFAULT_PROFILE, Key};
use crate::exit_code::ExitCode;

/// Finds tests whose outcome depends on choices that std leaves open
///
/// Runs the project's own tests while open choices of std (the order of a `HashMap`, of a directory, of the
/// environment) are made from a seed, and names the call whose choice changes the outcome of a test.
#[derive(Debug, Parser)]
#[command(name = "cargo-nondex", bin_name = "cargo nondex", version)]
#[command(args_conflicts_with_subcommands = true, after_help = after_help())]
#[command(max_term_width = 100)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    run: RunArgs,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Run the tests and find those that depend on an open choice (the default)
    Run(Box<RunArgs>),
    /// Run a finding again: one test with the choices that made it fail
    Replay(Box<ReplayArgs>),
    /// Go on with the search for what makes a test fail, from where its budget ended
    Explain(Box<ExplainArgs>),
    /// Show the last report again, list the findings, or export them as regressions
    Report(Box<ReportArgs>),
    /// Run ordinary builds of tests many times: how often do they fail without this tool?
    Confirm(Box<ConfirmArgs>),
    /// List the tests that would be run
    List(Box<ListArgs>),
    /// List the tests that need the network, with the hosts they ask for
    Network(Box<NetworkListArgs>),
    /// List the modelled APIs: what is open, and what to do instead
    Models(ModelsArgs),
    /// Remove what cargo nondex built and reported
    Clean(CleanArgs),
}

/// The options of `cargo nondex list`.
#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    /// Which tests.
    #[command(flatten)]
    pub filter: FilterArgs,

    /// Which configuration.
    #[command(flatten)]
    pub config: ConfigArgs,

    /// What is built.
    #[command(flatten)]
    pub build: BuildArgs,

    /// How results are shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The options of `cargo nondex models`.
#[derive(Args, Clone, Debug)]
pub struct ModelsArgs {
    /// Only models whose `family/api` matches
    #[arg(value_name = "REGEX")]
    pub filter: Option<regex::Regex>,

    /// How results are shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The options of `cargo nondex clean`.
#[derive(Args, Clone, Debug)]
pub struct CleanArgs {
    /// Also remove the runtimes that were built for this user, of all toolchains
    #[arg(long)]
    pub cache: bool,

    /// Where the project is.
    #[command(flatten)]
    pub location: LocationArgs,

    /// How results are shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A command line that was understood.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// What to do.
    pub command: Command,
    /// What is strange about the variables, a sentence each.
    pub warnings: Vec<String>,
}

/// Why there is nothing to do.
#[derive(Debug)]
pub enum Refusal {
    /// The command line cannot be understood, or asks for help only. clap's error says which, and prints itself.
    Usage(clap::Error),
    /// A variable or the configuration file cannot be understood.
    Setup(crate::error::Error),
}

impl From<clap::Error> for Refusal {
    fn from(error: clap::Error) -> Self {
        Refusal::Usage(error)
    }
}

impl From<crate::error::Error> for Refusal {
    fn from(error: crate::error::Error) -> Self {
        Refusal::Setup(error)
    }
}

impl CommandLine {
    /// Parses the arguments of the process, its name first. As cargo's subcommand it gets its own name, `nondex`, once
    /// more. What they leave out is taken from the variables, then from the configuration file.
    ///
    /// # Errors
    /// When any of them cannot be understood, and for `--help` and `--version`.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, Refusal> {
        Self::parse_with(args, std::env::vars_os().collect())
    }

    /// The same with these variables instead of the process's own.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with(
        args: impl IntoIterator<Item = OsString>,
        variables: Vec<(OsString, OsString)>,
    ) -> Result<Parsed, Refusal> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        if args.get(1).is_some_and(|arg| arg == "nondex") {
            args.remove(1);
        }
        let definition = Self::definition();
        let matches = match definition.clone().try_get_matches_from(&args) {
            Ok(matches) => matches,
            // Asked for help, it names the variables too, and flags as they are most often given.
            Err(error) if !error.use_stderr() => {
                let shown = Self::shown().try_get_matches_from(&args);
                return Err(Refusal::Usage(shown.err().unwrap_or(error)));
            }
            Err(error) => return Err(Refusal::Usage(error)),
        };
        let (definition, config) = configured(definition, &matches, variables.clone())?;
        let matches = definition.clone().try_get_matches_from(&args)?;
        let line = Self::from_arg_matches(&matches)?;
        let mut command = match line.command {
            Some(command) => command,
            None => {
                expect_no_command(&definition, &args, &line.run)?;
                Command::Run(Box::new(line.run))
            }
        };
        if let Command::Run(run) = &mut command {
            run.config.loaded = config;
        }
        let names = variables.into_iter().map(|(name, _)| name);
        Ok(Parsed {
            command,
            warnings: config::unknown_variables(names),
        })
    }

    /// The definition by which a command line is parsed. Variables are not looked at: they are a layer of their own.
    fn definition() -> clap::Command {
        fn prepare(command: clap::Command) -> clap::Command {
            let name = command.get_name().to_owned();
            let command = command.mut_args(|arg| {
                let key = config::key::of(&name, arg.get_id().as_str());
                if key.is_some_and(|key| key.kind == config::key::Kind::Flag) {
                    Key::switchable(arg)
                } else {
                    arg
                }
            });
            command.mut_subcommands(prepare)
        }
        prepare(Self::command())
    }

    /// The definition that is shown as help.
    fn shown() -> clap::Command {
        fn prepare(command: clap::Command) -> clap::Command {
            let name = command.get_name().to_owned();
            let command =
                command.mut_args(|arg| match config::key::of(&name, arg.get_id().as_str()) {
                    Some(key) => arg.env(key.variable.as_str()).hide_env_values(true),
                    None => arg,
                });
            command.mut_subcommands(prepare)
        }
        prepare(Self::command())
    }
}

/// The definition with the values of variables and of the configuration file as defaults, and what else the file says.
fn configured(
    definition: clap::Command,
    matches: &ArgMatches,
    variables: Vec<(OsString, OsString)>,
) -> crate::error::Result<(clap::Command, Config)> {
    let (name, matches) = match matches.subcommand() {
        Some((name, matches)) => (Some(name.to_owned()), matches),
        None => (None, matches),
    };
    let command = match &name {
        Some(name) => definition.find_subcommand(name).unwrap_or(&definition),
        None => &definition,
    };
    let is_given = |id: &str| {
        matches.try_contains_id(id).unwrap_or(false)
            && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let variables = config::read_variables(command, variables, &is_given)?;
    let mut config = Config::default();
    let reads_file = command
        .get_arguments()
        .any(|arg| arg.get_id() == "config_file");
    let mut layers = Vec::new();
    if reads_file {
        let path = |id: &str| matches.get_one::<Utf8PathBuf>(id).cloned();
        let of_variable = |id: &str| Some(variables.settings.get(id)?.values[0].clone());
        let file = path("config_file").or_else(|| of_variable("config_file").map(Into::into));
        let profile = matches.get_one::<String>("profile").cloned();
        let profile = profile.or_else(|| of_variable("profile"));
        let profile = profile.as_deref().unwrap_or(DEFAULT_PROFILE);
        (layers, config) =
            config::load(file.as_deref(), path("manifest_path").as_deref(), profile)?;
        let given = command.get_arguments().map(|arg| arg.get_id().as_str());
        let given = given.filter(|id| is_given(id) || variables.settings.contains_key(*id));
        config.given = given.map(str::to_owned).collect();
    }
    layers.insert(0, variables);
    let merged = match name {
        Some(name) => {
            definition.mut_subcommand(name, |command| config::merge(command, matches, &layers))
        }
        None => config::merge(definition, matches, &layers),
    };
    Ok((merged, config))
}

/// Refuses the name of a command behind an option, and what is nearly one in its place: clap takes both for a filter, and the
/// user would wait for a build.
fn expect_no_command(
    definition: &clap::Command,
    args: &[OsString],
    run: &RunArgs,
) -> Result<(), clap::Error> {
    let commands = || definition.get_subcommands().map(clap::Command::get_name);
    let filters = &run.filter.names.filters;
    let conflict =
        |message| CommandLine::command().error(clap::error::ErrorKind::ArgumentConflict, message);
    if let Some(name) = filters
        .iter()
        .find(|filter| commands().any(|name| name == *filter))
    {
        return Err(conflict(format!(
            "'{name}' is a command and must come first: `cargo nondex {name} [OPTIONS]`; as a test filter it comes \
             last: `cargo nondex [OPTIONS] -- {name}`"
        )));
    }
    let first = filters
        .first()
        .filter(|first| args.get(1).is_some_and(|arg| arg == first.as_str()));
    let near =
        |first: &String| commands().find(|name| strsim::damerau_levenshtein(name, first) == 1);
    match first.and_then(|first| Some((first, near(first)?))) {
        None => Ok(()),
        Some((first, name)) => Err(conflict(format!(
            "'{first}' is no command; did you mean `cargo nondex {name}`? As a test filter it comes last: \
             `cargo nondex [OPTIONS] -- {first}`"
        ))),
    }
}

/// The table of exit codes under the help text.
fn after_help() -> String {
    let mut text = String::from("Exit codes:\n");
    for (code, meaning) in ExitCode::ALL {
        text.push_str(&format!("  {:>3}  {meaning}\n", code as u8));
    }
    text.push_str(
        "\nThe command line wins over a variable, marked [env: …], a variable over the profile in .config/nondex.toml. What \
         they switch on is switched off by --FLAG=false.\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
