//! Tests that appended events are read, and that missing ones are counted.

use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::*;

/// A channel in a file that is removed with it.
struct Kept {
    path: PathBuf,
    channel: Channel,
}

impl Kept {
    fn new(name: &str) -> Self {
        let name = format!("nondex-channel-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        let channel = Channel::open(&path).unwrap();
        Kept { path, channel }
    }

    fn read(&self) -> Contents {
        read(&File::open(&self.path).unwrap()).unwrap().unwrap()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

#[test]
fn events_of_every_length_are_read_as_they_were_appended() {
    let kept = Kept::new("lengths");
    let events: Vec<Vec<u8>> = (0..400).map(|len| (0..len).map(|n| n as u8).collect()).collect();
    for event in &events {
        kept.channel.append(event);
    }
    let contents = kept.read();
    assert_eq!(contents.events, events);
    assert_eq!((contents.lost, contents.holes), (0, 0));
}

#[test]
fn threads_that_append_at_once_lose_nothing() {
    let kept = Kept::new("threads");
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let channel = &kept.channel;
            scope.spawn(move || (0..2000).for_each(|n| channel.append(&[thread; 80][..n % 80])));
        }
    });
    let contents = kept.read();
    assert_eq!(contents.events.len(), 8000);
    let is_whole = |event: &Vec<u8>| event.iter().all(|byte| *byte == event[0]);
    assert!(contents.events.iter().filter(|event| !event.is_empty()).all(is_whole));
}

#[test]
fn what_does_not_fit_is_counted() {
    let kept = Kept::new("full");
    let large = vec![7; PAYLOAD * ((SLOTS - RESERVED) / 2 - 1)];
    for _ in 0..3 {
        kept.channel.append(&large);
    }
    let contents = kept.read();
    assert_eq!(contents.events, [large.clone(), large]);
    assert_eq!((contents.lost, contents.holes), (1, 0));
}

#[test]
fn how_a_test_ended_has_room_when_nothing_else_has() {
    let kept = Kept::new("end");
    for _ in 0..SLOTS + 10 {
        kept.channel.append(b"detail");
    }
    kept.channel.append_end(b"passed");
    let contents = kept.read();
    assert_eq!(contents.events.len(), SLOTS - RESERVED + 1);
    assert_eq!(contents.events.last().unwrap(), b"passed");
    assert_eq!((contents.lost, contents.holes), (RESERVED as u64 + 10, 0));
    // The reserved slots are limited, too.
    for _ in 0..RESERVED {
        kept.channel.append_end(b"passed");
    }
    let contents = kept.read();
    assert_eq!(contents.events.len(), SLOTS);
    assert_eq!((contents.lost, contents.holes), (RESERVED as u64 + 11, 0));
}

#[test]
fn an_event_whose_thread_was_killed_is_a_hole_and_the_next_one_is_read() {
    let kept = Kept::new("hole");
    kept.channel.append(b"before");
    kept.channel.append(&[1; 3 * PAYLOAD]);
    kept.channel.append(b"after");
    // The head is stored last, so a killed thread leaves it at 0.
    let file = OpenOptions::new().write(true).open(&kept.path).unwrap();
    file.write_all_at(&[0; 8], (HEADER + SLOT) as u64).unwrap();
    let contents = kept.read();
    assert_eq!(contents.events, [b"before".to_vec(), b"after".to_vec()]);
    assert_eq!((contents.lost, contents.holes), (0, 1));
}

#[test]
fn a_file_that_is_too_short_becomes_a_channel() {
    for text in ["", "what an older version wrote here"] {
        let path = std::env::temp_dir().join(format!("nondex-short-{}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let channel = Channel::open(&path).unwrap();
        channel.append(b"first");
        let contents = read(&File::open(&path).unwrap()).unwrap().unwrap();
        assert_eq!(contents.events, [b"first".to_vec()]);
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_file_of_something_else_is_no_channel() {
    let path = std::env::temp_dir().join(format!("nondex-no-channel-{}", std::process::id()));
    for text in ["{}", "{\"event\":\"end\"}\n{\"event\":\"end\"}\n"] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(read(&File::open(&path).unwrap()).unwrap(), None);
    }
    std::fs::remove_file(path).unwrap();
}
