//! Translates places in the generated program of a doctest to places in the source.

use camino::Utf8Path;

use crate::project::DocPlace;
use crate::report::schema::NetworkEvent;
use crate::report::{Line, TestReport};

/// Replaces places in the program generated from a doctest by those in the source.
pub(super) fn in_source(report: &mut TestReport, place: &DocPlace, root: &Utf8Path) {
    let find = |file: &mut String, line: &mut u32, column: Option<&mut u32>| {
        if let Some(found) = place.in_source(root, file, *line) {
            (*file, *line) = (found.file, found.line);
            if let Some(column) = column.filter(|column| **column > 0) {
                *column += found.margin;
            }
        }
    };
    let find_line = |place: &mut Option<Line>| {
        if let Some(place) = place {
            find(&mut place.file, &mut place.line, None);
        }
    };
    let find_known = |file: &mut Option<String>, line: &mut Option<u32>| {
        if let (Some(file), Some(line)) = (file, line) {
            find(file, line, None);
        }
    };
    if let Some(found) = &mut report.interleaving {
        find_line(&mut found.failed);
        for step in &mut found.steps {
            find_known(&mut step.file, &mut step.line);
        }
    }
    for wait in report.scheduled.iter_mut().flat_map(|scheduled| &mut scheduled.waits) {
        find_known(&mut wait.file, &mut wait.line);
        find_line(&mut wait.caller);
        find_line(&mut wait.last);
        if let Some(cause) = &mut wait.cause {
            find_known(&mut cause.file, &mut cause.line);
        }
    }
    for failure in &mut report.failures {
        find_known(&mut failure.file, &mut failure.line);
    }
    for point in &mut report.points {
        find(&mut point.file, &mut point.line, Some(&mut point.column));
    }
    let events = |events: &mut [NetworkEvent]| {
        for event in events {
            find_known(&mut event.file, &mut event.line);
        }
    };
    events(&mut report.network);
    if let Some(sanitised) = &mut report.sanitised_by {
        events(&mut sanitised.operations);
    }
    for culprit in &mut report.culprits {
        find(&mut culprit.file, &mut culprit.line, Some(&mut culprit.column));
        find_known(&mut culprit.user_file, &mut culprit.user_line);
        for element in &mut culprit.element_details {
            find_known(&mut element.file, &mut element.line);
        }
        if let Some(created) = &mut culprit.created {
            find(&mut created.file, &mut created.line, created.column.as_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::schema::{Scheduled, WaitReport};
    use crate::report::{Culprit, FailureReport};
    use nondex_core::{Family, Outcome, Site};

    #[test]
    fn every_place_in_the_program_becomes_one_in_the_source() {
        let file = || "./src/lib.rs".to_owned();
        let site = Site {
            api: "std::fs::read_dir".to_owned(),
            family: Family::Directory,
            file: file(),
            line: 3,
            column: 5,
        };
        let mut report = TestReport::new("p", "p::doc/p", "t");
        report.failures.push(FailureReport {
            file: Some(file()),
            line: Some(4),
            ..FailureReport::clean(Outcome::Failed)
        });
        report.network.push(NetworkEvent {
            file: Some("src/lib.rs".to_owned()),
            line: Some(4),
            ..NetworkEvent::default()
        });
        let place = || Some(Line { file: file(), line: 7 });
        let wait = WaitReport {
            file: Some(file()),
            line: Some(2),
            caller: place(),
            last: place(),
            ..WaitReport::default()
        };
        report.scheduled = Some(Scheduled { waits: vec![wait], ..Scheduled::default() });
        report.culprits.push(Culprit {
            user_file: Some(file()),
            user_line: Some(6),
            ..Culprit::new(&site)
        });
        let place = DocPlace { file: file(), offset: 10 };
        in_source(&mut report, &place, Utf8Path::new("/nonexistent"));
        let failure = &report.failures[0];
        assert_eq!(failure.file.as_deref(), Some("src/lib.rs"));
        assert_eq!(failure.line, Some(14));
        assert_eq!(report.network[0].line, Some(4), "it is in the library");
        let wait = &report.scheduled.as_ref().unwrap().waits[0];
        let expected = Some(Line { file: "src/lib.rs".to_owned(), line: 17 });
        assert_eq!((wait.line, &wait.caller, &wait.last), (Some(12), &expected, &expected));
        let culprit = &report.culprits[0];
        assert_eq!((culprit.file.as_str(), culprit.line, culprit.column), ("src/lib.rs", 13, 5));
        assert_eq!(culprit.user_line, Some(16));
    }
}
