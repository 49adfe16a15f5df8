//! What std draws anew in each process: the script repeats the test until it fails.

use super::outcome::ScriptOutcome;
use super::script::Script;
use super::{Reproduction, Subject};
use crate::error::Result;
use crate::statistics::wilson;

/// With which probability the script passes although the test is as flaky as it was seen to be.
const MISS: f64 = 0.001;

/// The most runs of one script.
const MOST: u64 = 10_000;

/// How many runs show a failure that comes in `failures` of `runs`, if its probability is the least
/// that these allow.
fn needed(failures: u64, runs: u64) -> u64 {
    let [least, _] = wilson(failures, runs);
    let needed = (MISS.ln() / (1.0 - least).ln()).ceil();
    // A float becomes the nearest number that fits.
    (needed as u64).clamp(1, MOST)
}

impl Subject<'_> {
    pub(super) fn repeat(&self) -> Result<Reproduction> {
        let (failures, runs) = self.plain;
        if failures == 0 {
            let conditions = self.finding.conditions();
            return Ok(Reproduction::Nothing(format!(
                "none of {runs} plain runs failed, and the finding was made {conditions}; only \
                 another std or more runs \
                 could show it"
            )));
        }
        let times = needed(failures, runs);
        let explanation = format!(
            "runs the plain test up to {times} times until it fails; {failures} of {runs} runs did"
        );
        let run = self.run_it();
        let text = format!(
            "{}{}n=0\n\
             while [ $n -lt {times} ]; do\n    \
             n=$((n + 1))\n    \
             output=$({run} 2>&1)\n    \
             code=$?\n    \
             if [ $code -ne 0 ]; then\n        \
             printf '%s\\nrun %s failed\\n' \"$output\" \"$n\"\n        \
             exit $code\n    \
             fi\n\
             done\n\
             echo 'passed {times} times'\n",
            self.heading(&format!("{}: {explanation}", self.finding.test)),
            self.build_it()
        );
        let folder = self.folder("repeat");
        let script = Script::write(&folder, &text)?;
        if self.try_script(&script, &[])? == ScriptOutcome::Fails {
            return Ok(Reproduction::Script(script.0, explanation));
        }
        Script::discard(&folder);
        Ok(Reproduction::Nothing(
            "the test fails now and then, but a script that repeats it did not always end with \
             that failure"
                .to_owned(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarer_a_failure_the_more_runs_show_it() {
        assert!(needed(100, 100) <= 3);
        assert!((9..20).contains(&needed(50, 100)), "{}", needed(50, 100));
        assert!(needed(1, 100) > 1000, "{}", needed(1, 100));
        assert_eq!(needed(1, 1_000_000), MOST);
    }
}
