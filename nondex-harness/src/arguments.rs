//! Parses the command line of a test executable: libtest's options, as passed by cargo, nextest and
//! people.

use std::thread;

/// When the console output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Color {
    /// Coloured on a terminal.
    #[default]
    Auto,
    /// Always coloured.
    Always,
    /// Never coloured.
    Never,
}

/// Format of a listing. Runs always print one line for each test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Listing {
    /// One line for each test, and the number of tests.
    #[default]
    Pretty,
    /// One line for each test.
    Terse,
    /// One JSON object for each test, with its place.
    Json,
}

/// Treatment of ignored tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RunIgnored {
    /// Run ignored tests like the others.
    Yes,
    /// Skip ignored tests.
    #[default]
    No,
    /// Run only ignored tests.
    Only,
}

/// Options given on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) list: bool,
    pub(crate) filters: Vec<String>,
    pub(crate) skip: Vec<String>,
    pub(crate) exact: bool,
    pub(crate) run_ignored: RunIgnored,
    /// Whether only benchmarks are run, once each; tests count as ignored.
    pub(crate) only_benchmarks: bool,
    pub(crate) color: Color,
    pub(crate) listing: Listing,
    /// Number of tests that run at once; `None` for the number of CPUs.
    pub(crate) test_threads: Option<usize>,
}

impl Arguments {
    /// Returns the number of tests that run at once.
    pub(crate) fn threads(&self) -> usize {
        self.test_threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Request that the command line makes.
#[derive(Debug)]
pub(crate) enum Request {
    /// Run or list tests.
    Run(Box<Arguments>),
    /// Print this help text.
    Help(String),
}

/// Help text after `Usage: <binary> [OPTIONS] [FILTERS...]`.
const USAGE: &str = "
Runs the tests whose names contain one of the filters, or all. Their output is not captured.

Options:
        --list                      List tests instead
        --format pretty|terse|json  How they are listed
    -q, --quiet                     The same as --format terse
        --exact                     Filters match the whole name
        --skip FILTER               Leave out tests whose names contain this
        --ignored                   Run only ignored tests
        --include-ignored           Run ignored tests too
        --bench                     Run only benchmarks, once each
        --test                      Run tests, too
        --test-threads N            How many run at a time [env: RUST_TEST_THREADS]
        --color auto|always|never   When to colour
    -h, --help                      Print this
";

impl Request {
    /// Parses the command line, program name first, and libtest's environment variable.
    ///
    /// # Errors
    /// Returns a message that names the unknown option or the expected value.
    pub(crate) fn parse(
        args: &[String],
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let (binary, args) = match args.split_first() {
            Some((binary, args)) => (binary.as_str(), args),
            None => ("...", args),
        };
        let mut arguments = Arguments::default();
        let (mut ignored, mut included) = (false, false);
        let (mut bench, mut test) = (false, false);
        let mut quiet = None;
        let mut format = None;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let (name, attached) = match arg.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (arg.as_str(), None),
            };
            let has_value = attached.is_some();
            let mut value = || {
                attached
                    .clone()
                    .or_else(|| args.next().cloned())
                    .ok_or_else(|| format!("`{name}` needs a value"))
            };
            match name {
                "--skip" => arguments.skip.push(value()?),
                "--test-threads" => arguments.test_threads = Some(threads(name, &value()?)?),
                "--color" => arguments.color = color(&value()?)?,
                "--format" => format = Some(listing(&value()?)?),
                // Everything supported here is stable, so `-Z` options are accepted and ignored.
                "-Z" => _ = value()?,
                _ if name.starts_with("-Z") => {}
                "--" => arguments.filters.extend(args.by_ref().cloned()),
                _ if has_value => return Err(format!("`{arg}` is not known; see --help")),
                "--list" => arguments.list = true,
                "--exact" => arguments.exact = true,
                "--ignored" => ignored = true,
                "--include-ignored" => included = true,
                "--bench" => bench = true,
                "--test" => test = true,
                "-q" | "--quiet" => quiet = Some(Listing::Terse),
                // Accepted without effect: nothing is captured.
                "--nocapture" | "--no-capture" | "--show-output" => {}
                "-h" | "--help" => {
                    let usage = format!("Usage: {binary} [OPTIONS] [FILTERS...]\n{USAGE}");
                    return Ok(Request::Help(usage));
                }
                _ if arg.len() > 1 && arg.starts_with('-') => {
                    return Err(format!("`{arg}` is not known; see --help"));
                }
                _ => arguments.filters.push(arg.clone()),
            }
        }
        arguments.run_ignored = match (included, ignored) {
            (true, true) => {
                return Err("--include-ignored and --ignored cannot be used together".to_owned());
            }
            (true, false) => RunIgnored::Yes,
            (false, true) => RunIgnored::Only,
            (false, false) => RunIgnored::No,
        };
        arguments.only_benchmarks = bench && !test;
        arguments.listing = format.or(quiet).unwrap_or_default();
        if arguments.listing == Listing::Json && !arguments.list {
            return Err("--format json is for --list only".to_owned());
        }
        if let (None, false, Some(text)) =
            (arguments.test_threads, arguments.list, env("RUST_TEST_THREADS"))
        {
            arguments.test_threads = Some(threads("RUST_TEST_THREADS", &text)?);
        }
        Ok(Request::Run(Box::new(arguments)))
    }
}

