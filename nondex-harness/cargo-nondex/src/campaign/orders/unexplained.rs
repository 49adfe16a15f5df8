//! Further runs of a test that fails alone for an unknown reason.

use std::path::Path;

use nondex_core::RunSpec;

use super::OrderCampaign;
use crate::campaign::external_files::{self, Changed};
use crate::campaign::order::Processes;
use crate::campaign::state::PLACE;
use crate::judge::Run;
use crate::report::judged::order;
use crate::report::{TestReport, Verdict};

impl OrderCampaign<'_> {
    /// Notes whether such a test passes when threads and time are scheduled, and which files may
    /// make it fail. `changed` has the files that other tests change.
    pub(super) fn look_closer(
        &self,
        processes: &Processes<'_>,
        test: usize,
        changed: &Changed,
        report: &mut TestReport,
    ) {
        if !external_files::is_wanted(report) || self.context.stop.is_set() {
            return;
        }
        let is_broken = report.verdict == Verdict::Broken;
        let usual = processes.spec(test);
        let mut run = |spec: RunSpec| {
            report.runs += 1;
            processes.run(PLACE, &[test], &spec)?.pop()
        };
        // With real time, a broken test may fail because no sleep is as short as requested.
        let scheduled = usual.clone().with_scheduler(0);
        let is_tried = self.is_scheduled && is_broken;
        if is_tried.then(|| run(scheduled)).flatten().as_ref().is_some_and(Run::passed) {
            order::passes_scheduled(report);
            return;
        }
        let seen = run(external_files::spec(usual));
        let is_put_back = |path: &Path| self.context.tree.has(path);
        let note =
            seen.and_then(|run| external_files::note(!is_broken, &run, changed, &is_put_back));
        report.notes.extend(note);
    }
}
