//! Records of runs, read as events.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::channel::{self, Contents};
use nondex_core::{Event, RunRecord};

/// Record of a run that is about to be made: memory that the test process maps before `main`.
///
/// The file at its path is a link to this memory, so neither a full disk nor a limit on file sizes
/// matters. If the system has no such memory, the process creates a file there.
#[derive(Debug)]
pub struct RecordFile {
    path: Utf8PathBuf,
    /// Memory of the record, open while a process may look for it.
    memory: Option<File>,
}

impl RecordFile {
    /// Creates the record at a path where no file exists.
    pub fn create(path: Utf8PathBuf) -> Self {
        let memory = memory(&path).ok();
        RecordFile { path, memory }
    }

    /// Returns the path at which the process finds the record.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Reads what was recorded until now.
    ///
    /// # Errors
    /// Returns the reason if the record cannot be read or is not valid.
    pub fn read(&self) -> Result<Recorded, String> {
        let own = self.memory.as_ref().map(Recorded::of).transpose()?;
        match own.filter(|recorded| !recorded.is_empty()) {
            Some(recorded) => Ok(recorded),
            // A process that cannot reach this memory, for example in a container, creates a file.
            None => read(&self.path),
        }
    }
}

impl Drop for RecordFile {
    fn drop(&mut self) {
        if self.memory.is_some() && self.path.is_symlink() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Creates memory with an empty record, and a link to it at `path`.
#[cfg(target_os = "linux")]
fn memory(path: &Utf8Path) -> io::Result<File> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    use std::os::fd::AsRawFd;
    let memory = File::from(memfd_create(c"nondex-record", MFdFlags::MFD_CLOEXEC)?);
    channel::prepare(&memory)?;
    let link = format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd());
    std::os::unix::fs::symlink(link, path)?;
    Ok(memory)
}

#[cfg(not(target_os = "linux"))]
fn memory(_path: &Utf8Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Contents of a record.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Events in their order.
    pub events: Vec<Event>,
    /// The same events, each as it was written.
    pub text: Vec<Vec<u8>>,
    /// Number of events that the process could not write because there was no room.
    pub lost: u64,
    /// Number of events that were begun but not completed, because their threads were killed.
    pub holes: u64,
}

impl Recorded {
    fn of(file: &File) -> Result<Self, String> {
        let contents = match channel::read(file).map_err(|e| e.to_string())? {
            Some(contents) => contents,
            None => {
                Contents { events: lines(file).map_err(|e| e.to_string())?, ..Contents::default() }
            }
        };
        // An empty event marks that forks have begun.
        let texts = contents.events.iter().filter(|text| !text.is_empty());
        let events = RunRecord::parse_events(texts)?;
        Ok(Recorded { events, text: contents.events, lost: contents.lost, holes: contents.holes })
    }

    /// Returns whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.lost == 0 && self.holes == 0
    }

    /// Returns whether no event is missing.
    pub const fn is_whole(&self) -> bool {
        self.lost == 0 && self.holes == 0
    }

    /// Returns whether no event is missing, and every thread that reached a choice point reported
    /// how often.
    pub fn is_complete(&self) -> bool {
        self.is_whole() && have_all_points(&self.events)
    }

    /// Writes the events to a file for people, one per line.
    pub fn keep(text: &[Vec<u8>], path: &Utf8Path) {
        // The file may be a link to the memory of the record. A failure to write is ignored: only
        // the report's folder lacks the text then.
        let _ = std::fs::remove_file(path);
        let _ = std::fs::write(path, [text.join(&b'\n'), b"\n".to_vec()].concat());
    }
}

/// Maximum number of bytes that are read of a record as text.
const MAX_TEXT: u64 = 256 << 20;

/// Returns the events of a record as text, one per line. Leaves out a last line that a crash cut
/// short.
fn lines(file: &File) -> io::Result<Vec<Vec<u8>>> {
    let mut text = Vec::new();
    file.take(MAX_TEXT).read_to_end(&mut text)?;
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| line.strip_suffix(b"\n")).map(<[u8]>::to_vec).collect())
}

/// Reads the record at a path, as a channel or as text. Returns an empty one if the process has not
/// created it.
///
/// # Errors
/// As [`RecordFile::read`].
pub fn read(path: &Utf8Path) -> Result<Recorded, String> {
    match File::open(path) {
        Ok(file) => Recorded::of(&file),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Recorded::default()),
        Err(e) => Err(e.to_string()),
    }
}

/// Returns whether every thread that reached a choice point reported how often.
pub(super) fn have_all_points(events: &[Event]) -> bool {
    let flushed: HashSet<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Points { test, points, .. } => Some((test, points)),
            _ => None,
        })
        .flat_map(|(test, points)| points.iter().map(move |point| (test, point)))
        .map(|(test, point)| (test, &point.site, &point.thread))
        .collect();
    events.iter().all(|event| match event {
        Event::Site { test, point } => flushed.contains(&(test, &point.site, &point.thread)),
        _ => true,
    })
}