fn threads(name: &str, text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{name}` is `{text}`, expected a whole number of at least 1"))
}

fn color(text: &str) -> Result<Color, String> {
    match text {
        "auto" => Ok(Color::Auto),
        "always" => Ok(Color::Always),
        "never" => Ok(Color::Never),
        _ => Err(format!("`--color` is `{text}`, expected auto, always or never")),
    }
}

fn listing(text: &str) -> Result<Listing, String> {
    match text {
        "pretty" => Ok(Listing::Pretty),
        "terse" => Ok(Listing::Terse),
        "json" => Ok(Listing::Json),
        _ => Err(format!("`--format` is `{text}`, expected pretty, terse or json")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_with(args: &str, variables: &[(&str, &str)]) -> Result<Arguments, String> {
        let args: Vec<String> =
            ["binary"].into_iter().chain(args.split_whitespace()).map(str::to_owned).collect();
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
        assert!(!arguments.only_benchmarks && !arguments.list);
        assert_eq!(arguments.run_ignored, RunIgnored::No);
        assert_eq!(arguments.test_threads, None);
    }

    #[test]
    fn what_cargo_nextest_and_people_pass_is_understood() {
        let arguments = parse_with("--exact a::b --nocapture --ignored", &[]).unwrap();
        assert_eq!(arguments.filters, ["a::b"]);
        assert!(arguments.exact);
        assert_eq!(arguments.run_ignored, RunIgnored::Only);
        let arguments = parse_with("--list --format terse", &[]).unwrap();
        assert!(arguments.list);
        assert_eq!(arguments.listing, Listing::Terse);
        let arguments = parse_with("-q --format=pretty x -Zunstable-options", &[]).unwrap();
        assert_eq!(arguments.listing, Listing::Pretty);
        assert_eq!(arguments.filters, ["x"]);
        let arguments = parse_with("--skip=a --skip b -Z unstable-options -- -x", &[]).unwrap();
        assert_eq!((arguments.skip.len(), arguments.filters.len()), (2, 1));
        assert!(parse_with("--bench", &[]).unwrap().only_benchmarks);
        assert!(!parse_with("--bench --test", &[]).unwrap().only_benchmarks);
    }

    #[test]
    fn the_environment_is_the_default_and_what_is_wrong_is_named() {
        let arguments = parse_with("", &[("RUST_TEST_THREADS", "3")]).unwrap();
        assert_eq!(arguments.test_threads, Some(3));
        let arguments = parse_with("--test-threads 2", &[("RUST_TEST_THREADS", "x")]).unwrap();
        assert_eq!(arguments.test_threads, Some(2));
        assert!(parse_with("", &[("RUST_TEST_THREADS", "0")]).is_err());
        for (args, part) in [
            ("--unknown", "`--unknown` is not known"),
            ("--list=1", "`--list=1` is not known"),
            ("-x", "`-x` is not known"),
            ("--skip", "`--skip` needs a value"),
            ("--format yaml", "expected pretty, terse or json"),
            ("--format json", "for --list only"),
            ("--color blue", "expected auto, always or never"),
            ("--test-threads many", "whole number of at least 1"),
            ("--ignored --include-ignored", "cannot be used together"),
            ("--help", "Usage: binary [OPTIONS] [FILTERS...]\n"),
        ] {
            let message = parse_with(args, &[]).unwrap_err();
            assert!(message.contains(part), "{args}: {message}");
        }
    }
}
