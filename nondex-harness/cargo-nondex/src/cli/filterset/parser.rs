//! Parses expressions by recursive descent, with this grammar:
//!
//! ```text
//! or     = and (("or" | "|" | "+") and)*
//! and    = unary (("and" | "&" | "-") unary)*
//! unary  = ("not" | "!") unary | "(" or ")" | predicate
//! ```

use std::ops::Range;

use super::Platform;
use super::error::FiltersetError;
use super::matcher::{Bare, Matcher};
use super::tree::{Predicate, Property, SyntaxTree};

/// Maximum nesting of `not` and parentheses. It exceeds all practical use, and is far from
/// exhausting the stack.
const MAX_DEPTH: usize = 200;

/// Predicates, for the message about an unknown one.
const PREDICATES: &str = "test(), package(), binary(), binary_id(), kind(), platform(), deps(), \
    rdeps(), all(), none(), default()";

/// Argument of a predicate.
enum Argument {
    None(Predicate),
    Platform,
    /// Matcher of a name, with the meaning of a text without a prefix.
    Name(Property, Bare),
}

type Leaf = (Predicate, Range<usize>);
type Result<T> = std::result::Result<T, FiltersetError>;

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Result<SyntaxTree<Leaf>> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let tree = parser.or()?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.unexpected_rest());
    }
    Ok(tree)
}

