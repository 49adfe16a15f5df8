//! Who may read what documents an item: macros, which find it among its attributes.

use syn::punctuated::Punctuated;

/// Whether one of these attributes, or a derive, is not known to leave alone what documents the
/// item.
pub(in crate::repository) fn may_be_read(attributes: &[syn::Attribute]) -> bool {
    const QUIET: [&str; 22] = [
        "allow",
        "cfg",
        "cfg_attr",
        "cold",
        "deny",
        "deprecated",
        "doc",
        "expect",
        "ignore",
        "inline",
        "macro_export",
        "must_use",
        "non_exhaustive",
        "path",
        "repr",
        "rustfmt",
        "should_panic",
        "test",
        "track_caller",
        "unsafe",
        "warn",
        "default",
    ];
    const DERIVES: [&str; 9] =
        ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];
    let is_one_of = |path: &syn::Path, names: &[&str]| {
        let last = path.segments.last();
        last.is_some_and(|last| names.iter().any(|name| last.ident == name))
    };
    attributes.iter().any(|attribute| {
        if !attribute.path().is_ident("derive") {
            return !is_one_of(attribute.path(), &QUIET);
        }
        let parse = Punctuated::<syn::Path, syn::Token![,]>::parse_terminated;
        attribute
            .parse_args_with(parse)
            .is_ok_and(|derives| derives.iter().any(|path| !is_one_of(path, &DERIVES)))
    })
}
