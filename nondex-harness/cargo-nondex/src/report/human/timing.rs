//! Texts about threads and time.

use std::fmt::Write;

use nondex_core::{Family, Kind, Level, model};

use super::delay::{MOMENT, time};
use super::diagnostic::Diagnostic;
use super::interleaving;
use crate::judge::is_of_timing;
use crate::report::schema::{Culprit, TestReport, Timing, WaitCause, WaitCauseKind, WaitReport};
use crate::report::thread::describe;
use crate::report::workspace::is_dependency;

/// Maximum number of places of waiting threads in a headline.
const MAX_ENDS: usize = 2;

/// Maximum time, in nanoseconds, for which an old clock value counts as standing still. Above it,
/// the clock goes back.
const STANDS: u64 = 1_000_000;

/// Returns whether a culprit is a delay of a thread, or an old time.
pub(super) const fn is_of(culprit: &Culprit) -> bool {
    is_of_timing(culprit.family)
}

/// Describes what a test depends on. `its` is the pronoun for one test or several.
pub(super) fn on(reason: Timing, test: &TestReport, its: &str) -> String {
    let has_late_wake = || test.culprits.iter().any(|one| one.family == Family::Time);
    let is_spurious = |one: &Culprit| one.kind == Kind::Spurious;
    match reason {
        _ if test.has_one_kind_of_culprits() && test.culprits.iter().all(is_spurious) => {
            let call = test.culprits.first().map_or("its wait", |one| &one.api);
            format!("`{call}` not returning spuriously")
        }
        _ if !test.has_one_kind_of_culprits() => format!("when {its} threads run or wake"),
        Timing::Race if has_late_wake() => format!("when {its} threads run or wake"),
        Timing::Race => format!("when {its} threads run"),
        Timing::Time if test.depends_on_clocks() => "what a clock shows".to_owned(),
        Timing::Time if test.culprits.iter().any(is_between_readings) => {
            "how much time passes".to_owned()
        }
        Timing::Time => format!("how late {its} threads wake"),
    }
}

/// Returns whether a culprit is a delay before a clock is read again.
fn is_between_readings(culprit: &Culprit) -> bool {
    model::READ_AGAIN.iter().any(|model| culprit.api == model.api)
}

/// Returns the culprit with the longest delay, or the first one if all delays are preemptions.
pub(super) fn longest<'t>(culprits: &[&'t Culprit]) -> Option<&'t Culprit> {
    let delay = |culprit: &Culprit| {
        culprit.number.map(|number| number.value).filter(|least| *least > MOMENT).unwrap_or(0)
    };
    culprits.iter().copied().rev().max_by_key(|culprit| delay(culprit))
}

/// Describes which part of a delay decides. Returns `None` for other culprits.
pub(super) fn what(culprit: &Culprit) -> Option<String> {
    if !is_of(culprit) {
        return None;
    }
    let thread = culprit.call.as_ref().map(|call| call.thread.as_str());
    let subject = thread.map_or_else(|| "a thread".to_owned(), describe);
    Some(of(culprit, &subject, "here"))
}

/// Describes a culprit of a test like [`what`], with the name of the thread and where it is
/// stopped.
pub(super) fn what_in(test: &TestReport, culprit: &Culprit) -> Option<String> {
    let thread = culprit.call.as_ref().map(|call| call.thread.as_str());
    let Some(thread) = thread.filter(|_| is_of(culprit)) else { return what(culprit) };
    let here =
        if interleaving::has_place(test, culprit) { "here" } else { "somewhere in this test" };
    let place = interleaving::stopped(test, culprit).unwrap_or(here);
    let what = of(culprit, &interleaving::named(test, thread), place);
    // Without its mention, the delay that makes the test pass looks like the cause of the failure.
    Some(if test.fails_in_canonical_order() { format!("the test passes if {what}") } else { what })
}

