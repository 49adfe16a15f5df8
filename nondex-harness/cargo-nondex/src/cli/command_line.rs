//! Parses the whole command line: `cargo nondex [COMMAND] [OPTIONS]`.

use std::ffi::OsString;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use super::build_args::LocationArgs;
use super::order_args::OrderArgs;
use super::output_args::OutputArgs;
use super::project_args::{ArchiveArgs, ConfirmArgs, ExtractArgs, NetworkListArgs, ProjectArgs};
use super::replay_args::ReplayArgs;
use super::report_args::{BisectArgs, ExplainArgs, KnownAction, ReportArgs};
use super::run_args::{CheckArgs, ClassifyArgs, DeflakeArgs, RunArgs};
use super::short_help::with_short_help;
use super::test_args::{TestArgs, WithArgs};
use super::test_filter::InPlaceOfCommand;
use super::testing_args::TestingArgs;
use crate::exit_code::ExitCode;
use crate::nearest::nearest;

/// Finds the line that makes a test flaky
///
/// Reruns your tests with map order, directory order, thread schedules and time controlled by a
/// seed. Shows the line that makes one flaky, and the command that reproduces the failure.
#[derive(Debug, Parser)]
#[command(name = "cargo-nondex", bin_name = "cargo nondex", version)]
#[command(args_conflicts_with_subcommands = true, after_help = TOPICS)]
#[command(after_long_help = after_help())]
#[command(max_term_width = 100)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// Command to run.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Run the tests under seeds and find those that are flaky (the default)
    Run(Box<RunArgs>),
    /// Run every test once with nothing left to chance: for each change
    #[command(mut_arg("no_fail_fast", TestArgs::show_no_fail_fast))]
    Test(Box<TestArgs>),
    /// Run another command, such as `cargo nextest run`, with nothing left to chance in its tests
    With(Box<WithArgs>),
    /// Run the tests under seeds and in other test orders: everything that finds flaky tests
    Check(Box<CheckArgs>),
    /// Find out which kind of flaky each test is, and how often it fails
    Classify(Box<ClassifyArgs>),
    /// Find tests that depend on other tests: run them in other orders
    Order(Box<OrderArgs>),
    /// Run a finding again: one test with the choices that made it fail
    Replay(Box<ReplayArgs>),
    /// Continue the search for the cause of a failure where its budget ended
    Explain(Box<ExplainArgs>),
    /// Show the last report again, list the findings, or export them as regressions
    Report(Box<ReportArgs>),
    /// Find out how often tests fail without this tool: run plain builds of them many times
    Confirm(Box<ConfirmArgs>),
    /// Run the tests, and report which failures a change did not cause
    Deflake(Box<DeflakeArgs>),
    /// Find the commit since which a test is flaky
    Bisect(Box<BisectArgs>),
    /// Add, check and remove known flaky tests, which are tolerated until a date
    #[command(subcommand)]
    Known(Box<KnownAction>),
    /// Write a CI workflow, a configuration, and the last findings as known flakes
    Init(InitArgs),
    /// Pack the built tests into a file, so that other machines run them without a compiler
    Archive(Box<ArchiveArgs>),
    /// List the tests that would be run
    List(Box<ProjectArgs>),
    /// List the tests that need the network, with the hosts that they use
    Network(Box<NetworkListArgs>),
    /// Serve an agent or an editor the findings, by the Model Context Protocol on stdin and stdout
    Mcp(LocationArgs),
    /// List the modelled APIs: what std leaves unspecified, and what to do instead
    Models(ModelsArgs),
    /// Remove what cargo nondex built and reported
    Clean(CleanArgs),
    /// Write the completions of the command line for a shell
    Completions(CompletionsArgs),
    /// Write the manual page
    Man,
    /// Write the JSON Schema of the report, of events, or of the configuration file
    Schema(SchemaArgs),
}

