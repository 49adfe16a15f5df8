//! Reads the folder of rotated logs.

use std::path::Path;
use std::{fs, io};

use crate::Entry;

/// Reads all logs of a folder into one list. Skips lines that are not requests.
pub fn read_logs(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for file in fs::read_dir(folder)? {
        let text = fs::read_to_string(file?.path())?;
        entries.extend(text.lines().filter_map(|line| line.parse::<Entry>().ok()));
    }
    Ok(entries)
}