/// State of the parser. The methods for rules of the grammar have their names.
struct Parser<'a> {
    text: &'a str,
    /// Offset of the rest of the text, in bytes.
    at: usize,
    /// Current nesting.
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Returns the text that is not parsed yet.
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Skips spaces.
    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    /// Skips `token` if it comes next. Returns whether it did.
    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Skips an operator that is a word if it is the whole next word. Returns whether it was.
    fn take_word(&mut self, word: &str) -> bool {
        self.word() == word && self.take(word)
    }

    /// Returns the next word, which may be empty.
    fn word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        &rest[..end]
    }

    /// Returns an error at `span`.
    fn error<T>(&self, span: Range<usize>, message: impl Into<String>) -> Result<T> {
        Err(FiltersetError::new(self.text, span, message))
    }

    fn or(&mut self) -> Result<SyntaxTree<Leaf>> {
        let mut operands = vec![self.and()?];
        loop {
            self.space();
            // Without this check, the error would be about a missing operand.
            if self.rest().starts_with("||") {
                let span = self.at..self.at + 2;
                return self.error(span, "expected `|`, `+` or `or`, found `||`");
            }
            if !(self.take("|") || self.take("+") || self.take_word("or")) {
                break;
            }
            operands.push(self.and()?);
        }
        Ok(join(operands, SyntaxTree::Or))
    }

    fn and(&mut self) -> Result<SyntaxTree<Leaf>> {
        let mut operands = vec![self.unary()?];
        loop {
            self.space();
            if self.rest().starts_with("&&") {
                let span = self.at..self.at + 2;
                return self.error(span, "expected `&` or `and`, found `&&`");
            }
            if self.take("&") || self.take_word("and") {
                operands.push(self.unary()?);
            } else if self.take("-") {
                operands.push(SyntaxTree::Not(Box::new(self.unary()?)));
            } else {
                break;
            }
        }
        Ok(join(operands, SyntaxTree::And))
    }

    fn unary(&mut self) -> Result<SyntaxTree<Leaf>> {
        self.space();
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("nested too deeply, expected at most {MAX_DEPTH} levels");
            return self.error(self.here(), message);
        }
        let tree = if self.take("!") || self.take_word("not") {
            SyntaxTree::Not(Box::new(self.unary()?))
        } else if self.take("(") {
            let tree = self.or()?;
            self.close()?;
            tree
        } else {
            SyntaxTree::Leaf(self.predicate()?)
        };
        self.depth -= 1;
        Ok(tree)
    }

    fn predicate(&mut self) -> Result<Leaf> {
        let start = self.at;
        let name = self.word();
        let argument = match name {
            "all" => Argument::None(Predicate::All),
            "default" => Argument::None(Predicate::Default),
            "none" => Argument::None(Predicate::None),
            "platform" => Argument::Platform,
            "test" => Argument::Name(Property::Test, Bare::Contains),
            "kind" => Argument::Name(Property::Kind, Bare::Equal),
            "package" => Argument::Name(Property::Package, Bare::Glob),
            "deps" => Argument::Name(Property::Dependencies, Bare::Glob),
            "rdeps" => Argument::Name(Property::Dependents, Bare::Glob),
            "binary" => Argument::Name(Property::Binary, Bare::Glob),
            "binary_id" => Argument::Name(Property::BinaryId, Bare::Glob),
            "group" => {
                let message = "group() is not supported: select the tests of a group by name";
                return self.error(start..start + name.len(), message);
            }
            "" => {
                let found = self.found();
                let message = format!("expected a predicate or `(`, found {found}");
                return self.error(self.here(), message);
            }
            _ => {
                let message = format!("unknown predicate `{name}`, expected one of {PREDICATES}");
                return self.error(start..start + name.len(), message);
            }
        };
        self.at += name.len();
        self.space();
        if !self.take("(") {
            let message = format!("expected `(` after `{name}`, found {}", self.found());
            return self.error(self.here(), message);
        }
        self.space();
        let start = self.at;
        let predicate = match argument {
            Argument::None(predicate) => {
                if !self.rest().starts_with(')') && !self.rest().is_empty() {
                    let end = self.rest().find(')').map_or(self.text.len(), |at| self.at + at);
                    return self.error(start..end, format!("{name}() takes no argument"));
                }
                predicate
            }
            Argument::Platform => {
                let text = self.string()?;
                match text.trim() {
                    "host" => Predicate::Platform(Platform::Host),
                    "target" => Predicate::Platform(Platform::Target),
                    other => {
                        let message = format!("expected `host` or `target`, found `{other}`");
                        return self.error(start..self.at, message);
                    }
                }
            }
            Argument::Name(property, bare) => Predicate::Name(property, self.matcher(bare)?),
        };
        let span = start..self.at;
        if self.rest().starts_with(',') {
            return self.error(
                self.here(),
                format!("{name}() takes one argument; a comma in it is written `\\,`"),
            );
        }
        self.close()?;
        Ok((predicate, span))
    }

    fn matcher(&mut self, bare: Bare) -> Result<Matcher> {
        let kind = if self.take("/") {
            return self.regex();
        } else if self.take("=") {
            Bare::Equal
        } else if self.take("~") {
            Bare::Contains
        } else if self.take("#") {
            Bare::Glob
        } else {
            bare
        };
        let start = self.at;
        let text = self.string()?;
        match kind {
            Bare::Equal => Ok(Matcher::Equal(text)),
            Bare::Contains => Ok(Matcher::Contains(text)),
            Bare::Glob => Matcher::glob(&text)
                .or_else(|why| self.error(start..self.at, format!("invalid glob: {why}"))),
        }
    }

    /// Parses a pattern up to the next `/` that is not escaped. `\/` is a slash. All other escapes
    /// belong to the regex.
    fn regex(&mut self) -> Result<Matcher> {
        let start = self.at;
        let mut pattern = String::new();
        let mut chars = self.rest().char_indices();
        let end = loop {
            match chars.next() {
                None => {
                    let end = self.text.len();
                    return self
                        .error(end..end, "expected `/` at the end of the regular expression");
                }
                Some((at, '/')) => break start + at,
                Some((_, '\\')) => match chars.next() {
                    Some((_, '/')) => pattern.push('/'),
                    Some((_, other)) => pattern.extend(['\\', other]),
                    None => {}
                },
                Some((_, other)) => pattern.push(other),
            }
        };
        let matcher = Matcher::regex(&pattern)
            .or_else(|why| self.error(start..end, format!("invalid regular expression: {why}")))?;
        self.at = end + 1;
        self.space();
        Ok(matcher)
    }

    /// Parses a text up to the next `)` or `,` that is not escaped. As in nextest, spaces at its
    /// end are part of the text.
    fn string(&mut self) -> Result<String> {
        let mut text = String::new();
        while let Some(next) = self.rest().chars().next() {
            match next {
                ')' | ',' => break,
                '\\' => text.push(self.escape()?),
                other => {
                    text.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
        if text.is_empty() && !self.rest().is_empty() {
            return self.error(self.here(), format!("expected a name, found {}", self.found()));
        }
        Ok(text)
    }

    /// Parses an escape, such as `\n` or `\u{7FFF}`.
    fn escape(&mut self) -> Result<char> {
        let rest = &self.rest()[1..];
        let simple = match rest.chars().next() {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('b') => Some('\u{8}'),
            Some('f') => Some('\u{c}'),
            Some(c @ ('\\' | '/' | ')' | ',')) => Some(c),
            _ => None,
        };
        if let Some(c) = simple {
            self.at += 2;
            return Ok(c);
        }
        let unicode = rest.strip_prefix("u{").and_then(|hex| {
            let hex = &hex[..hex.find('}')?];
            let digits = (1..=6).contains(&hex.len()) && hex.bytes().all(|b| b.is_ascii_hexdigit());
            let c = char::from_u32(u32::from_str_radix(hex, 16).ok()?)?;
            digits.then_some((c, hex.len()))
        });
        if let Some((c, digits)) = unicode {
            self.at += "\\u{}".len() + digits;
            return Ok(c);
        }
        let length = 1 + rest.chars().next().map_or(0, char::len_utf8);
        self.error(
            self.at..self.at + length,
            r"unknown escape, expected one of \n \r \t \b \f \\ \/ \) \, \u{7FFF}",
        )
    }

    /// Parses `)`.
    fn close(&mut self) -> Result<()> {
        self.space();
        if self.take(")") {
            return Ok(());
        }
        self.error(self.here(), format!("expected `)`, found {}", self.found()))
    }

    /// Returns the span of the next character, which is empty at the end.
    fn here(&self) -> Range<usize> {
        self.at..self.at + self.rest().chars().next().map_or(0, char::len_utf8)
    }

    /// Returns the next word or character, for a message.
    fn found(&self) -> String {
        match (self.word(), self.rest().chars().next()) {
            (_, None) => "the end".to_owned(),
            ("", Some(next)) => format!("`{next}`"),
            (word, _) => format!("`{word}`"),
        }
    }

    /// Returns the error for text after the expression.
    fn unexpected_rest(&self) -> FiltersetError {
        let word = self.word();
        let message = match word.to_ascii_lowercase().as_str() {
            lower @ ("and" | "or" | "not") if lower != word => {
                format!("expected an operator, found `{word}`: operators are lower-case")
            }
            _ => format!("expected an operator or the end, found {}", self.found()),
        };
        let span = if word.is_empty() { self.here() } else { self.at..self.at + word.len() };
        FiltersetError::new(self.text, span, message)
    }
}

/// Joins several operands. Returns a single operand unchanged.
fn join(
    mut operands: Vec<SyntaxTree<Leaf>>,
    joined: fn(Vec<SyntaxTree<Leaf>>) -> SyntaxTree<Leaf>,
) -> SyntaxTree<Leaf> {
    if operands.len() == 1 { operands.remove(0) } else { joined(operands) }
}
