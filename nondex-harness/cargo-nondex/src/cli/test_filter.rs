//! Selects tests of the built binaries: by name as libtest does, and by nextest's filtersets.

use clap::{Args, Parser, ValueEnum};

use super::filterset::{Expression, Filterset, Query, WorkspaceMembers};
use super::partition::Partition;
use crate::error::{Error, OrSetup, Result};
use crate::project::{Doctests, NameFilters, Suite, TestCase};
use crate::shell;

/// Filters by name, in libtest's syntax.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Test selection")]
pub struct NameArgs {
    /// Run only tests whose name contains one of these
    #[arg(value_name = "FILTER", help_heading = "Arguments")]
    pub filters: Vec<String>,

    /// Filters match the whole name
    #[arg(long)]
    pub exact: bool,

    /// Leave out tests whose name contains this
    #[arg(long, value_name = "FILTER")]
    pub skip: Vec<String>,

    /// Run only ignored tests
    #[arg(long, conflicts_with = "include_ignored")]
    pub ignored: bool,

    /// Run ignored tests too
    #[arg(long)]
    pub include_ignored: bool,
}

/// Filters of the command line.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Test selection")]
pub struct FilterArgs {
    /// Filters by name before `--`.
    #[command(flatten)]
    pub names: NameArgs,

    /// Run only tests of this nextest filterset, such as `package(foo) and test(bar)`
    #[arg(short = 'E', long = "filterset", alias = "filter-expr", value_name = "EXPR")]
    pub filtersets: Vec<String>,

    /// Also run tests that the `default-filter` of `.config/nextest.toml` leaves out
    #[arg(long)]
    pub ignore_default_filter: bool,

    /// Which ignored tests are run: `only` is `--ignored`, `all` is `--include-ignored`
    #[arg(long, value_name = "WHICH", conflicts_with_all = ["ignored", "include_ignored"])]
    #[arg(hide_possible_values = true)]
    pub run_ignored: Option<RunIgnored>,

    /// What happens if no test is selected: `fail` ends with 4, `warn` and `pass` with 0
    /// [default: fail]
    #[arg(long, value_name = "ACTION", hide_possible_values = true)]
    pub no_tests: Option<NoTests>,

    /// First filter, if it is where a command would be, and what the user may have meant.
    #[arg(skip)]
    pub in_place_of_command: Option<InPlaceOfCommand>,

    /// `default-filter` of nextest's configuration.
    #[arg(skip)]
    pub default_filter: Option<Expression>,

    /// Run one part of N: M/N or slice:M/N takes every Nth test, hash:M/N decides by name. Where
    /// the order of tests is tried, whole binaries are divided
    #[arg(long, value_name = "[KIND:]M/N")]
    pub partition: Option<Partition>,

    /// More filters, as libtest takes them: FILTER, --exact, --skip, --ignored, --include-ignored
    #[arg(last = true, value_name = "ARGS", help_heading = "Arguments")]
    #[arg(allow_hyphen_values = true)]
    pub libtest: Vec<String>,
}

/// Arguments after `--`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct LibtestArgs {
    #[command(flatten)]
    names: NameArgs,
}

/// Selection of ignored tests, with nextest's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunIgnored {
    /// None: tests that are not ignored are run.
    #[default]
    Default,
    /// Ignored tests, and no others.
    #[value(alias = "ignored-only")]
    Only,
    /// Ignored tests and the others.
    All,
}

/// Filter where a command would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InPlaceOfCommand {
    /// The filter.
    pub word: String,
    /// Command line that the user may have meant.
    pub suggestion: Option<String>,
}

impl InPlaceOfCommand {
    /// Returns the end of the message that no test matches.
    fn hint(&self) -> String {
        let InPlaceOfCommand { word, suggestion } = self;
        match suggestion {
            Some(meant) => format!(", and `{word}` is not a command; did you mean `{meant}`?"),
            None => format!(", and `{word}` is not a command; `cargo nondex help` lists them"),
        }
    }
}

/// Reaction if no test is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum NoTests {
    /// Nothing.
    Pass,
    /// There is a warning.
    Warn,
    /// The command fails.
    #[default]
    Fail,
}

