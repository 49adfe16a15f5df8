//! One page of rustdoc's output, read into lines that can be compared.

use std::collections::BTreeSet;

use crate::html::{attribute, between, text};
use crate::signature::Signature;

/// The API that one page describes.
#[derive(Debug)]
pub(crate) struct Page {
    /// Whether the whole item is unstable.
    pub(crate) unstable: bool,
    /// Where the source is: a path for this crate, an address for another's.
    pub(crate) source: String,
    /// The stable API, one line for each declaration, method, trait, auto trait and associated
    /// type, in one spelling.
    pub(crate) lines: BTreeSet<String>,
}

/// The part of a page that a section belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Inherent,
    Traits,
    /// Those that hold for every type.
    Blanket,
}

/// Auto traits that no stable program can name; rustdoc does not mark them.
const UNSTABLE_AUTO_TRAITS: [&str; 2] = ["Freeze", "UnsafeUnpin"];

/// How a tuple of private fields is shown, which is no API.
const HIDDEN_FIELDS: &str = "(/* private fields */);";

/// The note on implementations that std documents everywhere and has on Windows only.
const OF_WINDOWS: &str =
    "<div class=\"stab portability\">Available on <strong>Windows</strong> only.</div>";

/// How each part announces itself. What comes before them all belongs to the declaration.
const PARTS: [(&str, Part); 4] = [
    ("id=\"implementations-list\"", Part::Inherent),
    ("id=\"trait-implementations-list\"", Part::Traits),
    ("id=\"synthetic-implementations-list\"", Part::Traits),
    ("id=\"blanket-implementations-list\"", Part::Blanket),
];

impl Page {
    /// Reads a page. `None` for a redirection, an index or anything else that declares no item.
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
                // The methods of a trait are the trait's own.
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

/// Whether the item that ends here is followed by the note that it is unstable.
fn is_unstable(after: &str) -> bool {
    after.strip_prefix("<span class=\"item-info\">").is_some_and(|note| {
        let end =
            ["</summary>", "<section", "<details"].iter().filter_map(|mark| note.find(mark)).min();
        note[..end.unwrap_or(note.len())].contains("class=\"stab unstable\"")
    })
}
