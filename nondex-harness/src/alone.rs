//! Runs a test again in a separate process, where everything that happens belongs to the test.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nondex_core::channel;
use nondex_core::protocol::spec::SPEC_VARIABLE;
use nondex_core::{Outcome, RunRecord, RunSpec};

/// Time limit of the run.
const LIMIT: Duration = Duration::from_secs(60);

/// Interval of polling.
const INTERVAL: Duration = Duration::from_millis(5);

/// Runs `test` of this executable by `spec`. Returns `None` if that fails or takes too long.
pub(crate) fn run(spec: &RunSpec, test: &str) -> Option<RunRecord> {
    let record = RecordFile::new();
    let spec = RunSpec { test: test.to_owned(), record: Some(record.0.clone()), ..spec.clone() };
    let mut command = Command::new(std::env::current_exe().ok()?);
    command
        .args(["--exact", test, "--include-ignored"])
        .env(SPEC_VARIABLE, spec.to_json())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = wait(command.spawn().ok()?)?;
    let file = std::fs::File::open(&record.0).ok()?;
    let recorded = channel::read(&file).ok()??;
    let events = RunRecord::parse_events(&recorded.events).ok()?;
    Some(RunRecord::fold(&spec, events, outcome(status)))
}

/// Path of the record that the process writes; the file is removed on drop.
#[derive(Debug)]
struct RecordFile(PathBuf);

impl RecordFile {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("nondex-{}-alone-{number}.jsonl", std::process::id());
        RecordFile(std::env::temp_dir().join(name))
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn wait(mut child: Child) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status);
        }
        std::thread::sleep(INTERVAL);
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

fn outcome(status: ExitStatus) -> Outcome {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Outcome::Signalled(signal);
    }
    Outcome::Exited(status.code().unwrap_or(-1))
}
