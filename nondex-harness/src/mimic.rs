//! Converts trials of libtest-mimic, so that a target built on it only needs one changed line.
//!
//! libtest-mimic does not expose the function of a trial. So [`libtest_mimic::run`] runs each trial
//! alone on the test's own thread. Its output goes to a temporary file, which contains the message
//! of a failed trial. The source line and measurements of a trial are unknown.

use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use libtest_mimic::{Arguments, ColorSetting};

use super::descriptor::TestFn;
use super::trial::Trial;

impl From<libtest_mimic::Trial> for Trial {
    fn from(trial: libtest_mimic::Trial) -> Self {
        let name = match trial.kind() {
            "" => trial.name().to_owned(),
            kind => format!("[{kind}] {}", trial.name()),
        };
        let ignored = trial.has_ignored_flag();
        let function = if trial.is_bench() {
            // A benchmark is called once, whether or not it is measured.
            let trial = Mutex::new(Some(trial));
            TestFn::DynBenchFn(Box::new(move |_| {
                let first = trial.lock().ok().and_then(|mut trial| trial.take());
                first.map_or(Ok(()), run)
            }))
        } else {
            TestFn::DynTestFn(Box::new(move || run(trial)))
        };
        Trial::from_function(name, None, function).with_ignored_flag(ignored)
    }
}

fn run(trial: libtest_mimic::Trial) -> Result<(), String> {
    static LOGS: AtomicU32 = AtomicU32::new(0);
    let number = LOGS.fetch_add(1, Ordering::Relaxed);
    let log: PathBuf =
        std::env::temp_dir().join(format!("nondex-{}-{number}.log", std::process::id()));
    let name = trial.name().to_owned();
    let arguments = Arguments {
        include_ignored: true,
        test_threads: Some(1),
        color: Some(ColorSetting::Never),
        logfile: Some(log.to_string_lossy().into_owned()),
        ..Arguments::default()
    };
    let conclusion = libtest_mimic::run(&arguments, vec![trial]);
    let text = fs::read_to_string(&log).unwrap_or_default();
    // The file remains if a test ends the process or has changed the file system.
    let _ = fs::remove_file(&log);
    if conclusion.has_failed() {
        let message = message_in(&text, &name).to_owned();
        eprintln!("{message}");
        Err(message)
    } else {
        Ok(())
    }
}

/// Returns the message of the only trial in libtest-mimic's output.
fn message_in<'a>(output: &'a str, name: &str) -> &'a str {
    output
        .split_once(&format!("\n---- {name} ----\n"))
        .and_then(|(_, rest)| rest.rsplit_once("\n\n\nfailures:\n"))
        .map_or("failed without a message", |(message, _)| {
            message.strip_prefix("test panicked: ").unwrap_or(message)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::TestDescAndFn;

    fn run_converted(trial: libtest_mimic::Trial) -> Result<(), String> {
        match TestDescAndFn::from(Trial::from(trial)).testfn {
            TestFn::DynTestFn(function) => function(),
            other => panic!("{other:?} is not a test"),
        }
    }

    #[test]
    fn a_trial_keeps_its_outcome_and_its_message() {
        use libtest_mimic::Trial as Mimic;
        assert_eq!(run_converted(Mimic::test("a", || Ok(()))), Ok(()));
        let failing = Mimic::test("b", || Err("two\n\nlines".into()));
        assert_eq!(run_converted(failing), Err("two\n\nlines".to_owned()));
        let panicking = Mimic::test("c", || panic!("boom"));
        assert_eq!(run_converted(panicking), Err("boom".to_owned()));
        let ignored = Mimic::test("d", || Err("ran".into())).with_ignored_flag(true);
        assert_eq!(run_converted(ignored), Err("ran".to_owned()));
    }

    #[test]
    fn a_trial_is_named_with_its_kind_as_it_is_listed() {
        let trial = libtest_mimic::Trial::test("a", || Ok(())).with_kind("ui");
        assert_eq!(Trial::from(trial).name(), "[ui] a");
    }
}
