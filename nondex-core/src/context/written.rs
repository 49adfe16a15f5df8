//! The files and folders that a process creates or changes. The driver attributes only these to a
//! test.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::journal::Journal;
use super::text::Text;
use crate::hash;
use crate::json;

/// Maximum number of reported paths. An event without a path means all others.
const MAX_PATHS: usize = 4096;

/// Number of slots in which a path is searched among the reported ones.
const TRIES: usize = 16;

/// Hashes of the reported paths; 0 marks a free slot.
static REPORTED: [AtomicU64; MAX_PATHS] = [const { AtomicU64::new(0) }; MAX_PATHS];

/// Appends to the journal that `test` may have written the file at `path`, or any file without a
/// path. Each is reported once. Neither allocates nor locks, so that it may be called anywhere.
#[cold]
pub(super) fn append(journal: &Journal, test: &str, path: Option<&str>) {
    let path = match path.map(|path| (path, place(hash::of(path)))) {
        Some((_, Place::Reported)) => return,
        Some((path, Place::New)) => Some(path),
        Some((_, Place::Full)) | None => None,
    };
    if path.is_none() && IS_ANYTHING.swap(true, Ordering::Relaxed) {
        return;
    }
    if let Ok(line) = line(test, path) {
        journal.append_json(line.as_str());
    }
}

/// Whether the journal already states that any file may have been written.
static IS_ANYTHING: AtomicBool = AtomicBool::new(false);

enum Place {
    Reported,
    New,
    Full,
}

/// Reports the path with this hash, if there is room, and returns whether it was reported before.
fn place(hash: u64) -> Place {
    let hash = hash | 1;
    let first = hash as usize;
    for place in first..first + TRIES {
        // Relaxed ordering suffices, because no other data depends on the entry.
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        match REPORTED[place % MAX_PATHS].compare_exchange(0, hash, success, failure) {
            Ok(_) => return Place::New,
            Err(reported) if reported == hash => return Place::Reported,
            Err(_) => {}
        }
    }
    Place::Full
}

fn line(test: &str, path: Option<&str>) -> Result<Text<8192>, fmt::Error> {
    let mut line = Text::new();
    let text = &mut line;
    text.write_str(r#"{"event":"written","test":"#)?;
    json::string(test, text)?;
    if let Some(path) = path {
        text.write_str(r#","path":"#)?;
        json::string(path, text)?;
    }
    text.write_str("}")?;
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::event::Event;

    #[test]
    fn the_line_is_the_event() {
        for path in [None, Some("/a folder/\"1\"")] {
            let line = line("a::b", path).unwrap();
            let event = Event::Written { test: "a::b".to_owned(), path: path.map(str::to_owned) };
            assert_eq!(json::from_str::<Event>(line.as_str()).unwrap(), event);
            assert_eq!(json::to_string(&event), line.as_str());
        }
    }

    #[test]
    fn a_path_is_told_once() {
        assert!(matches!(place(7), Place::New));
        assert!(matches!(place(7), Place::Reported));
    }
}
