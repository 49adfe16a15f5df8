//! HTML that is escaped by construction: tags and attribute names are literals of the program, and
//! everything else is text.

/// HTML under construction.
#[derive(Debug, Default)]
pub(super) struct Markup {
    html: String,
}

/// Attributes with their values.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

impl Markup {
    /// Adds an element with content.
    pub(super) fn element(
        &mut self,
        tag: &'static str,
        attributes: Attributes<'_>,
        content: impl FnOnce(&mut Markup),
    ) {
        self.open(tag, attributes);
        content(self);
        self.html.push_str("</");
        self.html.push_str(tag);
        self.html.push('>');
    }

    /// Adds an element that contains only text.
    pub(super) fn leaf(&mut self, tag: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(tag, attributes, |markup| markup.text(text));
    }

    /// Adds content that a reader can fold, below a summary.
    pub(super) fn details(
        &mut self,
        summary: &str,
        is_open: bool,
        content: impl FnOnce(&mut Markup),
    ) {
        let attributes: Attributes<'_> = if is_open { &[("open", "")] } else { &[] };
        self.element("details", attributes, |markup| {
            markup.leaf("summary", &[], summary);
            content(markup);
        });
    }

    /// Adds the head of a table.
    pub(super) fn columns<'t>(&mut self, titles: impl IntoIterator<Item = &'t str>) {
        self.element("thead", &[], |markup| {
            markup.element("tr", &[], |markup| {
                for title in titles {
                    markup.leaf("th", &[("scope", "col")], title);
                }
            });
        });
    }

    /// Adds a link to a test of the page.
    pub(super) fn test_link(&mut self, id: &str, text: &str) {
        self.leaf("a", &[("href", &format!("#{}", anchor(id)))], text);
    }

    /// Adds a start tag. Void elements have no content and no end tag.
    pub(super) fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.html.push('<');
        self.html.push_str(tag);
        for (name, value) in attributes {
            self.html.push(' ');
            self.html.push_str(name);
            if !value.is_empty() {
                self.html.push_str("=\"");
                self.text(value);
                self.html.push('"');
            }
        }
        self.html.push('>');
    }

    /// Adds text, inside an element or an attribute's value. Control characters other than line
    /// breaks and tabs are not allowed in HTML, so they are shown as symbols.
    pub(super) fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '"' => self.html.push_str("&quot;"),
                '\'' => self.html.push_str("&#39;"),
                '\n' | '\t' => self.html.push(c),
                // A browser would treat a carriage return as a separate line break.
                '\r' => {}
                '\0'..='\x1f' => self.html.extend(char::from_u32(0x2400 + u32::from(c))),
                '\x7f' => self.html.push('\u{2421}'),
                // C1 controls, and marks that change the direction of the text after them.
                '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    self.html.push('\u{fffd}');
                }
                _ => self.html.push(c),
            }
        }
    }

    /// Adds HTML, CSS or JavaScript that is part of this program.
    pub(super) fn literal(&mut self, html: &'static str) {
        self.html.push_str(html);
    }

    /// Adds a line break, for people who read the source of the page.
    pub(super) fn line(&mut self) {
        self.html.push('\n');
    }

    /// Adds text of this program's messages: `code` in backticks, and addresses as links.
    pub(super) fn rich(&mut self, text: &str) {
        for (at, part) in text.split('`').enumerate() {
            if at % 2 == 1 {
                self.leaf("code", &[], part);
            } else {
                self.linked(part);
            }
        }
    }

    fn linked(&mut self, text: &str) {
        let mut rest = text;
        while let Some(start) = rest.find("https://") {
            let (before, address) = rest.split_at(start);
            let end = address.find(char::is_whitespace).unwrap_or(address.len());
            self.text(before);
            let attributes = [("href", &address[..end]), ("rel", "noreferrer")];
            self.leaf("a", &attributes, &address[..end]);
            rest = &address[end..];
        }
        self.text(rest);
    }

    /// Returns the HTML.
    pub(super) fn finish(self) -> String {
        self.html
    }
}

/// Returns the identifier of a test in the page, which is the target of links to it. Characters
/// that need an escape in an address become `~`, their code and a dot. Distinct tests have distinct
/// identifiers.
pub(super) fn anchor(id: &str) -> String {
    let mut anchor = String::with_capacity(id.len());
    for c in id.chars() {
        if c.is_ascii_alphanumeric() || "$:._-/".contains(c) {
            anchor.push(c);
        } else {
            anchor.push_str(&format!("~{:x}.", u32::from(c)));
        }
    }
    anchor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Markup)) -> String {
        let mut markup = Markup::default();
        write(&mut markup);
        markup.finish()
    }

    #[test]
    fn text_and_values_of_attributes_are_escaped() {
        let html = written(|markup| {
            markup.leaf("p", &[("title", "\"><b>")], "</script><i>'&\u{1b}[0m\0");
        });
        assert_eq!(
            html,
            "<p title=\"&quot;&gt;&lt;b&gt;\">&lt;/script&gt;&lt;i&gt;&#39;&amp;\u{241b}[0m\
             \u{2400}</p>"
        );
    }

    #[test]
    fn code_in_backticks_is_code_and_only_addresses_of_the_web_are_links() {
        let html = written(|markup| markup.rich("`a<b>` see https://x.org/<y>\nend"));
        assert_eq!(
            html,
            "<code>a&lt;b&gt;</code> see <a href=\"https://x.org/&lt;y&gt;\" \
             rel=\"noreferrer\">https://x.org/&lt;y&gt;</a>\nend"
        );
        let html = written(|markup| markup.rich("javascript:alert(1)"));
        assert_eq!(html, "javascript:alert(1)");
    }

    #[test]
    fn different_tests_have_different_anchors_without_spaces() {
        let ids = ["a$b c", "a$b_c", "a$b~20.c", "a$b\"c", "é"];
        let anchors: std::collections::BTreeSet<String> = ids.map(anchor).into();
        assert_eq!(anchors.len(), ids.len());
        let is_plain = |c: char| c.is_ascii_graphic() && !"\"'<>&%#".contains(c);
        assert!(anchors.iter().all(|anchor| anchor.chars().all(is_plain)));
        assert_eq!(anchor("shop::it$tests::a_b"), "shop::it$tests::a_b");
    }
}