/// Describes which part of a delay, or of an old time, decides.
fn of(culprit: &Culprit, subject: &str, place: &str) -> String {
    let least = culprit.number.map(|number| number.value);
    let amount = least.map(time);
    let or_more = amount.as_ref().map_or_else(String::new, |least| format!(" {least} or more"));
    let or_longer =
        amount.as_ref().map_or_else(String::new, |least| format!(" by {least} or longer"));
    match (culprit.kind, culprit.family, least) {
        _ if place == interleaving::BEGINS => {
            format!("{subject} is started here, and begins{or_more} too late")
        }
        (Kind::Random, ..) if culprit.api == model::METADATA_MODIFIED.api => {
            format!("a file's time is{or_more} older than the clock")
        }
        (Kind::Random, _, Some(least)) if least > STANDS => {
            format!("the clock goes back by{or_more}")
        }
        (Kind::Random, ..) => "the clock shows no later time than before".to_owned(),
        (Kind::Permute, ..) => "which waiting thread is woken decides".to_owned(),
        (Kind::Spurious, ..) => format!("{subject} wakes spuriously here"),
        (_, Family::Time, _) if is_between_readings(culprit) => {
            format!("{subject} is delayed{or_longer} before it reads the clock")
        }
        (_, Family::Time, _) => format!("{subject} wakes{or_more} too late"),
        (_, _, Some(least)) if least > MOMENT => {
            format!("{subject} is delayed {place}{or_longer}")
        }
        (..) => format!("{subject} is stopped {place} while other threads run"),
    }
}

/// Describes how realistic a finding is. A seed at `level` showed it first, and its delays are
/// those of level `needed`.
pub(super) fn level(level: Level, needed: Option<Level>, test: &TestReport) -> String {
    let needed = needed.unwrap_or(level);
    let meaning = if test.depends_on_clocks() { meaning_of_clocks } else { meaning };
    let shown =
        if needed == level { String::new() } else { format!("; a seed at {level} shows it first") };
    let today = match needed {
        Level::Std if test.is_flaky_today() => ": flaky today, now reproducible",
        Level::Std => ": possible today, now reproducible",
        _ => "",
    };
    format!("{needed}: {}{today}{shown}", meaning(needed))
}

/// Returns what a failure at a level means for this test, or which delays the level has. The
/// weakest level at which the test fails has a more specific text.
pub fn level_meaning(level: Level, test: &TestReport) -> &'static str {
    match test.reason {
        None if level == Level::Std && !test.is_flaky_today() => "possible today, now reproducible",
        None => level.meaning(),
        Some(_) if test.depends_on_clocks() => meaning_of_clocks(level),
        Some(_) => meaning(level),
    }
}

/// Returns what a delay at this level means.
const fn meaning(level: Level) -> &'static str {
    match level {
        Level::Std => "no delay is longer than 20 ms, as on a busy machine",
        Level::One => "no delay is longer than 100 ms, as on a machine that is overloaded",
        Level::Eq => "a thread is delayed by up to a second, as on a machine that swaps",
        Level::Id => "a thread is delayed by up to 10 s, as on a machine that was suspended",
        Level::Full => "a thread is delayed by up to an hour",
    }
}

/// Returns what an old time at this level means.
const fn meaning_of_clocks(level: Level) -> &'static str {
    match level {
        Level::Std => "the kernel updates the time of file systems every 1 to 4 ms",
        Level::One | Level::Eq | Level::Id => {
            "clocks tick by 41 to 100 ns on other systems, and file systems by up to 16 ms"
        }
        Level::Full => {
            "a clock may be set back or stand still, and FAT stores times in steps of 2 s"
        }
    }
}

/// Describes the end of a test whose threads made no progress, or that timed out: `deadlock: two
/// locks are taken in opposite orders, at a.rs:1 and b.rs:2`.
pub(super) fn ends(test: &TestReport) -> Option<String> {
    let end = test.end()?;
    let scheduled = test.scheduled.as_ref()?;
    let places = |is_users: bool| -> Vec<String> {
        let places = scheduled.waits.iter().filter_map(place_of_wait);
        let wanted = places.filter(|(file, _)| is_dependency(file) != is_users);
        wanted.map(|(file, line)| format!("{file}:{line}")).collect()
    };
    let places = Some(places(true)).filter(|own| !own.is_empty()).unwrap_or_else(|| places(false));
    let at =
        if places.is_empty() { String::new() } else { format!(", at {}", places.join(" and ")) };
    let owned = |wait: &&WaitReport| {
        let cause = wait.cause.as_ref();
        cause.is_some_and(|cause| cause.kind == WaitCauseKind::Has && cause.thread != wait.thread)
    };
    match (end, scheduled.waits.iter().filter(owned).count()) {
        ("deadlock", _) if scheduled.after_panic => {
            Some("deadlock after a panic: every thread waits for another one".to_owned())
        }
        ("deadlock", 2) if scheduled.waits.len() == 2 => {
            Some(format!("deadlock: two locks are taken in opposite orders{at}"))
        }
        ("deadlock", _) if places.len() <= MAX_ENDS => {
            Some(format!("deadlock: every thread waits{at}"))
        }
        ("deadlock", _) => Some("deadlock: every thread waits for another one".to_owned()),
        ("livelock", _) => Some("livelock: threads spin without progress".to_owned()),
        _ if places.len() <= MAX_ENDS => Some(format!("times out{at}")),
        _ => Some("times out".to_owned()),
    }
}