impl Command {
    /// Returns the options of the campaign, for commands that run one.
    pub fn campaign(&mut self) -> Option<&mut RunArgs> {
        match self {
            Command::Run(args) => Some(args),
            Command::Check(args) => Some(&mut args.run),
            Command::Classify(args) => Some(&mut args.run),
            Command::Deflake(args) => Some(&mut args.run),
            _ => None,
        }
    }

    /// Returns the options for running tests, for commands that judge tests.
    pub fn testing(&mut self) -> Option<&mut TestingArgs> {
        match self {
            Command::Order(args) => Some(&mut args.testing),
            Command::Test(args) => Some(&mut args.testing),
            other => other.campaign().map(|args| &mut args.testing),
        }
    }

    /// Returns whether the command runs and judges tests.
    pub fn runs_tests(&self) -> bool {
        self.clone().testing().is_some()
    }

    /// Returns the options for an archive, for commands that can take tests from one.
    pub fn archive(&mut self) -> Option<&mut ExtractArgs> {
        match self {
            Command::Replay(args) => Some(&mut args.archive),
            other => other.project().map(|args| &mut args.archive),
        }
    }

    /// Returns the options for building and selecting tests, for commands that do this.
    pub fn project(&mut self) -> Option<&mut ProjectArgs> {
        match self {
            Command::Confirm(args) => Some(&mut args.project),
            Command::List(args) => Some(args),
            Command::Network(args) => Some(&mut args.project),
            other => other.testing().map(|args| &mut args.project),
        }
    }
}

/// Options of `cargo nondex completions`.
#[derive(Args, Clone, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL", help_heading = "Arguments")]
    pub shell: clap_complete::Shell,
}

/// Options of `cargo nondex schema`.
#[derive(Args, Clone, Debug)]
pub struct SchemaArgs {
    /// Format that the schema describes
    #[arg(value_name = "OF", help_heading = "Arguments")]
    pub of: SchemaOf,
}

/// Format that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOf {
    /// `report.json`, as `--message-format json` writes it.
    Report,
    /// A line of `--message-format json-lines`.
    Events,
    /// `.config/nondex.toml`.
    Configuration,
}

/// Options of `cargo nondex models`.
#[derive(Args, Clone, Debug)]
pub struct ModelsArgs {
    /// Only models whose `family/api` matches
    #[arg(value_name = "REGEX")]
    pub filter: Option<regex::Regex>,
}

/// Options of `cargo nondex init`.
#[derive(Args, Clone, Debug)]
pub struct InitArgs {
    /// Overwrite files that are there already
    #[arg(long, help_heading = "Init options")]
    pub force: bool,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}

/// Options of `cargo nondex clean`.
#[derive(Args, Clone, Debug)]
pub struct CleanArgs {
    /// Also remove the runtimes of all toolchains and the checkouts of all projects
    #[arg(long)]
    pub cache: bool,

    /// Location of the project.
    #[command(flatten)]
    pub location: LocationArgs,
}

impl CommandLine {
    /// Parses the arguments of the process, which start with its name. If cargo starts it as a
    /// subcommand, the second argument is `nondex`.
    ///
    /// # Errors
    /// Returns clap's error if the arguments are invalid, and for `--help` and `--version`. The
    /// error distinguishes these cases, and can print itself.
    pub fn parse(
        args: impl IntoIterator<Item = OsString>,
    ) -> Result<(Command, OutputArgs), clap::Error> {
        let mut args: Vec<OsString> = args.into_iter().collect();
        if args.get(1).is_some_and(|arg| arg == "nondex") {
            args.remove(1);
        }
        let definition = with_short_help(Self::command());
        let line = Self::from_arg_matches(&definition.try_get_matches_from(&args)?)?;
        let command = match line.command {
            Some(command) => command,
            None => {
                let mut run = line.run;
                expect_no_command(&Self::command(), &args, &run)?;
                let filter = &mut run.testing.project.filter;
                let first = filter.names.filters.first().cloned();
                filter.in_place_of_command =
                    first.filter(|first| is_first(&args, first)).map(|word| InPlaceOfCommand {
                        suggestion: meant(&Self::command(), &word),
                        word,
                    });
                Command::Run(Box::new(run))
            }
        };
        Ok((command, line.output))
    }
}

