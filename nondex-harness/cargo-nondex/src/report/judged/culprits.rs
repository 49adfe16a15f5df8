//! Reports the culprits that a search found.

use nondex_core::{ElementRecord, Family, Frame, PointRecord, Site, StepRecord};

use crate::judge::Evidence;
use crate::judge::culprit::{self, Call, Culprits, Decisive, Group};
use crate::project::TestCase;
use crate::report::schema::{CallReport, ElementReport, PlaceReport};
use crate::report::{Culprit, Workspace};

/// Returns one culprit for each call or, if the search ended early, for each site.
pub(super) fn report(found: &Culprits, test: &TestCase, workspace: &Workspace) -> Vec<Culprit> {
    let reporter = Reporter { test, workspace, confirmed: found.confirmed };
    let mut culprits = Vec::new();
    for group in &found.groups {
        if group.calls.is_empty() {
            culprits.extend(group.sites.iter().map(|site| reporter.site(site, group)));
        } else {
            culprits.extend(group.calls.iter().map(|call| reporter.call(call, group)));
        }
    }
    culprits
}

/// Returns the culprit for a single choice point of the test.
pub fn of_point(
    point: &PointRecord,
    confirmed: bool,
    test: &TestCase,
    workspace: &Workspace,
) -> Culprit {
    Reporter { test, workspace, confirmed }.at(&point.site, point.max_len, &point.stack)
}

/// Returns the number of runs that the search made.
pub(super) fn runs(evidence: &Evidence) -> u64 {
    evidence
        .all()
        .filter(|(spec, _)| spec.draws_some() || !spec.given().is_empty() || !spec.trace.is_empty())
        .count() as u64
}

struct Reporter<'a> {
    test: &'a TestCase,
    workspace: &'a Workspace,
    confirmed: bool,
}

impl Reporter<'_> {
    fn site(&self, site: &Site, group: &Group) -> Culprit {
        let records = || group.points.iter().filter(|point| point.site == *site);
        let frames: Vec<_> = records().flat_map(|point| point.stack.clone()).collect();
        self.at(site, records().map(|point| point.max_len).max().unwrap_or(0), &frames)
    }

    /// Returns the culprit at a site that chose among `len` elements. `frames` starts with the
    /// innermost frame.
    fn at(&self, site: &Site, len: u64, frames: &[Frame]) -> Culprit {
        let mut culprit = Culprit { len, confirmed: self.confirmed, ..Culprit::new(site) };
        // Threads of a library have no frame of the user's code. Delays later get the lines of
        // their conflict.
        let is_timed = matches!(site.family, Family::Schedule | Family::Time);
        let declared = || self.declared().filter(|_| !is_timed && !frames.is_empty());
        let user = self.user_place(frames);
        // Other calls are identified by their stack alone.
        if site.line > 0 {
            if !self.workspace.is_users(&site.file) {
                (culprit.user_file, culprit.user_line) = user.or_else(declared).unzip();
            }
            return culprit;
        }
        let library = self.workspace.nearest(frames).filter(|_| user.is_none());
        if library.is_some() {
            (culprit.user_file, culprit.user_line) = declared().unzip();
        }
        let place = user.or(library).or_else(|| self.declared());
        let (file, line) = place.unwrap_or_default();
        culprit.site = Some(std::mem::replace(&mut culprit.file, file));
        culprit.line = line;
        culprit
    }

    /// Returns the innermost place of the user's code on a stack. Functions from a dependency's
    /// macro have the macro's lines: if the test is such a function, this is the place of its
    /// declaration.
    fn user_place(&self, frames: &[Frame]) -> Option<(String, u32)> {
        let nearest = self.workspace.nearest_of_users(frames);
        nearest.or_else(|| {
            let name = format!("::{}", self.test.name);
            let mut functions = frames.iter().map(|frame| &frame.function);
            let is_called = functions.any(|function| function.ends_with(&name));
            self.declared().filter(|_| is_called)
        })
    }

    /// Returns the place of the test's declaration.
    fn declared(&self) -> Option<(String, u32)> {
        Some((self.test.file.clone()?, self.test.line?))
    }

    fn call(&self, call: &Call, group: &Group) -> Culprit {
        let mut culprit = Culprit {
            call: Some(CallReport {
                thread: call.thread.clone(),
                ordinal: call.ordinal,
                of: call.of,
            }),
            ..self.site(&call.site, group)
        };
        let (Some(turn), Some(step)) = (&call.turn, culprit::step(&group.steps, call)) else {
            return culprit;
        };
        culprit.len = step.len;
        culprit.created = self.created(step);
        match turn.decisive {
            Decisive::Elements { position, .. } => culprit.position = position,
            Decisive::Number(number) => culprit.number = Some(number.into()),
        }
        let mut elements: Vec<&ElementRecord> = step.exchanged.iter().collect();
        elements.sort_by_key(|element| element.rank);
        if culprit.position.is_none() {
            let details: Vec<ElementReport> =
                elements.iter().map(|element| self.element(element)).collect();
            if let [first, second] = &details[..] {
                culprit.elements = Some([first.index, second.index]);
            }
            culprit.element_details = details;
        }
        culprit
    }

    fn element(&self, element: &ElementRecord) -> ElementReport {
        let (file, line) = self.workspace.nearest(&element.stack).unzip();
        ElementReport {
            index: element.index.unwrap_or(element.rank),
            name: element.name.clone(),
            file,
            line,
        }
    }

    fn created(&self, step: &StepRecord) -> Option<PlaceReport> {
        // The only frame is the place that `#[track_caller]` recorded, even if it is in a
        // dependency.
        let nearest = self.workspace.nearest(&step.created);
        let (file, line) = nearest.or_else(|| match &step.created[..] {
            [frame] => Some((frame.file.clone(), frame.line)),
            _ => None,
        })?;
        Some(PlaceReport { file, line, column: None })
    }
}
