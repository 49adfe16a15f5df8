//! The command line of a test executable: libtest's flags, checks and messages.
//!
//! Two things are more liberal than in libtest of a stable toolchain, because a harness cannot know which toolchain it is
//! used with: `-Z unstable-options` is always accepted, and `--format json` does not need it.

use std::path::PathBuf;

use super::getopt::{self, Arity, Matches, Opt};
use super::time_limit::TimeLimits;

/// When the console is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorConfig {
    /// On a terminal, unless `--no-capture` is given.
    #[default]
    AutoColor,
    /// Always.
    AlwaysColor,
    /// Never.
    NeverColor,
}

/// How the console is formatted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// A line for each test.
    #[default]
    Pretty,
    /// A character for each test.
    Terse,
    /// A JSON object for each event.
    Json,
    /// A `JUnit` document at the end.
    Junit,
}

/// What is done with ignored tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunIgnored {
    /// They are run like the others.
    Yes,
    /// They are not run.
    #[default]
    No,
    /// Only they are run.
    Only,
}

/// What a test executable is asked to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) list: bool,
    pub(crate) filters: Vec<String>,
    pub(crate) skip: Vec<String>,
    pub(crate) exact: bool,
    pub(crate) run_ignored: RunIgnored,
    pub(crate) exclude_should_panic: bool,
    /// Tests are run; otherwise they count as ignored, and only benchmarks are run.
    pub(crate) run_tests: bool,
    /// Benchmarks are measured; otherwise they are run once, as tests.
    pub(crate) measure: bool,
    pub(crate) no_capture: bool,
    pub(crate) show_output: bool,
    pub(crate) fail_fast: bool,
    pub(crate) color: ColorConfig,
    pub(crate) format: OutputFormat,
    pub(crate) logfile: Option<PathBuf>,
    /// How many tests run at a time; `None` is the number of CPUs.
    pub(crate) test_threads: Option<usize>,
    pub(crate) time_limits: Option<TimeLimits>,
    pub(crate) shuffle: bool,
    pub(crate) shuffle_seed: Option<u64>,
}

/// What the command line says.
#[derive(Debug)]
pub(crate) enum Request {
    /// Run or list tests.
    Run(Box<Arguments>),
    /// Print this help text.
    Help(String),
}

const fn flag(name: &'static str) -> Opt {
    Opt {
        name,
        letter: None,
        arity: Arity::Flag,
    }
}

const fn value(name: &'static str) -> Opt {
    Opt {
        name,
        letter: None,
        arity: Arity::Value,
    }
}

/// In libtest's order: of several options that are given too often, the first here is reported.
const OPTIONS: [Opt; 23] = [
    flag("include-ignored"),
    flag("ignored"),
    flag("force-run-in-process"),
    flag("exclude-should-panic"),
    flag("test"),
    flag("bench"),
    flag("list"),
    flag("fail-fast"),
    Opt {
        letter: Some('h'),
        ..flag("help")
    },
    value("logfile"),
    flag("no-capture"),
    value("test-threads"),
    Opt {
        arity: Arity::Values,
        ..value("skip")
    },
    Opt {
        letter: Some('q'),
        ..flag("quiet")
    },
    flag("exact"),
    value("color"),
    value("format"),
    flag("show-output"),
    value("Z"),
    flag("report-time"),
    flag("ensure-time"),
    flag("shuffle"),
    value("shuffle-seed"),
];

/// Hidden from the help text.
const DEPRECATED: Opt = flag("nocapture");

/// Everything libtest says after `Usage: <binary> [OPTIONS] [FILTERS...]`.
const USAGE: &str = include_str!("usage.txt");

impl Request {
    /// Reads the command line, program name first, and libtest's environment variables.
    ///
    /// # Errors
    /// In libtest's words, when the command line is not one that libtest accepts.
    pub(crate) fn parse(
        args: &[String],
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let (binary, args) = match args.split_first() {
            Some((binary, args)) => (binary.as_str(), args),
            None => ("...", args),
        };
        let mut options = OPTIONS.to_vec();
        options.push(DEPRECATED);
        let matches = getopt::parse(&options, args)?;
        if matches.has("help") {
            return Ok(Request::Help(format!(
                "Usage: {binary} [OPTIONS] [FILTERS...]\n{USAGE}"
            )));
        }
        Arguments::from_matches(&matches, env).map(|arguments| Request::Run(Box::new(arguments)))
    }
}

