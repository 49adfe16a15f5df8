//! The records of runs, as events.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::channel::{self, Contents};
use nondex_core::{Event, RunRecord};

/// The record of a run that is about to be made: memory which the test process maps before `main`.
///
/// The file at its path is a link to this memory, so neither a full disk nor a limit on the size of
/// files matters. Where the system has no such memory, the process makes a file there.
#[derive(Debug)]
pub struct RecordFile {
    path: Utf8PathBuf,
    /// Open while a process may look for it.
    memory: Option<File>,
}

impl RecordFile {
    /// The record at a path where there is no file yet.
    pub fn create(path: Utf8PathBuf) -> Self {
        let memory = memory(&path).ok();
        RecordFile { path, memory }
    }

    /// Where the process finds it.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// What it has until now.
    ///
    /// # Errors
    /// When it cannot be read, or is no record.
    pub fn read(&self) -> Result<Recorded, String> {
        let own = self.memory.as_ref().map(Recorded::of).transpose()?;
        match own.filter(|recorded| !recorded.is_empty()) {
            Some(recorded) => Ok(recorded),
            // A process that cannot reach this memory, as in a container, has made a file.
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

/// New memory as an empty record, to which the file at `path` is a link.
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

/// What a record has.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The events, in their order.
    pub events: Vec<Event>,
    /// The same, each as it was written.
    pub text: Vec<Vec<u8>>,
    /// Number of events that the process could not write because there was no room.
    pub lost: u64,
    /// Number of events that were begun and not ended: their threads were killed.
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
        // An empty one is a mark that forks have begun.
        let texts = contents.events.iter().filter(|text| !text.is_empty());
        let events = RunRecord::parse_events(texts)?;
        Ok(Recorded { events, text: contents.events, lost: contents.lost, holes: contents.holes })
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.lost == 0 && self.holes == 0
    }

    /// Whether all events are there.
    pub const fn is_whole(&self) -> bool {
        self.lost == 0 && self.holes == 0
    }

    /// Whether all events are there, and every thread that reached a choice point has reported how
    /// often.
    pub fn is_complete(&self) -> bool {
        self.is_whole() && have_all_points(&self.events)
    }

    /// Writes the events to a file, one on a line, for people.
    pub fn keep(text: &[Vec<u8>], path: &Utf8Path) {
        // The file may be a link to the memory of the record. A failure to write is ignored: only
        // the report's folder lacks the text then.
        let _ = std::fs::remove_file(path);
        let _ = std::fs::write(path, [text.join(&b'\n'), b"\n".to_vec()].concat());
    }
}

/// The largest record as text that is read.
const MAX_TEXT: u64 = 256 << 20;

/// The events of a record as text, one on a line. A last line that was cut short by a crash is left
/// out.
fn lines(file: &File) -> io::Result<Vec<Vec<u8>>> {
    let mut text = Vec::new();
    file.take(MAX_TEXT).read_to_end(&mut text)?;
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| line.strip_suffix(b"\n")).map(<[u8]>::to_vec).collect())
}

/// What the record at a path has, a channel or text; nothing when the process has not made one.
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

/// Whether every thread that reached a choice point has reported how often.
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
