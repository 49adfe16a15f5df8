//! The command line as a whole: `cargo nondex [COMMAND] [OPTIONS]`.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use super::build_args::BuildArgs;
use super::confirm_args::ConfirmArgs;
use super::network_list_args::NetworkListArgs;
use super::output_args::OutputArgs;
use super::replay_args::ReplayArgs;
use super::report_args::ReportArgs;
use super::run_args::RunArgs;
use super::test_filter::FilterArgs;
use crate::exit_code::ExitCode;

/// Finds tests whose outcome depends on choices that std leaves open
///
/// Runs the project's own tests while open choices of std (the order of a `HashMap`, of a directory, of the
/// environment) are made from a seed, and names the call whose choice changes the outcome of a test.
#[derive(Debug, Parser)]
#[command(name = "cargo-nondex", bin_name = "cargo nondex", version)]
#[command(args_conflicts_with_subcommands = true, after_help = after_help())]
#[command(max_term_width = 100, disable_help_subcommand = true)]
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

    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH", help_heading = "Manifest options")]
    pub manifest_path: Option<camino::Utf8PathBuf>,

    /// Directory for all generated artifacts
    #[arg(long, value_name = "DIRECTORY", help_heading = "Manifest options")]
    pub target_dir: Option<camino::Utf8PathBuf>,

    /// How results are shown.
    #[command(flatten)]
    pub output: OutputArgs,
}

impl CommandLine {
    /// Parses the arguments of the process, its name first. As cargo's subcommand it gets its own name, `nondex`, once
    /// more.
    ///
    /// # Errors
    /// When they cannot be understood, and for `--help` and `--version`: clap's error says which, and prints itself.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        if args.get(1).is_some_and(|arg| arg == "nondex") {
            args.remove(1);
        }
        let mut definition = Self::command();
        let matches = definition.try_get_matches_from_mut(args)?;
        let usage = |message: String| {
            Self::command().error(clap::error::ErrorKind::ArgumentConflict, message)
        };
        let run_matches = matches.subcommand_matches("run").unwrap_or(&matches);
        let given = |id| {
            run_matches.try_contains_id(id).unwrap_or(false)
                && run_matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        if given("seed") && given("seeds") {
            return Err(usage(
                "the argument '--seed <SEED>' cannot be used with '--seeds <N|A..B|LIST>'"
                    .to_owned(),
            ));
        }
        let line = Self::from_arg_matches(&matches)?;
        if let Some(command) = line.command {
            return Ok(command);
        }
        // Behind an option clap takes the name of a command for a filter, and the user would wait for a build.
        let mistaken = line.run.filter.names.filters.iter().find(|filter| {
            definition
                .get_subcommands()
                .any(|command| command.get_name() == filter.as_str())
        });
        if let Some(name) = mistaken {
            return Err(usage(format!(
                "'{name}' is a command and must come first: `cargo nondex {name} [OPTIONS]`; as a test filter it \
                 comes last: `cargo nondex [OPTIONS] -- {name}`"
            )));
        }
        Ok(Command::Run(Box::new(line.run)))
    }

    /// The names of all environment variables that stand for an option, sorted.
    #[must_use]
    pub fn environment_variables() -> Vec<String> {
        fn collect(command: &clap::Command, names: &mut Vec<String>) {
            let found = command.get_arguments().filter_map(clap::Arg::get_env);
            names.extend(found.map(|name| name.to_string_lossy().into_owned()));
            for inner in command.get_subcommands() {
                collect(inner, names);
            }
        }
        let mut names = Vec::new();
        collect(&Self::command(), &mut names);
        names.sort();
        names.dedup();
        names
    }
}

/// The table of exit codes under the help text.
fn after_help() -> String {
    let mut text = String::from("Exit codes:\n");
    for (code, meaning) in ExitCode::ALL {
        text.push_str(&format!("  {:>3}  {meaning}\n", code as u8));
    }
    text.push_str(
        "\nEvery option marked [env: …] can be set by that variable; the command line wins.",
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