/// Returns the place of a wait, or else of what led there: the last line that ran, or the call that
/// tells it from another wait in its line.
fn place_of_wait(wait: &WaitReport) -> Option<(&str, u32)> {
    match wait.last.as_ref().or(wait.caller.as_ref()) {
        Some(line) => Some((&line.file, line.line)),
        None => Some((wait.file.as_deref()?, wait.line?)),
    }
}

/// Returns whether the place of some thread is known at which the scheduler ended the process.
pub(super) fn has_waits(test: &TestReport) -> bool {
    last_waits(test).any(|wait| place_of_wait(wait).is_some())
}

/// Returns what the threads waited for when the scheduler ended the process.
fn last_waits(test: &TestReport) -> impl Iterator<Item = &WaitReport> {
    let ended = test.scheduled.iter().filter(|scheduled| scheduled.end.is_some());
    ended.flat_map(|scheduled| &scheduled.waits)
}

/// Returns whether a notification woke another thread instead of this one.
fn is_passed_over(wait: &WaitReport) -> bool {
    wait.cause.as_ref().is_some_and(|cause| cause.kind == WaitCauseKind::Another)
}

/// Marks the lines at which threads were when the scheduler ended the process, each with what the
/// thread waits for. Lines of dependencies come last. Returns whether there are any.
pub(super) fn mark_waits(diagnostic: &mut Diagnostic<'_>, test: &TestReport) -> bool {
    let placed = last_waits(test).filter_map(|wait| Some((wait, place_of_wait(wait)?)));
    let mut placed: Vec<_> = placed.collect();
    // A brief finding has room for few lines. The wait of a thread that was passed over explains
    // more than that of the thread which joins it.
    placed.sort_by_key(|(wait, (file, _))| (is_dependency(file), !is_passed_over(wait)));
    for &(wait, (file, line)) in &placed {
        let subject = interleaving::named(test, &wait.thread);
        let why = wait.cause.as_ref().map(|cause| because(test, &wait.thread, cause));
        let inside = match (&wait.caller, &wait.file, wait.line) {
            (Some(_), Some(file), Some(line)) => format!(" at {file}:{line}"),
            _ => String::new(),
        };
        let does = match wait.last {
            Some(_) => "was here last, and waits",
            None => "waits here",
        };
        let (operation, why) = (&wait.operation, why.unwrap_or_default());
        let label = format!("{subject} {does} in `{operation}`{inside}{why}");
        diagnostic.primary((file, line, None), label);
    }
    !placed.is_empty()
}

/// The state of a thread when the scheduler ended the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadWait {
    /// The thread, as text in the middle of a sentence.
    pub thread: String,
    /// The operation in progress.
    pub operation: String,
    /// File and line, if known.
    pub place: Option<(String, u32)>,
    /// The reason for waiting, as text to follow the place; empty if unknown.
    pub why: String,
    /// File and line of the other thread's operation, if known.
    pub other_place: Option<(String, u32)>,
    /// What the other thread did there.
    pub other: &'static str,
}

/// Describes why the scheduler ended the process, and what each thread waited for. Returns `None`
/// if no thread waited.
pub fn waiting_threads(test: &TestReport) -> Option<(&'static str, Vec<ThreadWait>)> {
    let scheduled = test.scheduled.as_ref().filter(|one| !one.waits.is_empty())?;
    let how = match test.end() {
        Some("deadlock") => "every thread waits for another one",
        Some("outside") => "every thread waits, and nothing outside the test has woken one",
        Some("livelock") => {
            "the running threads read the same values again and again, and no thread changes them"
        }
        _ => "where each thread was at the end",
    };
    let waits = scheduled.waits.iter().map(|wait| ThreadWait {
        thread: interleaving::named(test, &wait.thread),
        operation: wait.operation.clone(),
        place: place_of_wait(wait).map(|(file, line)| (file.to_owned(), line)),
        why: match (&wait.cause, wait.on) {
            (Some(cause), _) => because(test, &wait.thread, cause),
            (None, Some(on)) => format!(", for number {on}"),
            (None, None) => String::new(),
        },
        other_place: wait.cause.as_ref().and_then(|cause| cause.file.clone().zip(cause.line)),
        other: match wait.cause.as_ref().map(|cause| cause.kind) {
            Some(WaitCauseKind::Has) => "taken here",
            Some(WaitCauseKind::Notified | WaitCauseKind::Another) => "notified here",
            Some(WaitCauseKind::Runs) | None => "",
        },
    });
    Some((how, waits.collect()))
}

