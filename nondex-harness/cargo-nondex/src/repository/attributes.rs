//! Effects that attributes may have on an item.

use syn::punctuated::Punctuated;

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
