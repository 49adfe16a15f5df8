//! `eprint!`, `eprintln!` and `dbg!`, which write a message in one system call.
//!
//! std's stderr has no buffer: each piece of a message is a separate system call. libtest hides
//! that from a test: it keeps the test's messages in memory, where they are lost if the test is
//! killed. Here a message is assembled first. It is written when the macro returns, however the
//! test ends after that.

use ::std::cell::RefCell;
use ::std::fmt::{self, Write as _};
use ::std::io;

/// Prints to stderr, as std's macro does.
#[cfg(feature = "facade")]
#[macro_export]
macro_rules! eprint {
    ($($arg:tt)*) => {{
        $crate::macros::eprint($crate::format_args!($($arg)*), "");
    }};
}

/// Prints to stderr with a newline, as std's macro does.
#[cfg(feature = "facade")]
#[macro_export]
macro_rules! eprintln {
    () => {
        $crate::eprint!("\n")
    };
    ($($arg:tt)*) => {{
        $crate::macros::eprint($crate::format_args!($($arg)*), "\n");
    }};
}

/// Prints a value and its place to stderr, and returns the value, as std's macro does.
#[cfg(feature = "facade")]
#[macro_export]
macro_rules! dbg {
    () => {
        $crate::eprintln!("[{}:{}:{}]", $crate::file!(), $crate::line!(), $crate::column!())
    };
    ($value:expr $(,)?) => {
        // `match` extends the lifetime of temporaries as std's macro does.
        match $value {
            value => {
                $crate::eprintln!(
                    "[{}:{}:{}] {} = {:#?}",
                    $crate::file!(), $crate::line!(), $crate::column!(),
                        $crate::stringify!($value), &value
                );
                value
            }
        }
    };
    ($($value:expr),+ $(,)?) => {
        ($($crate::dbg!($value)),+,)
    };
}

/// Size of the buffer for a message, in bytes; longer messages are written in parts.
const ROOM: usize = 1024;

/// The part of a message that is not written yet. A value that prints while it is formatted appends
/// to it, which preserves the order.
struct Pending {
    bytes: [u8; ROOM],
    len: usize,
}

thread_local! {
    static PENDING: RefCell<Pending> = const { RefCell::new(Pending { bytes: [0; ROOM], len: 0 }) };
}

/// A message that is being written.
struct Message<W: io::Write> {
    to: W,
    result: io::Result<()>,
}

impl<W: io::Write> Message<W> {
    fn flush(&mut self, pending: &mut Pending) -> fmt::Result {
        let written = self.to.write_all(&pending.bytes[..pending.len]);
        pending.len = 0;
        self.note(written)
    }

    fn note(&mut self, written: io::Result<()>) -> fmt::Result {
        written.map_err(|error| {
            self.result = Err(error);
            fmt::Error
        })
    }
}

impl<W: io::Write> fmt::Write for Message<W> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        PENDING.with_borrow_mut(|pending| {
            if piece.len() > ROOM - pending.len {
                self.flush(pending)?;
            }
            if piece.len() > ROOM {
                let written = self.to.write_all(piece.as_bytes());
                return self.note(written);
            }
            pending.bytes[pending.len..][..piece.len()].copy_from_slice(piece.as_bytes());
            pending.len += piece.len();
            Ok(())
        })
    }
}

/// Writes the pending part, also if formatting the message panics.
impl<W: io::Write> Drop for Message<W> {
    fn drop(&mut self) {
        PENDING.with_borrow_mut(|pending| {
            if pending.len > 0 {
                let _ = self.flush(pending);
            }
        });
    }
}

/// Writes a message and its `end` to stderr.
///
/// # Panics
/// Panics if that fails, as std's macro does.
#[doc(hidden)]
pub fn eprint(message: fmt::Arguments<'_>, end: &str) {
    print_to(io::stderr().lock(), message, end);
}

fn print_to(to: impl io::Write, message: fmt::Arguments<'_>, end: &str) {
    let mut writer = Message { to, result: Ok(()) };
    let formatted = writer.write_fmt(message).and_then(|()| {
        writer.write_str(end)?;
        PENDING.with_borrow_mut(|pending| writer.flush(pending))
    });
    let result = ::std::mem::replace(&mut writer.result, Ok(()));
    drop(writer);
    if let Err(error) = result {
        panic!("failed printing to stderr: {error}");
    }
    assert!(
        formatted.is_ok(),
        "a formatting trait implementation returned an error when the underlying stream did not"
    );
}

#[cfg(test)]
mod tests {
    use ::std::panic::catch_unwind;

    use super::*;

    thread_local! {
        static WRITTEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    /// A writer that keeps each write.
    struct Writes;

    impl io::Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8_lossy(bytes).into_owned();
            WRITTEN.with_borrow_mut(|written| written.push(text));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the writes of a message.
    fn written(message: fmt::Arguments<'_>) -> Vec<String> {
        print_to(Writes, message, "\n");
        WRITTEN.take()
    }

    /// A value that prints, panics or fails while it is formatted.
    struct Odd(&'static str);

    impl fmt::Display for Odd {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self.0 {
                "panic" => panic!("while it is formatted"),
                "fail" => Err(fmt::Error),
                text => {
                    print_to(Writes, format_args!("nested"), "\n");
                    f.write_str(text)
                }
            }
        }
    }

    #[test]
    fn a_message_of_many_pieces_is_one_write_and_a_long_one_loses_nothing() {
        assert_eq!(written(format_args!("{} is {:?}", 1, Some("x"))), ["1 is Some(\"x\")\n"]);
        assert_eq!(written(format_args!("")), ["\n"]);
        for len in [ROOM - 1, ROOM, ROOM + 1, 5 * ROOM] {
            let long = "é".repeat(len / 2) + &"x".repeat(len % 2);
            let parts = written(format_args!("a{long}b{long}c"));
            assert_eq!(parts.concat(), format!("a{long}b{long}c\n"));
            assert!(parts.len() <= 5, "{}", parts.len());
        }
    }

    #[test]
    fn what_is_printed_while_a_message_is_formatted_stands_where_std_has_it() {
        let nested = written(format_args!("a{}c", Odd("b")));
        assert_eq!(nested.concat(), "anested\nbc\n");
        catch_unwind(|| print_to(Writes, format_args!("before {}", Odd("panic")), "\n"))
            .unwrap_err();
        assert_eq!(WRITTEN.take(), ["before "]);
        catch_unwind(|| print_to(Writes, format_args!("before {}", Odd("fail")), "\n"))
            .unwrap_err();
        assert_eq!(WRITTEN.take(), ["before "]);
        assert_eq!(written(format_args!("after")), ["after\n"]);
    }
}