/// Adds a note with what each thread waited for when the scheduler ended the process.
pub(super) fn waits(diagnostic: &mut Diagnostic<'_>, test: &TestReport) {
    let Some((how, waits)) = waiting_threads(test) else { return };
    let mut text = how.to_owned();
    for ThreadWait { thread, operation, place, why, .. } in waits {
        let _ = write!(text, "\n{thread} in `{operation}`");
        if let Some((file, line)) = place {
            let _ = write!(text, " at {file}:{line}");
        }
        text.push_str(&why);
    }
    diagnostic.note("waits", &text);
}

/// Describes why a thread waits, as text to follow its place.
fn because(test: &TestReport, thread: &str, cause: &WaitCause) -> String {
    let place = match (&cause.file, cause.line) {
        (Some(file), Some(line)) => format!(" at {file}:{line}"),
        _ => String::new(),
    };
    let other = interleaving::named(test, &cause.thread);
    match cause.kind {
        WaitCauseKind::Has if cause.thread == thread => {
            format!(", for a lock that it took itself{place}")
        }
        WaitCauseKind::Has => format!(", for a lock that {other} took{place}"),
        WaitCauseKind::Notified => {
            format!(", and {other} had notified{place} before it waited")
        }
        WaitCauseKind::Another => {
            format!(", and the notification of {other}{place} woke another waiting thread")
        }
        WaitCauseKind::Runs => format!(", for the end of {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::human::interleaving::tests::delayed;

    #[test]
    fn of_suspects_of_several_kinds_no_single_one_is_said_and_no_help_is_given() {
        let said = |confirmed| {
            let mut test = TestReport::new("shop", "shop", "waits");
            test.culprits = vec![delayed(3, MOMENT), delayed(4, MOMENT)];
            for culprit in &mut test.culprits {
                culprit.confirmed = confirmed;
            }
            test.culprits[1].kind = Kind::Spurious;
            let help = super::super::fixes::of_threads(&test, Timing::Race);
            (on(Timing::Race, &test, "its"), help.len())
        };
        assert_eq!(said(true), ("when its threads run".to_owned(), 1));
        assert_eq!(said(false), ("when its threads run or wake".to_owned(), 0));
    }

    #[test]
    fn a_wake_up_without_a_cause_is_named_by_the_wait_that_it_ends() {
        let mut test = TestReport::new("shop", "shop", "waits");
        test.culprits = vec![delayed(3, 1), delayed(4, 1)];
        for culprit in &mut test.culprits {
            "std::thread::park".clone_into(&mut culprit.api);
            culprit.kind = Kind::Spurious;
        }
        let said = on(Timing::Race, &test, "its");
        assert_eq!(said, "`std::thread::park` not returning spuriously");
        test.culprits[0].kind = Kind::Extend;
        assert_ne!(on(Timing::Race, &test, "its"), said);
    }

    #[test]
    fn of_several_delays_the_longest_is_shown_and_of_moments_the_first() {
        let lines = |delays: &[u64]| {
            let culprits: Vec<Culprit> =
                (1..).zip(delays).map(|(line, by)| delayed(line, *by)).collect();
            let borrowed: Vec<&Culprit> = culprits.iter().collect();
            longest(&borrowed).map(|culprit| culprit.line)
        };
        assert_eq!(lines(&[8_000, 502_000_000, 2_000]), Some(2));
        assert_eq!(lines(&[8_000, 9_000]), Some(1));
        assert_eq!(lines(&[]), None);
    }

    #[test]
    fn of_a_delay_whose_call_is_not_known_no_place_is_said() {
        let mut test = TestReport::new("shop", "shop", "waits");
        test.file = Some("src/lib.rs".to_owned());
        test.line = Some(3);
        let said = |line| what_in(&test, &delayed(line, MOMENT)).unwrap();
        assert!(said(7).contains("is stopped here"), "{}", said(7));
        let unknown = said(3);
        assert!(unknown.contains("is stopped somewhere in this test"), "{unknown}");
    }
}
