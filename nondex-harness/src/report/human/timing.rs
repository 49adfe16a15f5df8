//! What is said of threads and time.

use std::fmt::Write;

use nondex_core::{Family, Kind, Level, Source};

use super::diagnostic::Diagnostic;
use crate::judge::timing::is_of_timing;
use crate::report::schema::{Culprit, TestReport, Timing, WaitReport};

/// Up to so many nanoseconds a thread is not late, but only stopped while others do a few operations.
const MOMENT: u64 = 100_000;

/// Whether a culprit is a delay of a thread.
pub(super) const fn is_of(culprit: &Culprit) -> bool {
    is_of_timing(culprit.family)
}

/// What a test depends on.
pub(super) const fn on(reason: Timing) -> &'static str {
    match reason {
        Timing::Race => "when its threads run",
        Timing::Time => "how late it wakes",
    }
}

/// What of a delay decides; `None` of anything else.
pub(super) fn what(culprit: &Culprit) -> Option<String> {
    if !is_of(culprit) {
        return None;
    }
    let thread = culprit.call.as_ref().map(|call| call.thread.as_str());
    let who = thread.map_or_else(|| "a thread".to_owned(), who);
    let least = culprit.number.map(|number| number.value);
    Some(match (culprit.kind, culprit.family, least) {
        (Kind::Permute, ..) => "which waiting thread is woken decides".to_owned(),
        (Kind::Spurious, ..) => format!("{who} wakes here though nobody woke it"),
        (_, Family::Time, Some(least)) => format!("{who} wakes {} or more too late", time(least)),
        (_, Family::Time, None) => format!("{who} wakes too late"),
        (_, _, Some(least)) if least > MOMENT => {
            format!("{who} is held back here for {} or longer", time(least))
        }
        (..) => format!("{who} is stopped here, and others go on"),
    })
}

/// A thread in the middle of a sentence.
fn who(thread: &str) -> String {
    match thread {
        "0" => "the test's own thread".to_owned(),
        other => format!("thread {other}"),
    }
}

/// Nanoseconds, for people: `800 ns`, `26 ms`, `1.5 s`.
fn time(nanoseconds: u64) -> String {
    let (unit, name) = match nanoseconds {
        0..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        1_000_000_000..120_000_000_000 => (1_000_000_000, "s"),
        _ => (60_000_000_000, "min"),
    };
    let tenths = (nanoseconds * 10).div_ceil(unit);
    match (tenths / 10, tenths % 10) {
        (whole @ 0..10, rest @ 1..) => format!("{whole}.{rest} {name}"),
        _ => format!("{} {name}", nanoseconds.div_ceil(unit)),
    }
}

/// How real a finding is that was shown at `level` first, with delays as `needed` has them.
pub(super) fn level(level: Level, needed: Option<Level>) -> String {
    let needed = needed.unwrap_or(level);
    let shown = match needed == level {
        true => String::new(),
        false => format!("; a seed at {level} shows it first"),
    };
    format!("{needed}: {}{shown}", meaning(needed))
}

/// What a delay at this level means.
const fn meaning(level: Level) -> &'static str {
    match level {
        Level::Std => {
            "no delay is longer than 20 ms, as on a busy machine: flaky today, now reproducible"
        }
        Level::One => "no delay is longer than 100 ms, as on a machine that is overloaded",
        Level::Eq => "a thread is held back for up to a second, as on a machine that swaps",
        Level::Id => "a thread is held back for up to 10 s, as on a machine that was suspended",
        Level::Full => "a thread is held back for up to an hour",
    }
}

/// What each thread waited for when the scheduler ended the process.
pub(super) fn waits(diagnostic: &mut Diagnostic<'_>, test: &TestReport) {
    let Some(scheduled) = test.scheduled.as_ref().filter(|one| !one.waits.is_empty()) else {
        return;
    };
    let mut text = match scheduled.end.as_deref() {
        Some("deadlock") => "every thread waits for another one".to_owned(),
        _ => "where each thread was in the end".to_owned(),
    };
    for WaitReport {
        thread,
        name,
        operation,
        on,
        file,
        line,
    } in &scheduled.waits
    {
        let _ = match name {
            Some(name) => write!(text, "\nthread `{name}` in `{operation}`"),
            None => write!(text, "\n{} in `{operation}`", who(thread)),
        };
        if let (Some(file), Some(line)) = (file, line) {
            let _ = write!(text, " at {file}:{line}");
        }
        if let Some(on) = on {
            let _ = write!(text, ", for number {on}");
        }
    }
    diagnostic.note("waits", &text);
}

/// What to do instead.
pub(super) fn fixes(test: &TestReport, reason: Timing) -> Vec<&'static str> {
    let waits = test.scheduled.iter().flat_map(|one| &one.waits);
    let operations: Vec<&str> = waits.map(|wait| wait.operation.as_str()).collect();
    let waits_in = |word: &str| operations.iter().any(|one| one.contains(word));
    let has_kind = |kind| test.culprits.iter().any(|culprit| culprit.kind == kind);
    let mut fixes = Vec::new();
    if waits_in("Condvar") || waits_in("park") {
        fixes.push(
            "check the condition under its lock before each wait, in a loop (`while`, `wait_while`): a notification that nobody waits for is \
             lost",
        );
    } else if !operations.is_empty() {
        fixes.push("take the locks in the same order everywhere, or hold no lock while you wait for another thread");
    }
    if has_kind(Kind::Spurious) {
        fixes.push("check the condition again in a loop after waking: `while` instead of `if`, or `wait_while`");
    }
    if has_kind(Kind::Permute) {
        fixes.push("do not assume which waiting thread is woken: use `notify_all`, or a condition for each");
    }
    if !fixes.is_empty() {
        return fixes;
    }
    let sleeps = test.sources.contains(&Source::Sleep);
    vec![match reason {
        Timing::Time => "give it a deadline instead of a margin, or a clock that the test sets",
        Timing::Race if sleeps => {
            "join the thread, or wait for its message, instead of sleeping: no sleep is long enough; and hold a lock over all that belongs \
             together"
        }
        Timing::Race => {
            "hold the lock over all that belongs together, join or wait for a message before you look, and make the order explicit where it \
             matters"
        }
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_is_told_in_the_unit_that_people_use_and_never_as_less_than_it_is() {
        for (nanoseconds, text) in [
            (105, "105 ns"),
            (1_500, "1.5 µs"),
            (2_000_000, "2 ms"),
            (26_120_000, "27 ms"),
            (999_000_000, "999 ms"),
            (1_450_000_000, "1.5 s"),
            (61_000_000_000, "61 s"),
            (3_600_000_000_000, "60 min"),
        ] {
            assert_eq!(time(nanoseconds), text);
        }
    }
}
