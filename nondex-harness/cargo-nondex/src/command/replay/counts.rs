//! Counts the outcomes of a repeated run.

use anstyle::AnsiColor;
use nondex_core::Outcome;
use serde::Serialize;

use super::verdict::Described;
use crate::cli::MessageFormat;
use crate::command::console::Console;
use crate::error::Result;
use crate::exit_code::ExitCode;
use crate::findings::Finding;
use crate::judge::Run;
use crate::report::plural;
use crate::statistics::Rate;

/// Maximum number of different failures that are shown to people.
const SHOWN: usize = 5;

/// Outcomes of the runs.
#[derive(Debug, Default)]
pub(super) struct OutcomeCounts {
    ends: Vec<End>,
    /// Output of the first failing run.
    output: Option<String>,
}

/// One outcome, and the number of runs that had it.
#[derive(Debug, PartialEq, Serialize)]
struct End {
    outcome: Outcome,
    runs: u64,
    /// Whether the failure is the recorded one.
    as_recorded: bool,
    message: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

/// Results of repeated runs, as JSON.
#[derive(Debug, Serialize)]
struct Repeated<'a> {
    #[serde(flatten)]
    requested: Described<'a>,
    #[serde(flatten)]
    rate: Rate,
    /// Whether the command was interrupted before all runs were made.
    partial: bool,
    /// Outcomes of the runs, most frequent first.
    ends: &'a [End],
    /// Changes since the finding was made, because of which the result may differ.
    warnings: Vec<String>,
    /// Output of the first failing run.
    output: Option<&'a str>,
}

impl OutcomeCounts {
    /// Adds a run with the place of its failure. `as_recorded` is whether the failure is the
    /// recorded one.
    pub(super) fn add(&mut self, run: &Run, place: Option<(String, u32)>, as_recorded: bool) {
        let failure = run.failure.as_ref();
        let message = failure.map(|failure| failure.message.clone());
        let (file, line) = place.unzip();
        let end = End { outcome: run.outcome.clone(), runs: 1, as_recorded, message, file, line };
        if !run.passed() && self.output.is_none() {
            self.output.clone_from(&run.output);
        }
        let same = |known: &&mut End| {
            (&known.outcome, &known.message, &known.file, known.line)
                == (&end.outcome, &end.message, &end.file, end.line)
        };
        match self.ends.iter_mut().find(same) {
            Some(known) => known.runs += 1,
            None => self.ends.push(end),
        }
        self.ends.sort_by_key(|end| std::cmp::Reverse(end.runs));
    }

    /// Returns the failure rate of the runs.
    pub(super) fn rate(&self) -> Rate {
        let runs = |ends: &mut dyn Iterator<Item = &End>| ends.map(|end| end.runs).sum();
        let failures = runs(&mut self.ends.iter().filter(|end| !end.outcome.passed()));
        Rate::new(failures, runs(&mut self.ends.iter()))
    }

    /// Reports how many of the `requested` runs failed. Returns the exit code: 100 if a run failed.
    pub(super) fn report(
        &self,
        finding: &Finding,
        is_recorded: bool,
        requested: u64,
        warnings: Vec<String>,
        console: &Console,
    ) -> Result<ExitCode> {
        let rate = self.rate();
        let partial = rate.runs < requested;
        if console.format == MessageFormat::Json {
            console.json(&Repeated {
                requested: Described::new(finding, is_recorded),
                rate,
                partial,
                ends: &self.ends,
                warnings,
                output: self.output.as_deref(),
            })?;
        } else {
            let (color, word) = match rate.failures {
                0 => (AnsiColor::Yellow, "Passed"),
                _ => (AnsiColor::Red, "Failed"),
            };
            console.result(color, word, &self.text(rate, is_recorded));
            if 0 < rate.failures && rate.failures < rate.runs {
                console.note(
                    "every run had the same choices: what differs between them is not controlled \
                     by the seed",
                );
            }
        }
        if partial {
            console.warning("interrupted: fewer runs were made than requested");
        }
        Ok(match rate.failures {
            0 => ExitCode::Ok,
            _ => ExitCode::Found,
        })
    }

    /// Returns the rate and the different failures as text.
    fn text(&self, rate: Rate, is_recorded: bool) -> String {
        let Rate { failures, runs, .. } = rate;
        let all = plural(runs, "run");
        let mut text = match failures {
            0 if is_recorded => format!(
                "each of {all}: it is fixed, or its failure depends on more than the choices"
            ),
            0 => format!("each of {all}: it does not fail this way"),
            _ if failures == runs => format!("each of {all}"),
            _ => {
                let [low, high] = rate.interval.map(|end| end * 100.0);
                format!("{failures} of {all}: {low:.1} % to {high:.1} % with 95 % confidence")
            }
        };
        let failing = || self.ends.iter().filter(|end| !end.outcome.passed());
        for end in failing().take(SHOWN) {
            let recorded = match (is_recorded, end.as_recorded) {
                (false, _) => "",
                (true, true) => " as recorded",
                (true, false) => " not as recorded",
            };
            let place = match (&end.file, end.line) {
                (Some(file), Some(line)) => format!(" at {file}:{line}"),
                _ => String::new(),
            };
            let what = end.message.as_deref().unwrap_or("the test failed").trim_end();
            let separator = if what.contains('\n') { '\n' } else { ' ' };
            text += &format!("\n{}{recorded}{place}:{separator}{what}", end.runs);
        }
        let others = failing().skip(SHOWN).count();
        if others > 0 {
            let others = plural(others, "other failure");
            text += &format!("\nand {others}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use nondex_core::Failure;

    use super::*;

    /// Returns the counts of runs with these messages. Runs without a message passed.
    fn counts(messages: &[Option<&str>]) -> OutcomeCounts {
        let mut counts = OutcomeCounts::default();
        for message in messages {
            let mut run = Run::ended(match message {
                Some(_) => Outcome::Failed,
                None => Outcome::Passed,
            });
            run.failure = message
                .map(|message| Failure { message: message.to_owned(), ..Failure::default() });
            let place = message.map(|_| ("src/lib.rs".to_owned(), 7));
            counts.add(&run, place, *message == Some("found"));
        }
        counts
    }

    fn text(messages: &[Option<&str>], is_recorded: bool) -> String {
        let counts = counts(messages);
        counts.text(counts.rate(), is_recorded)
    }

    #[test]
    fn a_test_that_always_ends_the_same_is_told_from_one_that_does_not() {
        let (found, other) = (Some("found"), Some("other"));
        assert_eq!(text(&[None, None], false), "each of 2 runs: it does not fail this way");
        assert_eq!(
            text(&[None], true),
            "each of 1 run: it is fixed, or its failure depends on more than the choices"
        );
        assert_eq!(
            text(&[found, found], true),
            "each of 2 runs\n2 as recorded at src/lib.rs:7: found"
        );
        assert_eq!(
            text(&[found, None, other, other], true),
            "3 of 4 runs: 30.1 % to 95.4 % with 95 % confidence\n\
             2 not as recorded at src/lib.rs:7: other\n\
             1 as recorded at src/lib.rs:7: found"
        );
    }

    #[test]
    fn failures_that_are_different_each_time_are_shown_in_part() {
        let messages = ["a", "b", "c", "d", "e", "f", "g"].map(Some);
        let text = text(&messages, false);
        assert_eq!(text.lines().count(), 1 + SHOWN + 1, "{text}");
        assert!(text.ends_with("\nand 2 other failures"), "{text}");
    }
}
