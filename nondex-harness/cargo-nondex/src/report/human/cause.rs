//! Causes of findings: the responsible calls, and the tests that fail because of them.
//!
//! Most flaky tests fail in clusters. Tests with the same culprits form one finding. The test with
//! the most evidence is drawn in full, and the others are listed below it.

mod headline;
mod lines;

use std::collections::BTreeSet;
use std::fmt::Write;

use indexmap::{IndexMap, IndexSet};
use nondex_core::{Family, Level, Model, model};

use self::headline::headline;
use super::count::ids;
use super::diagnostic::{Diagnostic, Severity};
use super::finding::{close, failures, output, rates};
use super::needed::needed;
use super::walk::Walkthrough;
use super::wording::{is_elsewhere, what};
use super::{View, fixes, interleaving, short, timing};
use crate::report::schema::{Advice, Culprit, TestReport};

/// Tests whose outcome depends on the same calls, the one with the most evidence first. A test
/// without a culprit forms its own cause.
#[derive(Debug)]
pub(super) struct Cause<'r> {
    tests: Vec<&'r TestReport>,
}

/// What identifies a culprit: API, file, line, column, and whether the call has a stack. If it has,
/// the user's line that leads to a call in a library, if any, or the stack, if no line is known.
/// The stack includes the test's own frame, so it would separate tests with the same culprit.
type Identity<'r> = (&'r str, &'r str, u32, u32, bool, Option<(&'r str, u32)>, Option<&'r str>);

fn identity(culprit: &Culprit) -> Identity<'_> {
    let Culprit { api, file, line, column, site, user_file, user_line, .. } = culprit;
    let users = user_file.as_deref().zip(*user_line).filter(|_| site.is_some());
    let stack = site.as_deref().filter(|_| users.is_none() && *line == 0);
    (api, file, *line, *column, site.is_some(), users, stack)
}

/// Returns how the threads of a test wait for each other, if their schedule decides and they do.
/// Delays at one line, such as one that takes a lock for many tests, may cause a deadlock of one
/// test and a lost update of another.
fn deadlock(test: &TestReport) -> Option<&str> {
    test.reason?;
    test.scheduled.as_ref()?.end.as_deref()
}

impl<'r> Cause<'r> {
    /// Returns the causes of all findings among `tests`, in the order of their first tests.
    pub(super) fn of(tests: &'r [TestReport]) -> Vec<Self> {
        let mut by_culprits: IndexMap<_, Vec<&'r TestReport>> = IndexMap::new();
        for (place, test) in tests.iter().enumerate() {
            if !test.is_dependent() || test.is_excused() {
                continue;
            }
            let culprits: BTreeSet<_> = test.culprits.iter().map(identity).collect();
            // A test without a culprit is in its own cause.
            let own = culprits.is_empty().then_some(place);
            // One call may have to be late by 5 ms for one test, and by a minute for another.
            let is_long = matches!(test.advice(), Some(Advice::Starved | Advice::Unmeasured));
            let key = (culprits, own, deadlock(test), is_long);
            by_culprits.entry(key).or_default().push(test);
        }
        let mut causes: Vec<Cause<'r>> =
            by_culprits.into_values().map(|tests| Cause { tests }).collect();
        for cause in &mut causes {
            cause.tests.sort_by_key(|test| (!test.has_confirmed_culprits(), test.weakest_level));
        }
        causes
    }

    /// Returns whether the culprits are confirmed for at least one test.
    pub(super) fn is_confirmed(&self) -> bool {
        self.tests[0].has_confirmed_culprits()
    }

    /// Returns whether there are culprits, confirmed or suspected.
    pub(super) fn is_known(&self) -> bool {
        !self.tests[0].culprits.is_empty()
    }

    /// Returns whether the tests depend on threads or time only.
    pub(super) fn is_of_timing(&self) -> bool {
        self.tests[0].reason.is_some()
    }

    /// Returns why the finding is only advice, if it is advice for all tests.
    pub(super) fn advice(&self) -> Option<Advice> {
        let advice = self.tests[0].advice()?;
        self.tests.iter().all(|test| test.advice().is_some()).then_some(advice)
    }

