//! What an `impl` that was not there before acts on.

use super::Reach;
use super::scope::Scope;

/// What an `impl` with functions acts on when it is new, in a module with these names, besides what
/// calls these: a call of another type's function may now be one of what its trait provides for
/// all.
pub(super) fn new_impl(item: &syn::ItemImpl, scope: &Scope) -> Option<Reach> {
    // What these of std's provide is made of what an `impl` gives them.
    const FROM_ITS_OWN: [&str; 20] = [
        "AsMut",
        "AsRef",
        "Borrow",
        "Clone",
        "Debug",
        "Default",
        "Display",
        "Eq",
        "Extend",
        "From",
        "FromIterator",
        "FromStr",
        "Hash",
        "Index",
        "IndexMut",
        "IntoIterator",
        "Ord",
        "PartialEq",
        "PartialOrd",
        "TryFrom",
    ];
    let (path, _) = item.trait_.as_ref()?;
    let of_trait = path.segments.last()?.ident.to_string();
    if FROM_ITS_OWN.contains(&&*of_trait) && scope.is_of_std(path) {
        return None;
    }
    match &*item.self_ty {
        syn::Type::Path(of) if !is_parameter(item, &of.path) => {
            let last = of.path.segments.last()?;
            Some(Reach::Named(last.ident.to_string()))
        }
        _ => Some(Reach::Crate),
    }
}

/// Whether this is a type that an `impl` has as a parameter.
fn is_parameter(item: &syn::ItemImpl, path: &syn::Path) -> bool {
    item.generics.type_params().any(|parameter| path.is_ident(&parameter.ident))
}