impl Arguments {
    fn from_matches(
        matches: &Matches,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let unstable = match matches.value("Z") {
            None => false,
            Some("unstable-options") => true,
            Some(_) => return Err("Unrecognized option to `Z`".to_owned()),
        };
        let gated = |name: &str, noun: &str| {
            if matches.has(name) && !unstable {
                return Err(format!(
                    "The \"{name}\" {noun} is only accepted on the nightly compiler with -Z unstable-options"
                ));
            }
            Ok(matches.has(name))
        };
        let is_on = |variable: &str| env(variable).is_some_and(|value| value != "0");

        gated("force-run-in-process", "flag")?;
        let exclude_should_panic = gated("exclude-should-panic", "flag")?;
        let fail_fast = gated("fail-fast", "flag")?;
        let report_time = gated("report-time", "flag")?;
        let ensure_time = gated("ensure-time", "flag")?;
        let time_limits = (report_time || ensure_time)
            .then(|| TimeLimits::from_env(ensure_time, &env))
            .transpose()?;
        let shuffle = gated("shuffle", "flag")? || unstable && is_on("RUST_TEST_SHUFFLE");
        gated("shuffle-seed", "option")?;
        let shuffle_seed = match matches.value("shuffle-seed") {
            Some(text) => Some(text.parse().map_err(|e| {
                format!("argument for --shuffle-seed must be a number (error: {e})")
            })?),
            None => match env("RUST_TEST_SHUFFLE_SEED").filter(|_| unstable) {
                Some(text) => Some(text.parse().map_err(|_| {
                    format!("RUST_TEST_SHUFFLE_SEED is `{text}`, should be a number.")
                })?),
                None => None,
            },
        };
        let run_ignored = match (matches.has("include-ignored"), matches.has("ignored")) {
            (true, true) => {
                return Err(
                    "the options --include-ignored and --ignored are mutually exclusive".to_owned(),
                );
            }
            (true, false) => RunIgnored::Yes,
            (false, true) => RunIgnored::Only,
            (false, false) => RunIgnored::No,
        };
        let list = matches.has("list");
        let measure = matches.has("bench");
        Ok(Arguments {
            list,
            filters: matches.free.clone(),
            skip: matches.values("skip").map(str::to_owned).collect(),
            exact: matches.has("exact"),
            run_ignored,
            exclude_should_panic,
            run_tests: !measure || matches.has("test"),
            measure,
            no_capture: matches.has("nocapture")
                || matches.has("no-capture")
                || is_on("RUST_TEST_NOCAPTURE"),
            show_output: matches.has("show-output"),
            fail_fast,
            test_threads: test_threads(matches, env, list)?,
            color: color(matches)?,
            format: format(matches, unstable)?,
            logfile: matches.value("logfile").map(PathBuf::from),
            time_limits,
            shuffle,
            shuffle_seed,
        })
    }
}

fn test_threads(
    matches: &Matches,
    env: impl Fn(&str) -> Option<String>,
    list: bool,
) -> Result<Option<usize>, String> {
    if let Some(text) = matches.value("test-threads") {
        return match text.parse::<usize>() {
            Ok(0) => Err("argument for --test-threads must not be 0".to_owned()),
            Ok(threads) => Ok(Some(threads)),
            Err(e) => Err(format!(
                "argument for --test-threads must be a number > 0 (error: {e})"
            )),
        };
    }
    match env("RUST_TEST_THREADS") {
        Some(text) if !list => match text.parse() {
            Ok(threads) if threads > 0 => Ok(Some(threads)),
            _ => Err(format!(
                "RUST_TEST_THREADS is `{text}`, should be a positive integer."
            )),
        },
        _ => Ok(None),
    }
}

fn color(matches: &Matches) -> Result<ColorConfig, String> {
    match matches.value("color") {
        Some("auto") | None => Ok(ColorConfig::AutoColor),
        Some("always") => Ok(ColorConfig::AlwaysColor),
        Some("never") => Ok(ColorConfig::NeverColor),
        Some(other) => Err(format!(
            "argument for --color must be auto, always, or never (was {other})"
        )),
    }
}

