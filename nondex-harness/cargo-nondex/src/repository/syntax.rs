//! Lines, names and attributes of parts of a source.

use std::ops::RangeInclusive;

use syn::spanned::Spanned;

/// Range of lines of a source, from 1.
pub(super) type Lines = RangeInclusive<u32>;

/// Converts a line number or a number of lines.
pub(super) fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Returns the lines of a part of a source.
pub(super) fn lines(of: &impl Spanned) -> Lines {
    let span = of.span();
    number(span.start().line)..=number(span.end().line)
}

/// Returns the number of lines after the first.
pub(super) fn length(lines: &Lines) -> u32 {
    lines.end().saturating_sub(*lines.start())
}

/// Returns the name and the attributes of an item that contains no others. The name is `None` if
/// the item is not used by name.
pub(super) fn named(item: &syn::Item) -> (Option<&syn::Ident>, &[syn::Attribute]) {
    use syn::Item;
    match item {
        Item::Const(item) => (Some(&item.ident), &item.attrs),
        Item::Enum(item) => (Some(&item.ident), &item.attrs),
        Item::Macro(item) => (item.ident.as_ref(), &item.attrs),
        Item::Mod(item) => (Some(&item.ident), &item.attrs),
        Item::Static(item) => (Some(&item.ident), &item.attrs),
        Item::Struct(item) => (Some(&item.ident), &item.attrs),
        Item::Type(item) => (Some(&item.ident), &item.attrs),
        Item::Union(item) => (Some(&item.ident), &item.attrs),
        _ => (None, &[]),
    }
}
