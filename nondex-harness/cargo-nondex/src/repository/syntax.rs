//! Lines, names and attributes of what a source has.

use std::ops::RangeInclusive;

use syn::spanned::Spanned;

/// Lines of a source, from 1.
pub(super) type Lines = RangeInclusive<u32>;

/// A number of a line, or of lines.
pub(super) fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// The lines that something is on.
pub(super) fn lines(of: &impl Spanned) -> Lines {
    let span = of.span();
    number(span.start().line)..=number(span.end().line)
}

/// The number of lines after the first.
pub(super) fn length(lines: &Lines) -> u32 {
    lines.end().saturating_sub(*lines.start())
}

/// The attributes of an item, but for those of imports and macros.
pub(super) fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    use syn::Item;
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        _ => &[],
    }
}

/// The name of an item that is used by its name only, and its attributes: a type, a constant, a
/// static, a trait or a macro.
pub(super) fn named(item: &syn::Item) -> Option<(&syn::Ident, &[syn::Attribute])> {
    use syn::Item;
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Macro(item) => return Some((item.ident.as_ref()?, &item.attrs)),
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some((name, attributes(item)))
}
