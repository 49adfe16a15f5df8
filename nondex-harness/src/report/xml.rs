//! An element of XML, as much as JUnit's needs.

use anstream::adapter::strip_str;

/// How much an element is indented in the one around it.
const INDENT: usize = 4;

/// An element with its attributes, and either text or other elements in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: Option<String>,
    children: Vec<Element>,
}

impl Element {
    /// An empty element.
    pub(super) const fn new(name: &'static str) -> Self {
        Element {
            name,
            attributes: Vec::new(),
            text: None,
            children: Vec::new(),
        }
    }

    /// With one more attribute.
    pub(super) fn with(mut self, name: &'static str, value: &impl ToString) -> Self {
        let value = escaped(&value.to_string());
        // A reader would take them for spaces.
        let value = value.replace('\n', "&#10;").replace('\t', "&#9;");
        self.attributes.push((name, value));
        self
    }

    /// With this text in it.
    pub(super) fn text(mut self, text: &str) -> Self {
        self.text = Some(escaped(text));
        self
    }

    /// With these elements in it, too.
    pub(super) fn containing(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children.extend(children);
        self
    }

    /// A whole document of it.
    pub(super) fn document(&self) -> String {
        let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.write(0, &mut text);
        text
    }

    fn write(&self, depth: usize, to: &mut String) {
        let indent = " ".repeat(depth * INDENT);
        to.push_str(&format!("{indent}<{}", self.name));
        for (name, value) in &self.attributes {
            to.push_str(&format!(" {name}=\"{value}\""));
        }
        match &self.text {
            None if self.children.is_empty() => to.push_str("/>\n"),
            // No space that the text has not.
            Some(text) => to.push_str(&format!(">{text}</{}>\n", self.name)),
            None => {
                to.push_str(">\n");
                for child in &self.children {
                    child.write(depth + 1, to);
                }
                to.push_str(&format!("{indent}</{}>\n", self.name));
            }
        }
    }
}

/// The text without ANSI codes and characters that XML has not, and with what means something in XML escaped.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for part in strip_str(text) {
        for character in part.chars() {
            match character {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\t' | '\n' => escaped.push(character),
                // A reader would take it for the end of a line.
                '\r' => escaped.push_str("&#13;"),
                '\u{0}'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => {}
                other => escaped.push(other),
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_has_not_is_left_out_and_what_means_something_is_escaped() {
        for (text, expected) in [
            (
                "a < b && c > \"d\"",
                "a &lt; b &amp;&amp; c &gt; &quot;d&quot;",
            ),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            (
                "nul \u{0}, bell \u{7}, no character \u{ffff}",
                "nul , bell , no character ",
            ),
            ("tab\tline\nreturn\r", "tab\tline\nreturn&#13;"),
            ("é 日本 🦀", "é 日本 🦀"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }
}