fn format(matches: &Matches, unstable: bool) -> Result<OutputFormat, String> {
    match matches.value("format") {
        None if matches.has("quiet") => Ok(OutputFormat::Terse),
        Some("pretty") | None => Ok(OutputFormat::Pretty),
        Some("terse") => Ok(OutputFormat::Terse),
        Some("json") => Ok(OutputFormat::Json),
        Some("junit") if unstable => Ok(OutputFormat::Junit),
        Some("junit") => Err(
            "The \"junit\" format is only accepted on the nightly compiler with -Z unstable-options"
                .to_owned(),
        ),
        Some(other) => Err(format!(
            "argument for --format must be pretty, terse, json or junit (was {other})"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_with(args: &str, variables: &[(&str, &str)]) -> Result<Arguments, String> {
        let args: Vec<String> = ["binary"]
            .into_iter()
            .chain(args.split_whitespace())
            .map(str::to_owned)
            .collect();
        let env = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        match Request::parse(&args, env)? {
            Request::Run(arguments) => Ok(*arguments),
            Request::Help(text) => Err(text),
        }
    }

    #[test]
    fn nothing_given_runs_tests_and_leaves_ignored_ones_out() {
        let arguments = parse_with("", &[]).unwrap();
        assert!(arguments.run_tests && !arguments.measure && !arguments.list);
        assert_eq!(arguments.run_ignored, RunIgnored::No);
        assert_eq!(arguments.test_threads, None);
    }

    #[test]
    fn what_nextest_passes_is_understood() {
        let arguments = parse_with("--exact a::b --nocapture --ignored", &[]).unwrap();
        assert_eq!(arguments.filters, ["a::b"]);
        assert!(arguments.exact && arguments.no_capture);
        assert_eq!(arguments.run_ignored, RunIgnored::Only);
        let arguments = parse_with("--list --format terse", &[]).unwrap();
        assert!(arguments.list);
        assert_eq!(arguments.format, OutputFormat::Terse);
    }

    #[test]
    fn an_explicit_format_wins_over_quiet() {
        let arguments = parse_with("-q --format pretty", &[]).unwrap();
        assert_eq!(arguments.format, OutputFormat::Pretty);
    }

    #[test]
    fn bench_and_test_together_run_both() {
        let arguments = parse_with("--bench --test", &[]).unwrap();
        assert!(arguments.run_tests && arguments.measure);
        assert!(!parse_with("--bench", &[]).unwrap().run_tests);
    }

    #[test]
    fn the_environment_is_the_default_and_a_wrong_value_is_an_error() {
        let arguments = parse_with("", &[("RUST_TEST_THREADS", "3")]).unwrap();
        assert_eq!(arguments.test_threads, Some(3));
        let arguments = parse_with("--test-threads 2", &[("RUST_TEST_THREADS", "x")]).unwrap();
        assert_eq!(arguments.test_threads, Some(2));
        assert!(parse_with("", &[("RUST_TEST_THREADS", "0")]).is_err());
        assert!(
            !parse_with("", &[("RUST_TEST_NOCAPTURE", "0")])
                .unwrap()
                .no_capture
        );
        assert!(
            parse_with("", &[("RUST_TEST_NOCAPTURE", "")])
                .unwrap()
                .no_capture
        );
    }

    #[test]
    fn what_libtest_gates_is_gated() {
        for args in [
            "--shuffle",
            "--shuffle-seed 1",
            "--report-time",
            "--ensure-time",
            "--fail-fast",
            "--exclude-should-panic",
            "--force-run-in-process",
            "--format junit",
        ] {
            let message = parse_with(args, &[]).unwrap_err();
            assert!(message.contains("-Z unstable-options"), "{args}: {message}");
            parse_with(&format!("{args} -Z unstable-options"), &[]).unwrap();
        }
        assert!(parse_with("-Zother", &[]).is_err());
    }

    #[test]
    fn help_names_the_binary() {
        let text = parse_with("-h", &[]).unwrap_err();
        assert!(text.starts_with("Usage: binary [OPTIONS] [FILTERS...]\n\nOptions:\n"));
    }
}