/// Checks that no filter is a command after an option, or a mistyped command at the first position.
/// Clap accepts both as filters, and the user would wait for a build.
fn expect_no_command(
    definition: &clap::Command,
    args: &[OsString],
    run: &RunArgs,
) -> Result<(), clap::Error> {
    let commands = || definition.get_subcommands().map(clap::Command::get_name);
    let filters = &run.testing.project.filter.names.filters;
    let conflict =
        |message| CommandLine::command().error(clap::error::ErrorKind::ArgumentConflict, message);
    if let Some(name) = filters.iter().find(|filter| commands().any(|name| name == *filter)) {
        return Err(conflict(format!(
            "'{name}' is a command and must come first: `cargo nondex {name} [OPTIONS]`; as a \
             test filter it comes \
             last: `cargo nondex [OPTIONS] -- {name}`"
        )));
    }
    let first = filters.first().filter(|first| is_first(args, first));
    let near = |first: &String| {
        commands().chain(["help"]).find(|name| strsim::damerau_levenshtein(name, first) == 1)
    };
    match first.and_then(|first| Some((first, near(first)?))) {
        None => Ok(()),
        Some((first, name)) => Err(conflict(format!(
            "'{first}' is not a command; did you mean `cargo nondex {name}`? As a test filter it \
             comes last: `cargo nondex [OPTIONS] -- {first}`"
        ))),
    }
}

/// Returns whether this word is where a command would be.
fn is_first(args: &[OsString], word: &str) -> bool {
    args.get(1).is_some_and(|arg| arg == word)
}

/// Returns the command with the most similar name, or the only one with an option of this name.
fn meant(definition: &clap::Command, word: &str) -> Option<String> {
    let commands = || definition.get_subcommands();
    let name = nearest(word, commands().map(clap::Command::get_name)).map(str::to_owned);
    name.map(|name| format!("cargo nondex {name}")).or_else(|| {
        let has_option = |command: &&clap::Command| {
            command.get_arguments().any(|argument| argument.get_long() == Some(word))
        };
        let mut found = commands().filter(has_option);
        let command = found.next().filter(|_| found.next().is_none())?;
        Some(format!("cargo nondex {} --{word}", command.get_name()))
    })
}

/// Last line of the short help text.
const TOPICS: &str =
    "cargo nondex help levels|verdicts|filtersets|exit-codes explains the terms of the output";

/// Returns the end of the long help text: the exit codes, and a note on profiles and variables.
fn after_help() -> String {
    let mut text = String::from("Exit codes:\n");
    for (code, meaning) in ExitCode::ALL {
        text.push_str(&format!("  {:>3}  {meaning}\n", code as u8));
    }
    text.push_str(
        "\nMost options of `run` can also be set by a key of a profile in .config/nondex.toml \
         (`clean-runs = 3`) or by an environment variable (NONDEX_CLEAN_RUNS=3). --FLAG=false \
         switches off a flag that they set. The command line overrides variables, and variables \
         override the profile.\n",
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

    #[test]
    fn a_word_where_a_command_would_be_is_compared_with_commands_and_their_options() {
        let parsed = |words: &str| {
            let words = format!("cargo-nondex nondex {words}");
            let (command, _) = CommandLine::parse(words.split(' ').map(OsString::from)).unwrap();
            let Command::Run(mut run) = command else { panic!("{words}") };
            run.testing.project.filter.in_place_of_command.take()
        };
        for (word, meant) in [
            ("classifying", Some("cargo nondex classify")),
            ("history", Some("cargo nondex report --history")),
            ("parses_all", None),
        ] {
            let suggestion = meant.map(str::to_owned);
            let expected = InPlaceOfCommand { word: word.to_owned(), suggestion };
            assert_eq!(parsed(word), Some(expected));
        }
        for words in ["run history", "--seeds 3 history", "-- history"] {
            assert_eq!(parsed(words), None, "{words}");
        }
    }
}