/// Parsed filters, not yet resolved against the packages of a workspace.
#[derive(Clone, Debug, Default)]
pub struct TestFilter {
    names: NameFilters,
    ignored: RunIgnored,
    no_tests: NoTests,
    in_place_of_command: Option<InPlaceOfCommand>,
    expressions: Vec<Expression>,
    /// Default filter of nextest's configuration.
    default: Option<Expression>,
    /// Whether a test need not match the default filter.
    ignores_default: bool,
    partition: Option<Partition>,
}

impl FilterArgs {
    /// Returns whether there is any filter.
    pub fn is_given(&self) -> bool {
        let lists = [&self.names.filters, &self.names.skip, &self.filtersets, &self.libtest];
        self.partition.is_some() || lists.into_iter().any(|list| !list.is_empty())
    }

    /// Removes libtest's `--nocapture` from the arguments after `--`. Returns whether it was there.
    pub fn take_no_capture(&mut self) -> bool {
        let given = self.libtest.len();
        let is_other = |word: &String| !["--nocapture", "--no-capture"].contains(&word.as_str());
        self.libtest.retain(is_other);
        self.libtest.len() < given
    }

    /// Parses the filters.
    ///
    /// # Errors
    /// Returns an error if a filterset or the arguments after `--` are invalid.
    pub fn parse(&self) -> Result<TestFilter> {
        let after =
            LibtestArgs::try_parse_from(&self.libtest).map_err(|error| misplaced(&error))?.names;
        let before = &self.names;
        let given = self.run_ignored.unwrap_or_default();
        let ignored = before.ignored || after.ignored || given == RunIgnored::Only;
        let include_ignored =
            before.include_ignored || after.include_ignored || given == RunIgnored::All;
        let expressions = self.filtersets.iter().map(|text| {
            Expression::parse(text)
                .map_err(|error| Error::usage(format!("invalid filterset: {error}")))
        });
        Ok(TestFilter {
            names: NameFilters {
                filters: [before.filters.clone(), after.filters].concat(),
                skip: [before.skip.clone(), after.skip].concat(),
                exact: before.exact || after.exact,
            },
            ignored: match (ignored, include_ignored) {
                (false, false) => RunIgnored::Default,
                (false, true) => RunIgnored::All,
                (true, false) => RunIgnored::Only,
                (true, true) => {
                    return Err(Error::usage(
                        "--ignored and --include-ignored cannot be used together",
                    ));
                }
            },
            no_tests: self.no_tests.unwrap_or_default(),
            in_place_of_command: self.in_place_of_command.clone(),
            expressions: expressions.collect::<Result<_>>()?,
            default: self.default_filter.clone(),
            ignores_default: self.ignore_default_filter,
            partition: self.partition,
        })
    }
}

/// Returns the error for invalid arguments after `--`.
fn misplaced(error: &clap::Error) -> Error {
    const EXPECTED: &str = "test filters, --exact, --skip, --ignored or --include-ignored";
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = first.strip_prefix("error: ").unwrap_or(first);
    let is_about_output =
        ["--nocapture", "--no-capture", "--show-output"].iter().any(|flag| first.contains(flag));
    let hint = if is_about_output {
        ". `cargo nondex test --no-capture` and `cargo nondex replay` show the output of a test; \
         `-v` shows that of failing tests"
    } else if first.contains("--test-threads") {
        ". `--test-threads N` before `--` sets how many tests run at the same time"
    } else {
        ""
    };
    Error::usage(format!("after `--`: {what}; expected {EXPECTED}{hint}"))
}

/// Result of a filter for one test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The test is run.
    Run,
    /// The test was requested, but is `#[ignore]`d. It is reported as not run.
    Ignored,
    /// The test was not requested.
    Out,
}

impl TestFilter {
    /// Returns whether [`resolve`](Self::resolve) uses the workspace.
    pub fn has_filtersets(&self) -> bool {
        !self.expressions.is_empty() || self.default.is_some()
    }