    /// Returns whether this is advice on delays that are suspected, unmeasured, or longer than on a
    /// busy machine.
    pub(super) fn is_advice_on_delays(&self) -> bool {
        let is_long =
            |advice| matches!(advice, Advice::Starved | Advice::Unmeasured | Advice::Suspected);
        self.is_of_timing() && self.advice().is_some_and(is_long)
    }

    /// Returns the advice with the place of its first culprit, without source lines.
    pub(super) fn short_advice<'s>(&self, view: &View<'s>) -> Diagnostic<'s> {
        let test = self.tests[0];
        let headline = headline(test, self.same_evidence() - 1);
        let mut diagnostic = Diagnostic::new(view, Severity::Warning, test.verdict, headline);
        let place = match test.culprits.first().map(Culprit::place) {
            Some((file, line, _)) if line > 0 => format!(" at {file}:{line}"),
            _ => String::new(),
        };
        diagnostic.note("advice", &format!("{}{place}: `-v` shows it", needed(test)));
        diagnostic
    }

    /// Returns the number of tests for which the culprits are confirmed, or suspected if none is
    /// confirmed.
    fn same_evidence(&self) -> usize {
        let is_confirmed = self.is_confirmed();
        self.tests.iter().filter(|test| test.has_confirmed_culprits() == is_confirmed).count()
    }

    /// Returns the headline of the first test, without the other tests.
    pub(super) fn headline_of_first(&self) -> String {
        headline(self.tests[0], 0)
    }

    /// Returns the tests, the one with the most evidence first.
    pub(super) fn tests(&self) -> &[&'r TestReport] {
        &self.tests
    }

    /// Draws the whole finding: where, why, how often, and what to do.
    pub(super) fn diagnostic<'s>(&self, strict: bool, view: &View<'s>) -> Diagnostic<'s> {
        let (&test, others) = self.tests.split_first().expect("a cause has a test");
        let advice = self.advice().filter(|_| !strict);
        let severity = match advice {
            Some(_) => Severity::Warning,
            None => Severity::Error,
        };
        let mut diagnostic =
            Diagnostic::new(view, severity, test.verdict, headline(test, self.same_evidence() - 1));
        let stopped = lines::all(&mut diagnostic, test, view);
        let mut fixes = promises(&mut diagnostic, test);
        if let Some(reason) = test.reason {
            interleaving::draw(&mut diagnostic, test, stopped);
            if let Some(walk) = Walkthrough::of(test) {
                diagnostic.detail("interleaving", &walk.picture());
            }
            if !lines::are_waits(test, view) {
                timing::waits(&mut diagnostic, test);
            }
            fixes = fixes::of_threads(test, reason);
        }
        level(&mut diagnostic, test);
        if let Some(advice) = advice {
            diagnostic.note("advice", advice.reason());
        }
        failures(&mut diagnostic, test, view);
        output(&mut diagnostic, test, view);
        if view.verbose > 0 && test.search_runs > 0 {
            let (searching, all) = (test.search_runs, test.runs);
            let cost = format!("{searching} of its {all} runs searched for the cause");
            diagnostic.note("search", &cost);
        }
        // Suspects of several kinds ask for several things. All but one may miss the point.
        let most = if !view.brief {
            fixes.len()
        } else if test.reason.is_none() && !test.has_one_kind_of_culprits() {
            0
        } else {
            1
        };
        for fix in fixes.into_iter().take(most) {
            diagnostic.note("help", fix);
        }
        close(&mut diagnostic, test, view);
        if !others.is_empty() {
            let text = if view.brief {
                format!("with the same cause: {}", ids(others, false))
            } else {
                list(test, others)
            };
            diagnostic.note("tests", &text);
        }
        diagnostic
    }
}

/// Adds a note about what the weakest level means.
fn level(diagnostic: &mut Diagnostic<'_>, test: &TestReport) {
    let Some(level) = test.weakest_level else { return };
    if test.reason.is_some() {
        diagnostic.detail("level", &timing::level(level, test.delay_level, test));
        return;
    }
    let meaning = if level == Level::Std && !test.is_flaky_today() {
        of_platform(test)
    } else if test.fails_in_canonical_order() {
        level.meaning_of_a_pass()
    } else if test.culprits.iter().any(|one| one.family.is_own()) {
        "fails with another result that the project's code permits"
    } else {
        level.meaning()
    };
    diagnostic.detail("level", &format!("{level}: {meaning}"));
}

