//! XML, as far as a report needs it: elements with attributes, and with text or other elements in them.

/// An element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    text: Option<String>,
    children: Vec<Element>,
}

impl Element {
    pub(super) const fn new(name: &'static str) -> Self {
        Element {
            name,
            attributes: Vec::new(),
            text: None,
            children: Vec::new(),
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: &(impl ToString + ?Sized)) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// With a text, and nothing else in it.
    pub(super) fn text(mut self, text: &str) -> Self {
        self.text = Some(text.to_owned());
        self
    }

    pub(super) fn push(&mut self, child: Element) {
        self.children.push(child);
    }

    /// The whole document, with this as its root.
    pub(super) fn document(&self) -> String {
        let mut document = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        self.write(&mut document, 0);
        document
    }

    fn write(&self, to: &mut String, depth: usize) {
        let name = self.name;
        to.extend(std::iter::repeat_n("    ", depth));
        to.push('<');
        to.push_str(name);
        for (name, value) in &self.attributes {
            // A reader would take line breaks in an attribute for spaces.
            let value = escaped(value).replace('\n', "&#10;");
            to.push_str(&format!(" {name}=\"{value}\""));
        }
        match &self.text {
            Some(text) => to.push_str(&format!(">{}</{name}>", escaped(text))),
            None if self.children.is_empty() => to.push_str("/>"),
            None => {
                to.push_str(">\n");
                for child in &self.children {
                    child.write(to, depth + 1);
                }
                to.extend(std::iter::repeat_n("    ", depth));
                to.push_str(&format!("</{name}>"));
            }
        }
        to.push('\n');
    }
}

/// A text without ANSI codes and characters that XML has not.
fn escaped(text: &str) -> String {
    let plain = anstream::adapter::strip_str(text).to_string();
    let mut escaped = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' | '\r' => escaped.push(c),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => {}
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_test_says_is_text() {
        let mut root = Element::new("a").with("b", "\"1\"\n<2> & '3'");
        root.push(Element::new("c").text("\u{1b}[31mred\u{1b}[0m\0 &amp;\n\ttab \u{ffff}é"));
        root.push(Element::new("d"));
        assert_eq!(
            root.document(),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <a b=\"&quot;1&quot;&#10;&lt;2&gt; &amp; &apos;3&apos;\">\n    \
             <c>red &amp;amp;\n\ttab é</c>\n    <d/>\n</a>\n"
        );
    }
}
