//! One test that is not stable.

use std::fmt::Write;

use nondex_core::{Level, Model};

use super::{BOLD, GUTTER, View, source, verdict_style};
use crate::report::schema::{Culprit, FailureReport, TestReport, Verdict};

/// How many lines of a failing run's output are shown, the last ones.
const OUTPUT_LINES: usize = 40;

/// Draws what is known of a test; nothing for one that is stable, or not run unless the view is verbose.
pub(super) fn render(text: &mut String, test: &TestReport, strict: bool, view: &View<'_>) {
    match test.verdict {
        Verdict::Stable => {}
        Verdict::NotRun => {
            if view.verbose > 0 {
                line(text, "not run", test, &test.notes.join("; "));
            }
        }
        Verdict::ImplementationDependent => implementation_dependent(text, test, strict, view),
        Verdict::Network => {
            let events = test
                .network
                .iter()
                .map(|event| format!("{} {}: {}", event.operation, event.address, event.error));
            line(text, "note", test, &events.collect::<Vec<_>>().join("; "));
        }
        Verdict::Broken => other(text, test, "fails in base order too", view),
        Verdict::NonDeterministic => other(
            text,
            test,
            "differs between runs with the same choices",
            view,
        ),
        Verdict::OrderDependentVictim => other(text, test, "fails after another test", view),
        Verdict::OrderDependentBrittle => {
            other(text, test, "fails unless another test ran before", view)
        }
        Verdict::Unknown => other(text, test, "is flaky for an unknown reason", view),
    }
}

fn line(text: &mut String, label: &str, test: &TestReport, why: &str) {
    let style = verdict_style(test);
    let why = if why.is_empty() {
        String::new()
    } else {
        format!(": {why}")
    };
    let _ = writeln!(
        text,
        "{style}{label}[{}]{style:#}: `{}`{why}",
        test.verdict, test.id
    );
}

fn headline(text: &mut String, label: &str, test: &TestReport, what: &str) {
    let style = verdict_style(test);
    let _ = writeln!(
        text,
        "{style}{label}[{}]{style:#}{BOLD}: `{}` {what}{BOLD:#}",
        test.verdict, test.id
    );
}

/// ` = label: message`, further lines of the message under its first.
fn note(text: &mut String, label: &str, message: &str) {
    let indent = label.len() + 7;
    let mut lines = message.lines();
    let first = lines.next().unwrap_or_default();
    let _ = writeln!(
        text,
        "   {GUTTER}={GUTTER:#} {BOLD}{label}{BOLD:#}: {first}"
    );
    for line in lines {
        let _ = writeln!(text, "{}", format!("{:indent$}{line}", "").trim_end());
    }
}

fn implementation_dependent(text: &mut String, test: &TestReport, strict: bool, view: &View<'_>) {
    let advice = test.is_full_only() && !strict;
    let what = match test.culprits.as_slice() {
        [] => "depends on a choice that std leaves open".to_owned(),
        [one] => format!("depends on what `{}` leaves open", one.api),
        [first, rest @ ..] => format!(
            "depends on what `{}` and {} leave open",
            first.api,
            calls(rest.len())
        ),
    };
    headline(text, if advice { "warning" } else { "error" }, test, &what);
    for culprit in &test.culprits {
        source::render(text, culprit.place(), &label(culprit), view);
    }
    for culprit in &test.culprits {
        if culprit.user_file.is_some() {
            let call = format!(
                "the call is at {}:{}:{}",
                culprit.file, culprit.line, culprit.column
            );
            note(text, "note", &call);
        }
    }
    if let Some(level) = test.weakest_level {
        note(text, "level", &format!("{level}: {}", level.meaning()));
    }
    failures(text, test, view);
    let mut told: Vec<&str> = Vec::new();
    for model in test
        .culprits
        .iter()
        .filter_map(|culprit| Model::by_api(&culprit.api))
    {
        if !told.contains(&model.fix) {
            told.push(model.fix);
            note(text, "help", &format!("{}\nsee {}", model.fix, model.url()));
        }
    }
    closing(text, test);
}

fn calls(number: usize) -> String {
    match number {
        1 => "one other call".to_owned(),
        many => format!("{many} other calls"),
    }
}

/// What is said under the carets: what the API leaves open, and of how many elements.
fn label(culprit: &Culprit) -> String {
    let mut label = Model::by_api(&culprit.api).map_or_else(
        || culprit.api.clone(),
        |model| format!("`{}` {}", short(model.api), model.promise),
    );
    if let Some([i, j]) = culprit.elements {
        let _ = write!(label, "; elements {i} and {j} of {} matter", culprit.len);
    } else {
        let _ = write!(label, " (of {})", culprit.len);
    }
    if !culprit.confirmed {
        label.push_str(" (suspected)");
    }
    label
}

/// The last two segments of a path: `HashMap::iter`, `fs::read_dir`.
fn short(api: &str) -> &str {
    api.rmatch_indices("::")
        .nth(1)
        .map_or(api, |(at, _)| &api[at + 2..])
}

/// The rates at each level, and what the first failing runs said.
fn failures(text: &mut String, test: &TestReport, view: &View<'_>) {
    let rates: Vec<String> = Level::ALL
        .iter()
        .filter_map(|level| {
            let [failed, runs] = test.failure_rate.get(level)?;
            Some(format!("{level} {failed}/{runs}"))
        })
        .collect();
    if !rates.is_empty() {
        note(text, "failures", &rates.join(", "));
    }
    let shown = if view.verbose > 0 {
        test.failures.len()
    } else {
        1
    };
    for failure in test.failures.iter().take(shown) {
        note(text, "message", &message(failure));
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
    // A message of several lines, such as assert_eq's, is drawn as a block of its own.
    let break_or_space = if failure.message.contains('\n') {
        '\n'
    } else {
        ' '
    };
    format!("{message}:{break_or_space}{}", failure.message.trim_end())
}

fn closing(text: &mut String, test: &TestReport) {
    for sentence in &test.notes {
        note(text, "note", sentence);
    }
    if let Some(reproduce) = &test.reproduce {
        note(text, "reproduce", reproduce);
    }
    text.push('\n');
}

/// Any verdict without a culprit: the headline, the place, and what the failing run wrote.
fn other(text: &mut String, test: &TestReport, what: &str, view: &View<'_>) {
    headline(text, "error", test, what);
    if let (Some(file), Some(line)) = (&test.file, test.line) {
        let _ = writeln!(text, "  {GUTTER}-->{GUTTER:#} {file}:{line}");
    }
    failures(text, test, view);
    if let Some(order) = &test.order {
        for (label, names) in [
            ("polluters", &order.polluters),
            ("setters", &order.setters),
            ("cleaners", &order.cleaners),
        ] {
            if !names.is_empty() {
                note(text, label, &names.join("\n"));
            }
        }
    }
    if let Some(output) = &test.output {
        let lines: Vec<&str> = output.trim_end().lines().collect();
        let skipped = lines.len().saturating_sub(OUTPUT_LINES);
        if !lines.is_empty() {
            let which = if skipped > 0 {
                format!(" (its last {OUTPUT_LINES} lines)")
            } else {
                String::new()
            };
            note(text, "output", &format!("of the first failing run{which}"));
        }
        for line in &lines[skipped..] {
            let _ = writeln!(text, "{}", format!("       {line}").trim_end());
        }
    }
    closing(text, test);
}
