//! Builds the command that reproduces a failing run, on any machine that has the sources.

use nondex_core::NetworkMode;

use crate::judge::Options;
use crate::judge::options::DEFAULT_TIMEOUT;
use crate::project::Suite;
use crate::report::schema::{FailureReport, Replay};
use crate::shell;

/// Returns the command that repeats this failing run of the test with this id. The command needs
/// only the sources.
pub(super) fn command(test_id: &str, failure: &FailureReport, options: &Options) -> String {
    let mut words: Vec<String> = ["cargo", "nondex", "replay"].map(str::to_owned).to_vec();
    let mut add = |new: &[&str]| words.extend(new.iter().map(|word| (*word).to_owned()));
    let build: Vec<&str> = options.build_words.iter().map(String::as_str).collect();
    add(&build);
    add(&[test_id]);
    match (failure.level, failure.seed) {
        (Some(level), Some(seed)) => {
            add(&["--level", level.name(), "--seed", &seed.to_string()]);
            if !failure.schedule.is_default() {
                add(&["--schedule", failure.schedule.name()]);
            }
        }
        _ if failure.before.is_empty() => add(&["--clean"]),
        _ => {}
    }
    for test in &failure.before {
        add(&["--after", test]);
    }
    // After other tests, the threads are real in any case.
    let requested = Options { real_threads: false, ..options.clone() };
    if !failure.scheduled && failure.before.is_empty() && requested.is_scheduled() {
        add(&["--real-threads"]);
    }
    if failure.scheduled && options.max_steps > 0 {
        add(&["--max-steps", &options.max_steps.to_string()]);
    }
    if !options.models_off.is_empty() {
        let names: Vec<String> =
            options.models_off.iter().map(|name| regex::escape(name)).collect();
        add(&["--skip-models", &format!("^({})$", names.join("|"))]);
    }
    for (option, paths) in [("--files", &options.files.only), ("--skip-files", &options.files.skip)]
    {
        if !paths.is_empty() {
            add(&[option, &paths.join(",")]);
        }
    }
    let network = &options.network;
    if network.mode != NetworkMode::Observe {
        add(&["--network", network.mode.name()]);
    }
    if !network.allow.is_empty() {
        add(&["--network-allow", &network.allow.join(",")]);
    }
    let limit = failure.limit_ms.map(|ms| ms as f64 / 1000.0);
    let usual = (options.timeout != DEFAULT_TIMEOUT).then_some(options.timeout.as_secs_f64());
    if let Some(seconds) = limit.or(usual) {
        add(&["--timeout", &seconds.to_string()]);
    }
    shell::join(words.iter().map(String::as_str))
}

/// Returns what the failing runs of a test have in common. `primary` is the one to repeat.
pub(super) fn replay(primary: Option<String>, suite: &Suite, options: &Options) -> Replay {
    Replay {
        primary,
        kind: suite.binary.kind.clone(),
        target: suite.binary.target.clone(),
        spec: options.clean_spec(""),
        timeout_ms: u64::try_from(options.timeout.as_millis()).unwrap_or(u64::MAX),
    }
}

/// Returns the command that searches the cause of a failure in this run's targets. `words` select
/// the test.
pub(super) fn search(words: &[&str], options: &Options) -> String {
    let build = options.build_words.iter().map(String::as_str);
    shell::join(["cargo", "nondex"].into_iter().chain(build).chain(words.iter().copied()))
}
