//! One test that is not stable.

use std::fmt::Write;

use nondex_core::{Kind, Level, Model};

use super::diagnostic::Diagnostic;
use super::{View, short, verdict_style};
use crate::report::schema::{Culprit, FailureReport, TestReport, Verdict};

/// How many lines of a failing run's output are shown, the last ones.
const OUTPUT_LINES: usize = 40;

/// Draws what is known of a test; nothing for one that is stable, or not run unless the view is verbose.
pub(super) fn render(test: &TestReport, strict: bool, view: &View<'_>) -> String {
    match test.verdict {
        Verdict::Stable => String::new(),
        Verdict::NotRun if view.verbose == 0 => String::new(),
        Verdict::NotRun => line("note", test, &test.notes),
        Verdict::Network => {
            let events = test.network.iter();
            let events = events.map(|event| {
                let place = match (&event.file, event.line) {
                    (Some(file), Some(line)) => format!(" at {file}:{line}"),
                    _ => String::new(),
                };
                let (operation, address) = (&event.operation, &event.address);
                format!("{operation} {address}: {}{place}", event.error)
            });
            line("note", test, &events.collect::<Vec<_>>())
        }
        Verdict::ImplementationDependent => implementation_dependent(test, strict, view),
        Verdict::Broken => other(test, "fails in base order too", view),
        Verdict::NonDeterministic => {
            other(test, "differs between runs with the same choices", view)
        }
        Verdict::OrderDependentVictim => other(test, "fails after another test", view),
        Verdict::OrderDependentBrittle => other(test, "fails unless another test ran before", view),
        Verdict::Unknown => other(test, "is flaky for an unknown reason", view),
    }
}

/// A test that needs no more than a line.
fn line(severity: &str, test: &TestReport, why: &[String]) -> String {
    let style = verdict_style(test);
    let why = if why.is_empty() {
        String::new()
    } else {
        format!(": {}", why.join("; "))
    };
    format!(
        "{style}{severity}[{}]{style:#}: `{}`{why}\n",
        test.verdict, test.id
    )
}

/// A test whose outcome depends on an open choice: where, why, how often, and what to do.
fn implementation_dependent(test: &TestReport, strict: bool, view: &View<'_>) -> String {
    let advice = test.is_full_only() && !strict;
    let what = match test.culprits.as_slice() {
        [] => "depends on a choice that std leaves open".to_owned(),
        [one] => format!("depends on what `{}` leaves open", one.api),
        [first, rest @ ..] if rest.iter().all(|other| other.api == first.api) => {
            format!(
                "depends on what {} calls of `{}` leave open",
                rest.len() + 1,
                first.api
            )
        }
        [first, rest @ ..] => {
            let calls = match rest.len() {
                1 => "one other call".to_owned(),
                many => format!("{many} other calls"),
            };
            format!("depends on what `{}` and {calls} leave open", first.api)
        }
    };
    let mut diagnostic = Diagnostic::new(
        verdict_style(test),
        if advice { "warning" } else { "error" },
        test.verdict,
        &format!("`{}` {what}", test.id),
        test.culprits.iter().map(|culprit| culprit.place().1),
    );
    for culprit in &test.culprits {
        let label = label(culprit, test);
        if culprit.file.is_empty() {
            diagnostic.note("call", &label);
        } else {
            diagnostic.source(view.workspace_root, culprit.place(), &label);
        }
    }
    let mut told: Vec<&Model> = Vec::new();
    let culprits = test.culprits.iter();
    for model in culprits.filter_map(|culprit| Model::by_api(&culprit.api)) {
        if !told.contains(&model) {
            told.push(model);
            let promise = format!(
                "`{}` {}\nsee {}",
                short(model.api),
                model.promise,
                model.url()
            );
            diagnostic.note("open", &promise);
        }
    }
    if let Some(level) = test.weakest_level {
        diagnostic.note("level", &format!("{level}: {}", level.meaning()));
    }
    failures(&mut diagnostic, test, view);
    if view.verbose > 0 {
        output(&mut diagnostic, test);
    }
    let mut fixes: Vec<&str> = told.iter().map(|model| model.fix).collect();
    fixes.dedup();
    for fix in fixes {
        diagnostic.note("help", fix);
    }
    close(diagnostic, test)
}

