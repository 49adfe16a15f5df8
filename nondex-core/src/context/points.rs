//! The events of call sites as their JSON, without a value of the protocol in between: a thread
//! writes them in interposed calls, which may take no memory from the program's allocators.

use std::fmt::{self, Write};

use crate::catalogue::Family;
use crate::json;
use crate::protocol::point::ChoiceRecord;
use crate::protocol::site::{Caller, Frame, portable_path};

/// What is told of a thread at a site.
pub(super) struct Point<'a> {
    pub(super) api: &'a str,
    pub(super) family: Family,
    pub(super) caller: Caller,
    /// How many calls there had a choice.
    pub(super) count: u64,
    /// The largest size of a choice.
    pub(super) max_len: u64,
    /// The stack of a call, if it was asked for.
    pub(super) stack: &'a [Frame],
}

/// Writes the event of a thread that reaches a site for the first time.
pub(super) fn reached(
    test: &str,
    thread: &str,
    reached: &Point<'_>,
    text: &mut impl Write,
) -> fmt::Result {
    text.write_str(r#"{"event":"site","test":"#)?;
    json::string(test, text)?;
    text.write_str(r#","point":"#)?;
    point(thread, reached, text)?;
    text.write_char('}')
}

/// Writes the event of what a thread did at these sites, and its first choices.
pub(super) fn points<'a>(
    test: &str,
    thread: &str,
    points: impl Iterator<Item = Point<'a>>,
    choices: &[ChoiceRecord],
    text: &mut impl Write,
) -> fmt::Result {
    text.write_str(r#"{"event":"points","test":"#)?;
    json::string(test, text)?;
    text.write_str(r#","points":["#)?;
    list(points, text, |one, text| point(thread, &one, text))?;
    text.write_char(']')?;
    if !choices.is_empty() {
        text.write_str(r#","choices":["#)?;
        list(choices.iter(), text, choice)?;
        text.write_char(']')?;
    }
    text.write_char('}')
}

fn list<T, W: Write>(
    items: impl Iterator<Item = T>,
    text: &mut W,
    write: impl Fn(T, &mut W) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.enumerate() {
        if index > 0 {
            text.write_char(',')?;
        }
        write(item, text)?;
    }
    Ok(())
}

fn point(thread: &str, point: &Point<'_>, text: &mut impl Write) -> fmt::Result {
    let Caller { file, line, column } = point.caller;
    text.write_str(r#"{"site":{"api":"#)?;
    json::string(point.api, text)?;
    write!(text, r#","family":"{}","file":"#, point.family.name())?;
    json::string(portable_path(file), text)?;
    write!(text, r#","line":{line},"column":{column}}},"thread":"#)?;
    json::string(thread, text)?;
    let (count, max_len) = (point.count, point.max_len);
    write!(text, r#","count":{count},"max_len":{max_len}"#)?;
    if !point.stack.is_empty() {
        text.write_str(r#","stack":["#)?;
        list(point.stack.iter(), text, frame)?;
        text.write_char(']')?;
    }
    text.write_char('}')
}

fn frame(frame: &Frame, text: &mut impl Write) -> fmt::Result {
    text.write_str(r#"{"function":"#)?;
    json::string(&frame.function, text)?;
    text.write_str(r#","file":"#)?;
    json::string(&frame.file, text)?;
    write!(text, r#","line":{}}}"#, frame.line)
}

fn choice(choice: &ChoiceRecord, text: &mut impl Write) -> fmt::Result {
    let ChoiceRecord {
        place,
        ordinal,
        len,
        aspect,
        reading,
        own,
    } = choice;
    write!(text, r#"{{"p":{place}"#)?;
    if *ordinal != 0 {
        write!(text, r#","o":{ordinal}"#)?;
    }
    write!(text, r#","n":{len}"#)?;
    if let Some(aspect) = aspect {
        write!(text, r#","a":{aspect}"#)?;
    }
    if let Some(reading) = reading {
        write!(text, r#","r":"{}""#, reading.name())?;
    }
    if *own != 0 {
        write!(text, r#","w":{own}"#)?;
    }
    text.write_char('}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hidden::Text;
    use crate::protocol::event::Event;
    use crate::protocol::point::{PointRecord, Reading};
    use crate::protocol::site::Site;

    const TEST: &str = "a \"test\"";

    fn stack() -> Vec<Frame> {
        let frame = |line| Frame {
            function: "<a as \"b\">::c".to_owned(),
            file: "src/lib.rs".to_owned(),
            line,
        };
        vec![frame(1), frame(2)]
    }

    /// Some points, and what is recorded of them.
    fn some(stack: &[Frame]) -> Vec<(Point<'_>, PointRecord)> {
        let files = ["src/lib.rs", "/rustc/1/src/\u{e4} \"\\\n\u{1}.rs"];
        let points = files.into_iter().map(|file| {
            let point = Point {
                api: "std::fs::read_dir",
                family: Family::Directory,
                caller: Caller {
                    file,
                    line: 7,
                    column: 3,
                },
                count: 5,
                max_len: 9,
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
                stack: stack.to_vec(),
            };
            (point, record)
        });
        points.collect()
    }

    #[test]
    fn the_text_of_a_first_reach_is_that_of_its_event() {
        for (reached, point) in some(&[]).into_iter().chain(some(&stack())) {
            let mut text = Text::new();
            super::reached(TEST, "0.1", &reached, &mut text).unwrap();
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
            let (given, points): (Vec<_>, Vec<_>) = some(&[]).into_iter().unzip();
            let mut text = Text::new();
            super::points(TEST, "0.1", given.into_iter(), &choices, &mut text).unwrap();
            let event = Event::Points {
                test: TEST.to_owned(),
                points,
                choices,
            };
            assert_eq!(*text, json::to_string(&event));
        }
    }
}
