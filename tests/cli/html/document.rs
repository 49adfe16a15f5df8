//! Parser of a page into elements. It accepts only the HTML that the report writes.

use std::collections::{BTreeMap, BTreeSet};

/// Elements without content.
const VOID: [&str; 3] = ["input", "link", "meta"];

/// Page whose tags are balanced.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// Elements with their tags, their attributes, and all text in them.
    pub(super) elements: Vec<Element>,
}

#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) tag: String,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) text: String,
}

impl Document {
    /// Parses a page.
    ///
    /// # Panics
    /// Panics if a tag is not closed, or is closed by another one.
    pub(super) fn parse(page: &str) -> Self {
        let mut document = Document::default();
        let mut open: Vec<usize> = Vec::new();
        let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
        while let Some(start) = rest.find('<') {
            document.add_text(&open, &rest[..start]);
            rest = &rest[start + 1..];
            let end = rest.find('>').expect("each `<` has its `>`");
            let (tag, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            if let Some(name) = tag.strip_prefix('/') {
                let last = open.pop().expect("an element is open");
                assert_eq!(document.elements[last].tag, name);
                continue;
            }
            let element = Element::parse(tag);
            let name = element.tag.clone();
            document.elements.push(element);
            if VOID.contains(&name.as_str()) {
                continue;
            }
            open.push(document.elements.len() - 1);
            // The text of these two elements is not HTML.
            if name == "script" || name == "style" {
                let end = rest.find(&format!("</{name}>")).unwrap();
                document.elements.last_mut().unwrap().text = rest[..end].to_owned();
                rest = &rest[end..];
            }
        }
        assert_eq!(open.len(), 0, "every element is closed");
        document
    }

    fn add_text(&mut self, open: &[usize], text: &str) {
        for &element in open {
            self.elements[element].text.push_str(&unescaped(text));
        }
    }

    /// Returns the elements with a tag.
    pub(super) fn all<'d>(&'d self, tag: &'d str) -> impl Iterator<Item = &'d Element> {
        self.elements.iter().filter(move |one| one.tag == tag)
    }

    /// Returns the element with an id.
    pub(super) fn by_id(&self, id: &str) -> &Element {
        let mut all = self.elements.iter();
        let found = all.find(|one| one.attribute("id") == Some(id));
        found.unwrap_or_else(|| panic!("no element `{id}`"))
    }

    /// Returns all ids.
    ///
    /// # Panics
    /// Panics if an id occurs twice.
    pub(super) fn ids(&self) -> BTreeSet<&str> {
        let mut ids = BTreeSet::new();
        for id in self.elements.iter().filter_map(|one| one.attribute("id")) {
            assert!(ids.insert(id), "`{id}` is there twice");
        }
        ids
    }
}

impl Element {
    fn parse(tag: &str) -> Self {
        let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        assert!(is_name(name), "`{tag}`");
        let mut attributes = BTreeMap::new();
        while !rest.is_empty() {
            let end = rest.find([' ', '=']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            assert!(is_name(name) && !name.is_empty(), "`{tag}`");
            let value = match after.strip_prefix("=\"") {
                Some(quoted) => {
                    let (value, after) = quoted.split_once('"').unwrap();
                    rest = after;
                    value
                }
                None => {
                    rest = after;
                    ""
                }
            };
            attributes.insert(name.to_owned(), unescaped(value));
            rest = rest.strip_prefix(' ').unwrap_or(rest);
        }
        Element { tag: name.to_owned(), attributes, text: String::new() }
    }

    /// Returns the value of an attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// Returns whether the element has a class.
    pub(super) fn has_class(&self, class: &str) -> bool {
        let classes = self.attribute("class").unwrap_or_default();
        classes.split(' ').any(|one| one == class)
    }
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&amp;", "&")
}
