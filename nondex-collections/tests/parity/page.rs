//! One page of rustdoc's output, parsed into comparable lines.

use std::collections::BTreeSet;

use crate::html::{attribute, between, text};
use crate::signature::Signature;

/// API that one page describes.
#[derive(Debug)]
pub(crate) struct Page {
    /// Whether the whole item is unstable.
    pub(crate) unstable: bool,
    /// Link to the source: a path for this crate, an address for another crate.
    pub(crate) source: String,
    /// Stable API in one spelling, with a line for each declaration, method, trait, auto trait and
    /// associated type.
    pub(crate) lines: BTreeSet<String>,
}

/// Part of a page that a section belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Inherent,
    Traits,
    /// Implementations for every type.
    Blanket,
}

/// Auto traits that no stable program can name. Rustdoc does not mark them.
const UNSTABLE_AUTO_TRAITS: [&str; 2] = ["Freeze", "UnsafeUnpin"];

/// Text for a tuple of private fields, which is no API.
const HIDDEN_FIELDS: &str = "(/* private fields */);";

/// Note on implementations that std documents on all platforms but has only on Windows.
const OF_WINDOWS: &str =
    "<div class=\"stab portability\">Available on <strong>Windows</strong> only.</div>";

/// Start of each part. Everything before the first one belongs to the declaration.
const PARTS: [(&str, Part); 4] = [
    ("id=\"implementations-list\"", Part::Inherent),
    ("id=\"trait-implementations-list\"", Part::Traits),
    ("id=\"synthetic-implementations-list\"", Part::Traits),
    ("id=\"blanket-implementations-list\"", Part::Blanket),
];

impl Page {
    /// Reads a page. Returns `None` for a redirection, an index or another page that declares no
    /// item.
    pub(crate) fn read(html: &str) -> Option<Page> {
        let declaration = between(html, "<pre class=\"rust item-decl\"><code>", "</code></pre>")?;
        let heading = between(html, "<div class=\"main-heading\">", "<pre")?;
        let after = html.split_once("</code></pre>")?.1;
        let mut page = Page {
            unstable: is_unstable(after),
            source: between(heading, "<a class=\"src\" href=\"", "\"")
                .unwrap_or_default()
                .to_owned(),
            lines: BTreeSet::new(),
        };
        page.add(
            page.unstable,
            Signature::parse(&text(declaration).replace(HIDDEN_FIELDS, "")).to_string(),
        );
        page.read_implementations(html);
        Some(page)
    }

    fn read_implementations(&mut self, html: &str) {
        let mut parts: Vec<(usize, Part)> =
            PARTS.iter().filter_map(|(mark, part)| Some((html.find(mark)?, *part))).collect();
        parts.sort_by_key(|(at, _)| *at);
        let (mut implementation, mut implementation_unstable) = (None, self.unstable);
        for (at, _) in html.match_indices("<section id=\"") {
            let Some((_, part)) = parts.iter().rev().find(|(start, _)| *start < at) else {
                continue;
            };
            let Some((section, after)) = html[at..].split_once("</section>") else { continue };
            let Some(header) = between(section, "class=\"code-header\">", "</h") else { continue };
            if *part == Part::Blanket || section.contains(OF_WINDOWS) {
                continue;
            }
            let signature = Signature::parse(&text(header));
            let unstable = is_unstable(after);
            match (attribute(section, "class").unwrap_or_default(), part) {
                ("impl", part) => {
                    let auto = |name: &&str| signature.subject.contains(&format!("{name} for "));
                    implementation_unstable =
                        self.unstable || unstable || UNSTABLE_AUTO_TRAITS.iter().any(auto);
                    if *part == Part::Traits {
                        self.add(implementation_unstable, signature.to_string());
                    }
                    implementation = Some(signature);
                }
                ("method" | "method deprecated" | "associatedconstant", Part::Inherent)
                | ("associatedtype trait-impl", Part::Traits) => {
                    let line = signature.within(implementation.as_ref()).to_string();
                    self.add(implementation_unstable || unstable, line);
                }
                // The methods of a trait's implementation belong to the trait.
                _ => {}
            }
        }
    }

    fn add(&mut self, unstable: bool, line: String) {
        if !unstable {
            self.lines.insert(line);
        }
    }
}

/// Returns whether a note follows the item that it is unstable.
fn is_unstable(after: &str) -> bool {
    after.strip_prefix("<span class=\"item-info\">").is_some_and(|note| {
        let end =
            ["</summary>", "<section", "<details"].iter().filter_map(|mark| note.find(mark)).min();
        note[..end.unwrap_or(note.len())].contains("class=\"stab unstable\"")
    })
}