    /// Returns the doctests that the filter may select.
    pub fn doctests(&self) -> Doctests {
        Doctests::Named { names: self.names.clone(), ignored: self.ignored != RunIgnored::Default }
    }

    /// Resolves the filtersets against the packages of the workspace.
    ///
    /// # Errors
    /// Returns an error if a filterset names a package or a binary that does not exist.
    pub fn resolve(&self, workspace: &WorkspaceMembers) -> Result<ResolvedFilter<'_>> {
        let default = |expression: &Expression| {
            expression.resolve(workspace).or_setup("invalid default-filter of nextest")
        };
        let default = self.default.as_ref().map(default).transpose()?;
        let filtersets = self.expressions.iter().map(|expression| {
            let set = expression
                .resolve(workspace)
                .map_err(|error| Error::usage(format!("invalid filterset: {error}")))?;
            Ok(match &default {
                Some(default) => set.with_default(default),
                None => set,
            })
        });
        Ok(ResolvedFilter {
            filter: self,
            filtersets: filtersets.collect::<Result<_>>()?,
            default: default.filter(|_| !self.ignores_default),
        })
    }
}

/// Filter of tests, resolved against a workspace.
#[derive(Debug)]
pub struct ResolvedFilter<'a> {
    filter: &'a TestFilter,
    filtersets: Vec<Filterset>,
    default: Option<Filterset>,
}

impl ResolvedFilter<'_> {
    /// Marks the tests that nextest's `default-filter` leaves out.
    pub fn leave_out(&self, suites: &mut [Suite]) {
        let Some(default) = &self.default else { return };
        for suite in suites {
            let is_left_out = |test| !default.contains(&Query::of(suite, test));
            let marks: Vec<bool> = suite.tests.iter().map(is_left_out).collect();
            for (test, mark) in suite.tests.iter_mut().zip(marks) {
                test.left_out = mark;
            }
        }
    }

    /// Returns the reaction if no test is selected.
    pub const fn no_tests(&self) -> NoTests {
        self.filter.no_tests
    }

    /// Returns the part of the tests that is run, or `None` for all.
    pub const fn partition(&self) -> Option<Partition> {
        self.filter.partition
    }

    /// Returns the result for a test of a suite. A selected test matches one of the filtersets and
    /// one of the name filters, if there are any. It matches no `--skip`.
    pub fn matches(&self, suite: &Suite, test: &TestCase) -> Match {
        let query = Query::of(suite, test);
        let filter = self.filter;
        let is_requested = filter.names.matches(&suite.binary.id, &test.name)
            && (self.filtersets.is_empty()
                || self.filtersets.iter().any(|set| set.contains(&query)));
        let is_default = self.default.as_ref().is_none_or(|set| set.contains(&query));
        match (is_requested && is_default, test.ignored, filter.ignored) {
            (false, _, _) | (true, false, RunIgnored::Only) => Match::Out,
            (true, true, RunIgnored::Default) => Match::Ignored,
            (true, _, _) => Match::Run,
        }
    }

    /// Returns the end of the message that no test matches: the likely reason, or nothing.
    pub fn why_none(&self, suites: &[Suite]) -> String {
        if let Some(id) = self.unquoted(suites) {
            return format!("; in a shell, a name with `$` needs quotes: {}", shell::quote(&id));
        }
        self.filter.in_place_of_command.as_ref().map_or_else(String::new, InPlaceOfCommand::hint)
    }

    /// Returns the id of a test from which a shell removed a part, if a filter is the rest. Without
    /// quotes, a shell replaces `$name` in an id by the value of a variable, which is mostly empty.
    fn unquoted(&self, suites: &[Suite]) -> Option<String> {
        let (binary, name) = suites
            .iter()
            .flat_map(|suite| suite.tests.iter().map(|test| (&suite.binary.id, &test.name)))
            .find(|(binary, name)| {
                let rest = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                let expanded = format!("{binary}{rest}");
                expanded != **binary && self.filter.names.filters.contains(&expanded)
            })?;
        Some(format!("{binary}${name}"))
    }
}

#[cfg(test)]
pub(crate) mod tests;