/// Returns what a finding at STD means if it is not known to be flaky today.
fn of_platform(test: &TestReport) -> &'static str {
    let is_listed =
        |culprit: &Culprit| matches!(culprit.family, Family::Directory | Family::Environment);
    if !test.culprits.is_empty() && test.culprits.iter().all(is_listed) {
        "fails where the platform lists another order, now reproducible"
    } else {
        "possible today, now reproducible"
    }
}

/// Adds notes about what std leaves unspecified, one for each model. Returns the fixes.
fn promises(diagnostic: &mut Diagnostic<'_>, test: &TestReport) -> Vec<&'static str> {
    let culprits = &test.culprits;
    let mut described = BTreeSet::new();
    let mut fixes = IndexSet::new();
    if culprits.iter().any(is_elsewhere) {
        diagnostic.detail(
            "unspecified",
            "`readdir`, called by C code or inside a library, lists the entries in an order that \
             depends on the filesystem\n\
             see https://pubs.opengroup.org/onlinepubs/9799919799/functions/readdir.html",
        );
        fixes.insert("sort the entries where the library returns them");
    }
    for culprit in culprits.iter().filter(|culprit| !is_elsewhere(culprit)) {
        let Some(model) = Model::by_api(&culprit.api) else { continue };
        if !described.insert(model.api) {
            continue;
        }
        fixes.insert(model.fix);
        let api = short(model.api);
        // One model covers all waits with a limit.
        let is_any_wait = model.api == model::CONDVAR_WAIT_TIMEOUT.api;
        let subject = match interleaving::called(test, culprit) {
            Some(called) if is_any_wait && called.ends_with("block_on") => format!(
                "a timer of the async runtime that `{called}` drives, such as \
                 `tokio::time::timeout`,"
            ),
            Some(called) if is_any_wait && !called.contains("Condvar") => {
                format!("`{called}`, as `{api}`,")
            }
            None if is_any_wait => format!("a wait with a limit, as `{api}`,"),
            _ => format!("`{api}`"),
        };
        let text = format!("{subject} {}\nsee {}", model.promise, model.url());
        diagnostic.detail("unspecified", &text);
    }
    fixes.into_iter().collect()
}

/// Lists the other tests of a cause, each with what differs from the first test.
fn list(first: &TestReport, others: &[&TestReport]) -> String {
    let calls = if first.culprits.len() == 1 { "the same call" } else { "the same calls" };
    let confirmed = others.iter().filter(|test| test.has_confirmed_culprits()).count();
    let mut text = match (confirmed, others.len() - confirmed) {
        (0, suspected) => format!("{suspected} more may depend on {calls}:"),
        (confirmed, 0) => format!("{confirmed} more caused by {calls}:"),
        (confirmed, suspected) => {
            format!("{confirmed} more caused by {calls}, and {suspected} suspected:")
        }
    };
    for test in others {
        let _ = write!(text, "\n`{}`", test.id);
        if first.has_confirmed_culprits() && !test.has_confirmed_culprits() {
            text.push_str(" (suspected)");
        }
        if let Some(rates) = rates(test) {
            let _ = write!(text, ": {rates}");
        }
        if let ([first], [culprit]) = (first.culprits.as_slice(), test.culprits.as_slice()) {
            let is_known =
                culprit.call.is_some() || culprit.elements.is_some() || culprit.position.is_some();
            if is_known && what(first) != what(culprit) {
                let _ = write!(text, "\n  {}", what(culprit));
            }
            if culprit.user_file.is_some() && first.place() != culprit.place() {
                let (file, line, _) = culprit.place();
                let _ = write!(text, "\n  from {file}:{line}");
            }
        }
        if let Some(reproduce) = &test.reproduce {
            let _ = write!(text, "\n  {reproduce}");
        }
    }
    text
}

#[cfg(test)]
mod tests {

    use anstream::adapter::strip_str;
    use camino::Utf8Path;
    use nondex_core::Kind;

    use super::*;
    use crate::report::human::interleaving::tests::suspect;
    use crate::report::human::{Sources, render, render_test};
    use crate::report::schema::tests::report;
    use crate::report::schema::{Scheduled, Timing, Verdict, WaitCause, WaitCauseKind, WaitReport};

    fn no_sources() -> Sources {
        Sources::new(Utf8Path::new("/nonexistent"), None)
    }

    #[test]
    fn a_deadlock_after_a_panic_names_it_and_gives_no_advice_on_what_waits_or_is_suspected() {
        let wait = |thread: &str, operation: &str| WaitReport {
            thread: thread.to_owned(),
            operation: operation.to_owned(),
            ..WaitReport::default()
        };
        let suspect =
            |model: &Model, family| Culprit { kind: Kind::Random, ..suspect(model, family, 94) };
        let delay =
            Culprit { kind: Kind::Extend, ..suspect(&model::CONDVAR_WAIT_TIMEOUT, Family::Time) };
        for reason in [None, Some(Timing::Race)] {
            let test = TestReport {
                verdict: Verdict::NonDeterministic,
                reason,
                weakest_level: Some(Level::Std),
                culprits: vec![suspect(&model::CLOCK_GETTIME, Family::Entropy), delay.clone()],
                scheduled: Some(Scheduled {
                    end: Some("deadlock".to_owned()),
                    after_panic: true,
                    waits: vec![wait("0.1", "Barrier::wait"), wait("0", "JoinHandle::join")],
                    ..Scheduled::default()
                }),
                ..TestReport::new("shop", "shop", "hammers")
            };
            let text =
                strip_str(&render_test(&test, false, &View::brief(&no_sources()))).to_string();
            assert!(text.starts_with("warning[ND]"), "{text}");
            assert!(text.contains("deadlock after a panic"), "{text}");
            for word in ["`Barrier` in every round", "seed the generator"] {
                assert!(!text.contains(word), "{word}: {text}");
            }
        }
    }

    #[test]
    fn a_thread_that_a_notification_passed_over_is_marked_before_those_that_join_it() {
        let wait = |thread: &str, line, cause: Option<WaitCauseKind>| WaitReport {
            thread: thread.to_owned(),
            operation: "Condvar::wait".to_owned(),
            file: Some("src/lib.rs".to_owned()),
            line: Some(line),
            cause: cause.map(|kind| WaitCause {
                kind,
                thread: "0".to_owned(),
                what: "Condvar::notify_one".to_owned(),
                file: Some("src/lib.rs".to_owned()),
                line: Some(19),
            }),
            ..WaitReport::default()
        };
        let test = TestReport {
            verdict: Verdict::NonDeterministic,
            reason: Some(Timing::Race),
            weakest_level: Some(Level::Std),
            scheduled: Some(Scheduled {
                end: Some("deadlock".to_owned()),
                waits: vec![
                    wait("0", 20, Some(WaitCauseKind::Runs)),
                    wait("0.0", 10, None),
                    wait("0.1", 14, Some(WaitCauseKind::Another)),
                ],
                ..Scheduled::default()
            }),
            ..TestReport::new("shop", "shop", "hands_over")
        };
        let text = strip_str(&render_test(&test, false, &View::brief(&no_sources()))).to_string();
        let part = "and the notification of the test's own thread at src/lib.rs:19 woke another";
        assert!(text.contains(part), "{text}");
    }

    #[test]
    fn a_deadlock_that_a_clock_decides_has_the_line_that_reads_it() {
        let clock = Culprit {
            confirmed: true,
            kind: Kind::Random,
            ..suspect(&model::INSTANT_NOW, Family::Time, 217)
        };
        let wait = |operation: &str, line| WaitReport {
            thread: "0.1".to_owned(),
            operation: operation.to_owned(),
            file: Some("src/lib.rs".to_owned()),
            line: Some(line),
            ..WaitReport::default()
        };
        let test = TestReport {
            verdict: Verdict::NonDeterministic,
            reason: Some(Timing::Time),
            weakest_level: Some(Level::One),
            culprits: vec![clock],
            scheduled: Some(Scheduled {
                end: Some("deadlock".to_owned()),
                waits: vec![wait("Barrier::wait", 532), wait("Receiver::recv", 549)],
                ..Scheduled::default()
            }),
            ..TestReport::new("shop", "shop", "recovers")
        };
        let text = render_test(&test, false, &View::brief(&no_sources()));
        let text = strip_str(&text).to_string();
        for part in [
            "waits here in `Barrier::wait`",
            "the clock shows no later time than before",
            "src/lib.rs:217",
            "help: allow an elapsed time of zero",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn tests_that_reach_a_line_by_different_stacks_form_one_cause_and_unknown_lines_do_not() {
        let reached = |name: &str, line, user_line: Option<u32>| TestReport {
            verdict: Verdict::NonDeterministic,
            reason: Some(Timing::Race),
            culprits: vec![Culprit {
                site: Some(format!("stack:{name}")),
                user_file: user_line.map(|_| "tests/it.rs".to_owned()),
                user_line,
                ..suspect(&model::THREAD_SPAWN, Family::Schedule, line)
            }],
            ..TestReport::new("shop", "shop", name)
        };
        for (line, users, causes) in [
            (527, [None, None], 1),
            (527, [Some(3), Some(3)], 1),
            (527, [Some(3), Some(9)], 2),
            (0, [None, None], 2),
            (0, [Some(3), Some(3)], 1),
        ] {
            let tests = [reached("sorts", line, users[0]), reached("walks", line, users[1])];
            assert_eq!(Cause::of(&tests).len(), causes, "{line} {users:?}");
        }
    }

    #[test]
    fn a_deadlock_and_a_failed_assertion_are_two_causes_though_one_line_is_delayed() {
        let delayed = |name: &str, end: Option<&str>| TestReport {
            verdict: Verdict::NonDeterministic,
            reason: Some(Timing::Race),
            culprits: vec![suspect(&model::THREAD_SPAWN, Family::Schedule, 15)],
            scheduled: Some(Scheduled { end: end.map(str::to_owned), ..Scheduled::default() }),
            ..TestReport::new("shop", "shop", name)
        };
        let deadlock = Some("deadlock");
        for (ends, causes) in [([deadlock, None], 2), ([deadlock; 2], 1), ([None; 2], 1)] {
            let tests = [delayed("pays", ends[0]), delayed("counts", ends[1])];
            assert_eq!(Cause::of(&tests).len(), causes, "{ends:?}");
        }
    }

    #[test]
    fn a_test_that_only_a_minute_of_delay_fails_is_not_listed_with_one_that_a_millisecond_fails() {
        let delayed = |name: &str, level| TestReport {
            verdict: Verdict::NonDeterministic,
            reason: Some(Timing::Time),
            weakest_level: Some(level),
            delay_level: Some(level),
            culprits: vec![Culprit {
                confirmed: true,
                ..suspect(&model::THREAD_SPAWN, Family::Schedule, 15)
            }],
            ..TestReport::new("shop", "shop", name)
        };
        for (level, causes) in [(Level::Std, 1), (Level::Eq, 1), (Level::Full, 2)] {
            let tests = [delayed("narrow", Level::Std), delayed("wide", level)];
            assert_eq!(Cause::of(&tests).len(), causes, "{level:?}");
        }
    }

    #[test]
    fn many_pieces_of_advice_on_delays_name_a_line_without_its_source() {
        let delayed = |name: &str, line, level| TestReport {
            verdict: Verdict::NonDeterministic,
            reason: Some(Timing::Race),
            weakest_level: Some(level),
            delay_level: Some(level),
            culprits: vec![Culprit {
                confirmed: true,
                ..suspect(&model::THREAD_SPAWN, Family::Schedule, line)
            }],
            ..TestReport::new("shop", "shop", name)
        };
        let shown = |advice: u32| {
            let mut tests = vec![delayed("real", 1, Level::Std)];
            tests.extend((0..advice).map(|n| delayed(&format!("slow{n}"), 10 + n, Level::Full)));
            let text = strip_str(&render(&report(tests), &View::brief(&no_sources()))).to_string();
            ["--> src/lib.rs:", " at src/lib.rs:"].map(|place| text.matches(place).count())
        };
        assert_eq!(shown(3), [4, 0]);
        assert_eq!(shown(4), [1, 4]);
    }
}
