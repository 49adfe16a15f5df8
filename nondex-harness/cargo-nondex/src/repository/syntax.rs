//! Lines, names and attributes of parts of a source.

use std::ops::RangeInclusive;

use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

/// Range of lines of a source, from 1.
pub(super) type LineRange = RangeInclusive<u32>;

/// Converts a line number or a number of lines.
pub(super) fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Returns the lines of a part of a source.
pub(super) fn lines(of: &impl Spanned) -> LineRange {
    let span = of.span();
    number(span.start().line)..=number(span.end().line)
}

/// Returns the number of lines after the first.
pub(super) fn length(lines: &LineRange) -> u32 {
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

/// Returns whether none of these attributes gives an item effects beyond those of its name.
pub(super) fn are_harmless(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().all(|attribute| {
        is_one_of(
            attribute.path(),
            "allow cfg cold default deny deprecated derive doc expect ignore inline \
             must_use non_exhaustive repr rstest should_panic test track_caller warn",
        )
    })
}

/// Returns whether one of these attributes, or a derive, may read the documentation of the item.
pub(super) fn may_read_documentation(attributes: &[syn::Attribute]) -> bool {
    let is_of_std = |path: &syn::Path| {
        is_one_of(path, "Clone Copy Debug Default Eq Hash Ord PartialEq PartialOrd")
    };
    let parse = Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
    let mut derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    !are_harmless(attributes)
        || derives.any(|derive| {
            derive.parse_args_with(parse).is_ok_and(|paths| !paths.iter().all(is_of_std))
        })
}

/// Returns whether the last segment of a path is one of these names.
fn is_one_of(path: &syn::Path, names: &str) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| names.split_whitespace().any(|name| last.ident == name))
}
