//! Writes the events of call sites directly, without values of the protocol. Threads record them in
//! interposed calls, which must not use the program's allocators.

use super::stack::Stack;
use crate::catalogue::Family;
use crate::json::Object;
use crate::protocol::point::{ChoiceRecord, Reading};
use crate::protocol::site::{Caller, portable_path};

/// Record of a thread at a site.
pub(super) struct Point<'a> {
    pub(super) api: &'a str,
    pub(super) family: Family,
    pub(super) caller: Caller,
    /// Number of calls at the site that had a choice.
    pub(super) count: u64,
    /// Largest size of a choice.
    pub(super) max_len: u64,
    /// Set of the keys from which orders were drawn: see [`PointRecord`](crate::PointRecord).
    pub(super) keys: u64,
    /// The stack of a call, if it was requested.
    pub(super) stack: &'a Stack,
}

/// Writes the record of a thread at a site.
pub(super) fn point(thread: &str, point: &Point<'_>, object: &mut Object<'_>) {
    object
        .object("site", |object| {
            site(point.api, point.family, point.caller, object);
        })
        .string("thread", thread)
        .number("count", point.count)
        .number("max_len", point.max_len)
        .count("keys", point.keys);
    point.stack.write("stack", object);
}

/// Writes a [`Site`](crate::Site).
pub(crate) fn site(api: &str, family: Family, caller: Caller, object: &mut Object<'_>) {
    let Caller { file, line, column } = caller;
    object
        .string("api", api)
        .string("family", family.name())
        .string("file", portable_path(file))
        .number("line", line.into())
        .number("column", column.into());
}

/// Writes the records of a thread at these sites, and its first choices.
pub(super) fn points<'a>(
    thread: &str,
    points: impl Iterator<Item = Point<'a>>,
    choices: &[ChoiceRecord],
    object: &mut Object<'_>,
) {
    object.objects("points", points, |one, object| point(thread, &one, object));
    if !choices.is_empty() {
        object.objects("choices", choices, choice);
    }
}

fn choice(choice: &ChoiceRecord, object: &mut Object<'_>) {
    let ChoiceRecord { place, ordinal, len, aspect, reading, own } = choice;
    object
        .number("p", *place)
        .count("o", *ordinal)
        .number("n", *len)
        .optional_number("a", *aspect)
        .optional_string("r", reading.map(Reading::name))
        .count("w", *own);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::journal;
    use crate::json;
    use crate::protocol::event::Event;
    use crate::protocol::point::PointRecord;
    use crate::protocol::site::Site;

    const TEST: &str = "a \"test\"";

    /// Returns some points, and the records expected of them.
    fn some(stack: &Stack) -> Vec<(Point<'_>, PointRecord)> {
        let files = ["src/lib.rs", "/rustc/1/src/\u{e4} \"\\\n\u{1}.rs"];
        let points = files.into_iter().map(|file| {
            let point = Point {
                api: "std::fs::read_dir",
                family: Family::Directory,
                caller: Caller { file, line: 7, column: 3 },
                count: 5,
                max_len: 9,
                keys: 5,
                stack,
            };
            let record = PointRecord {
                site: Site {
                    api: point.api.to_owned(),
                    family: point.family,
                    file: portable_path(file).to_owned(),
                    line: 7,
                    column: 3,
                },
                thread: "0.1".to_owned(),
                count: 5,
                max_len: 9,
                keys: 5,
                stack: Vec::new(),
            };
            (point, record)
        });
        points.collect()
    }

    #[test]
    fn the_text_of_a_first_reach_is_that_of_its_event() {
        for (reached, point) in some(&Stack::default()) {
            let text = journal::event("site", TEST, |event| {
                event.object("point", |object| super::point("0.1", &reached, object));
            });
            let test = TEST.to_owned();
            assert_eq!(*text, json::to_string(&Event::Site { test, point }));
        }
    }

    #[test]
    fn the_text_of_points_is_that_of_their_event() {
        let choice = ChoiceRecord {
            place: u64::MAX,
            ordinal: 0,
            len: 3,
            aspect: None,
            reading: None,
            own: 0,
        };
        let other = ChoiceRecord {
            ordinal: 1,
            aspect: Some(0),
            reading: Some(Reading::Changed),
            own: 2,
            ..choice
        };
        for choices in [vec![], vec![choice, other]] {
            let stack = Stack::default();
            let (given, points): (Vec<_>, Vec<_>) = some(&stack).into_iter().unzip();
            let text = journal::event("points", TEST, |event| {
                super::points("0.1", given.into_iter(), &choices, event);
            });
            let event = Event::Points { test: TEST.to_owned(), points, choices };
            assert_eq!(*text, json::to_string(&event));
        }
    }
}
