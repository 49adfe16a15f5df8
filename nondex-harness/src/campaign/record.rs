//! The record files of runs, as events.

use std::fs::File;
use std::io::{self, Read};

use camino::Utf8Path;
use nondex_core::{Event, RunRecord};

/// The largest record that is read. A record has a line for each thread and call site; this is thousands of times more.
const MAX_RECORD: u64 = 256 << 20;

/// The events of a record; none when the test reached nothing and wrote no record.
pub fn read_events(record: &Utf8Path) -> Result<Vec<Event>, String> {
    let mut bytes = Vec::new();
    match File::open(record) {
        Ok(file) => file
            .take(MAX_RECORD)
            .read_to_end(&mut bytes)
            .map_err(|e| e.to_string())?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e.to_string()),
    };
    if bytes.len() as u64 == MAX_RECORD {
        return Err(format!("it has more than {MAX_RECORD} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    RunRecord::parse_events(&text)
}
