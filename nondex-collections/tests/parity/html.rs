//! Parser for the HTML that rustdoc writes.

/// Returns the text of a fragment: no tags, entities decoded, white space as one space each.
pub(crate) fn text(fragment: &str) -> String {
    let mut plain = String::with_capacity(fragment.len());
    let mut rest = fragment;
    while let Some(start) = rest.find('<') {
        plain.push_str(&rest[..start]);
        let tag = &rest[start..];
        let end = tag.find('>').map_or(tag.len(), |end| end + 1);
        // The where clause is a separate block without white space before it.
        if tag.starts_with("<div") || tag.starts_with("<br") {
            plain.push(' ');
        }
        rest = &tag[end..];
    }
    plain.push_str(rest);
    let plain = plain
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&nbsp;", " ")
        // Mark of a notable trait.
        .replace('ⓘ', " ")
        .replace("&amp;", "&");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the part between the first `start` and the next `end`.
pub(crate) fn between<'a>(html: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = html.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

/// Returns the value of an attribute of the tag at the start of `html`.
pub(crate) fn attribute<'a>(html: &'a str, name: &str) -> Option<&'a str> {
    let tag = html.split_once('>')?.0;
    between(tag, &format!("{name}=\""), "\"")
}

#[test]
fn text_drops_tags_and_decodes_entities_once() {
    let html = "pub fn <a href=\"#x\">get</a>&lt;Q&gt;(\n    \
        k: <b>&amp;Q</b>) -&gt; T<div class=\"where\">where\n    Q: Eq,</div>";
    assert_eq!(text(html), "pub fn get<Q>( k: &Q) -> T where Q: Eq,");
    assert_eq!(text("&amp;lt;"), "&lt;");
}