/// What is said under the carets.
fn label(culprit: &Culprit, test: &TestReport) -> String {
    let mut label = String::new();
    let api = short(&culprit.api);
    if culprit.site.is_some() {
        let is_known = !culprit.file.is_empty()
            && (Some(&culprit.file), Some(culprit.line)) != (test.file.as_ref(), test.line);
        let place = if is_known {
            "here"
        } else {
            "(call site without debug information)"
        };
        let _ = write!(label, "leads to `{api}` {place}, where ");
    } else if culprit.user_file.is_some() {
        let Culprit {
            file, line, column, ..
        } = culprit;
        let _ = write!(label, "leads to `{api}` at {file}:{line}:{column}, where ");
    }
    match (culprit.kind, culprit.elements) {
        (Kind::Permute, Some([i, j])) => {
            let _ = write!(
                label,
                "the order of elements {i} and {j} of {} is open",
                culprit.len
            );
        }
        (Kind::Permute, None) => {
            let _ = write!(label, "the order of {} elements is open", culprit.len);
        }
        (Kind::Random, _) => label.push_str("the value is open"),
        (Kind::Extend, _) => label.push_str("more than asked for is allowed"),
        (Kind::Short, _) => label.push_str("less than asked for is allowed"),
        (Kind::Spurious, _) => label.push_str("it may happen without a cause"),
    }
    if !culprit.confirmed {
        label.push_str(" (suspected, not confirmed)");
    }
    label
}

/// The rates at each level, and what the first failing run said; every failing run in a verbose view.
fn failures(diagnostic: &mut Diagnostic, test: &TestReport, view: &View<'_>) {
    let rates = Level::ALL.iter().filter_map(|level| {
        let [failed, runs] = test.failure_rate.get(level)?;
        Some(format!("{level} {failed}/{runs}"))
    });
    let rates: Vec<String> = rates.collect();
    // A broken test fails everywhere, most often by implication.
    if !rates.is_empty() && test.verdict != Verdict::Broken {
        diagnostic.note("failures", &rates.join(", "));
    }
    let shown = if view.verbose > 0 {
        test.failures.len()
    } else {
        1
    };
    for failure in test.failures.iter().take(shown) {
        diagnostic.note("message", &message(failure));
    }
}

/// The message of a failing run, with its spec and place.
fn message(failure: &FailureReport) -> String {
    let mut message = match (failure.level, failure.seed) {
        (Some(level), Some(seed)) => format!("{level}, seed {seed}"),
        _ => "clean run".to_owned(),
    };
    if let (Some(file), Some(line)) = (&failure.file, failure.line) {
        let _ = write!(message, ", at {file}:{line}");
    }
    let said = failure.message.trim_end();
    // A message of several lines, such as assert_eq's, is drawn as a block of its own.
    let separator = if said.contains('\n') { '\n' } else { ' ' };
    format!("{message}:{separator}{said}")
}

/// The end of what the first failing run wrote.
fn output(diagnostic: &mut Diagnostic, test: &TestReport) {
    let text = test.output.as_deref().unwrap_or_default().trim_end();
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() {
        return;
    }
    let skipped = lines.len().saturating_sub(OUTPUT_LINES);
    diagnostic.note(
        "output",
        &match skipped {
            0 => "of the first failing run".to_owned(),
            _ => format!("of the first failing run, its last {OUTPUT_LINES} lines"),
        },
    );
    diagnostic.block(lines[skipped..].iter().copied());
}

fn close(mut diagnostic: Diagnostic, test: &TestReport) -> String {
    for sentence in &test.notes {
        diagnostic.note("note", sentence);
    }
    if let Some(reproduce) = &test.reproduce {
        diagnostic.note("reproduce", reproduce);
    }
    diagnostic.finish()
}

/// Any verdict without a culprit: the test's place, and what the failing run wrote.
fn other(test: &TestReport, what: &str, view: &View<'_>) -> String {
    let mut diagnostic = Diagnostic::new(
        verdict_style(test),
        "error",
        test.verdict,
        &format!("`{}` {what}", test.id),
        test.line,
    );
    if let (Some(file), Some(line)) = (&test.file, test.line) {
        diagnostic.place(file, line, None);
    }
    failures(&mut diagnostic, test, view);
    if let Some(order) = &test.order {
        for (label, names) in [
            ("polluters", &order.polluters),
            ("setters", &order.setters),
            ("cleaners", &order.cleaners),
        ] {
            if !names.is_empty() {
                diagnostic.note(label, &names.join("\n"));
            }
        }
    }
    output(&mut diagnostic, test);
    close(diagnostic, test)
}
