//! The files and folders that a process makes or changes: the driver takes no others for left by a
//! test.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::journal::Journal;
use super::text::Text;
use crate::hash;
use crate::json;

/// Number of paths that are reported. The event without a path means all others.
const MAX_PATHS: usize = 4096;

/// Number of places at which a path is searched among those that were reported.
const TRIES: usize = 16;

/// Hashes of the paths that were reported; 0 where there is none.
static TOLD: [AtomicU64; MAX_PATHS] = [const { AtomicU64::new(0) }; MAX_PATHS];

/// Appends to the journal that `test` may have written what is at this path, once; without a path,
/// that it may have written anything. Takes no memory and no lock, so that it may be called
/// anywhere.
#[cold]
pub(super) fn append(journal: &Journal, test: &str, path: Option<&str>) {
    let path = path.map(|path| (path, place(hash::of(path))));
    let path = match path {
        Some((_, Place::Told)) => return,
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

/// Whether it was reported that anything may have been written.
static IS_ANYTHING: AtomicBool = AtomicBool::new(false);

enum Place {
    Told,
    New,
    Full,
}

/// Whether a path with this hash was reported before. Now it is, unless there is no room.
fn place(hash: u64) -> Place {
    let hash = hash | 1;
    let first = hash as usize;
    for place in first..first + TRIES {
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        match TOLD[place % MAX_PATHS].compare_exchange(0, hash, success, failure) {
            Ok(_) => return Place::New,
            Err(told) if told == hash => return Place::Told,
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
        assert!(matches!(place(7), Place::Told));
    }
}
