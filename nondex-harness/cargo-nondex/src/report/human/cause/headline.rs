//! The headline of a finding: which tests rely on what.

use nondex_core::Kind;

use crate::report::human::wording::called;
use crate::report::human::{interleaving, timing};
use crate::report::schema::{Culprit, TestReport};

/// Returns the headline: what a test relies on, and how many `others` do, too.
pub(super) fn headline(test: &TestReport, others: usize) -> String {
    let id = &test.id;
    let subject = match others {
        0 => format!("`{id}`"),
        1 => format!("`{id}` and one other test"),
        _ => format!("`{id}` and {others} other tests"),
    };
    let end = timing::ends(test);
    let sleep = interleaving::slept(test).filter(|_| end.is_none());
    let race = || interleaving::races(test).filter(|_| sleep.is_none());
    let wait = || {
        let wait = interleaving::timed_out(test).filter(|_| sleep.is_none())?;
        let (file, line) = (wait.file.as_ref()?, wait.line?);
        Some(format!("times out: `{}` at {file}:{line}, while a thread is delayed", wait.what))
    };
    if let Some(what) = end.or_else(wait).or_else(race) {
        return format!("{subject}: {what}");
    }
    let (subject, its) = match others {
        0 => (format!("{subject} relies"), "its"),
        _ => (format!("{subject} rely"), "their"),
    };
    if let Some((file, line)) = sleep.and_then(|sleep| Some((sleep.file.as_ref()?, sleep.line?))) {
        return format!("{subject} on the sleep at {file}:{line} being long enough");
    }
    if let Some(reason) = test.reason {
        return format!("{subject} on {}", timing::on(reason, test, its));
    }
    let calls = match test.culprits.as_slice() {
        [] => return format!("{subject} on an unspecified choice"),
        [one] => format!("`{}`", called(one)),
        [first, rest @ ..] if rest.iter().all(|other| called(other) == called(first)) => {
            format!("{} calls of `{}`", rest.len() + 1, called(first))
        }
        [first, rest @ ..] => match rest.len() {
            1 => format!("`{}` and one other call", called(first)),
            many => format!("`{}` and {many} other calls", called(first)),
        },
    };
    if !test.has_confirmed_culprits() {
        return format!("{subject} on an unspecified choice, suspected: {calls}");
    }
    format!("{subject} on {} {calls}", unspecified(&test.culprits))
}

/// Returns what is unspecified about some calls, to precede their names.
fn unspecified(culprits: &[Culprit]) -> &'static str {
    let first = culprits.first().map(|culprit| culprit.kind);
    let kind = first.filter(|kind| culprits.iter().all(|other| other.kind == *kind));
    match kind {
        Some(Kind::Permute) => "the order of",
        Some(Kind::Random) => "the value of",
        Some(Kind::Extend) => "the delay of",
        Some(Kind::Short) => "how much is done at once by",
        Some(Kind::Spurious) | None => "unspecified behaviour of",
    }
}
