//! What attributes may make of an item.

use syn::punctuated::Punctuated;

/// Whether none of these attributes makes an item act otherwise than by its name.
pub(super) fn are_quiet(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().all(|attribute| {
        is_one_of(
            attribute.path(),
            "allow cfg cold default deny deprecated derive doc expect ignore inline \
             must_use non_exhaustive repr rstest should_panic test track_caller warn",
        )
    })
}

/// Whether one of these attributes, or a derive, is not known to leave alone what documents the
/// item.
pub(super) fn may_be_read(attributes: &[syn::Attribute]) -> bool {
    let is_of_std = |path: &syn::Path| {
        is_one_of(path, "Clone Copy Debug Default Eq Hash Ord PartialEq PartialOrd")
    };
    let parse = Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
    let mut derives = attributes.iter().filter(|attribute| attribute.path().is_ident("derive"));
    !are_quiet(attributes)
        || derives.any(|derive| {
            derive.parse_args_with(parse).is_ok_and(|paths| !paths.iter().all(is_of_std))
        })
}

/// Whether the last part of a path is one of these names.
fn is_one_of(path: &syn::Path, names: &str) -> bool {
    let last = path.segments.last();
    last.is_some_and(|last| names.split_whitespace().any(|name| last.ident == name))
}
