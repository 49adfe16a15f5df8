//! What of a file each of its items, statements and arms is, for [`Items`].

use std::mem;

use syn::visit::{self, Visit};

use super::new_impl::new_impl;
use super::scope::Scope;
use super::{Arm, Items, are_quiet, documentation};
use crate::repository::outline::name_of_impl;
use crate::repository::syntax::{attributes, lines, named};

impl<'a> Visit<'a> for Items {
    fn visit_file(&mut self, file: &'a syn::File) {
        self.scope = Scope::of(&file.items);
        visit::visit_file(self, file);
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.function(lines(item), &item.attrs, &item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.function(lines(item), &item.attrs, &item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        match &item.default {
            Some(body) => self.function(lines(item), &item.attrs, &item.sig, body),
            None => self.distant.push((lines(item), item.sig.ident.to_string())),
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        let is_function = |item: &syn::ImplItem| matches!(item, syn::ImplItem::Fn(_));
        if item.items.iter().any(is_function) {
            let others = item.items.iter().filter(|item| !is_function(item));
            self.always_distant.extend(others.map(lines));
            self.block(lines(item), item.brace_token.span, new_impl(item, &self.scope));
        } else {
            // A trait that a type has now makes a difference to what is there already.
            self.always_distant.push(lines(item));
        }
        self.inside(name_of_impl(item), |items| {
            visit::visit_item_impl(items, item);
        });
    }

    fn visit_item_trait(&mut self, item: &'a syn::ItemTrait) {
        self.block(lines(item), item.brace_token.span, None);
        self.inside(item.ident.to_string(), |items| {
            visit::visit_item_trait(items, item);
        });
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        match &item.content {
            Some((braces, _)) => self.block(lines(item), braces.span, None),
            None if are_quiet(&item.attrs) => {
                self.modules.push((lines(item), item.ident.to_string()));
            }
            None => self.always_distant.push(lines(item)),
        }
        let inside = item.content.as_ref().map(|(_, inside)| Scope::of(inside));
        let outside = mem::replace(&mut self.scope, inside.unwrap_or_default());
        self.inside(item.ident.to_string(), |items| {
            visit::visit_item_mod(items, item);
        });
        self.scope = outside;
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let is_export = !matches!(item.vis, syn::Visibility::Inherited);
        self.imports.push((lines(item), is_export));
    }

    fn visit_item(&mut self, item: &'a syn::Item) {
        use syn::Item;
        let is_call = matches!(item, Item::Macro(item) if item.ident.is_none());
        if is_call || documentation::may_be_read(attributes(item)) {
            self.documented.push(lines(item));
        }
        match (item, named(item)) {
            (Item::Fn(_) | Item::Impl(_) | Item::Trait(_) | Item::Mod(_) | Item::Use(_), _) => {}
            // A macro that is called may add anything.
            (Item::Union(_), _) | (_, None) => self.always_distant.push(lines(item)),
            (_, Some((name, attributes))) => self.distant(lines(item), name, attributes),
        }
        visit::visit_item(self, item);
    }

    fn visit_stmt(&mut self, statement: &'a syn::Stmt) {
        match statement {
            syn::Stmt::Item(syn::Item::Fn(_) | syn::Item::Use(_)) => {}
            syn::Stmt::Item(item) => self.always_distant.push(lines(item)),
            _ => self.statements.push(lines(statement)),
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        let all = lines(arm);
        self.statements.push(all.clone());
        self.arms.push(Arm { all, head: lines(&arm.pat) });
        visit::visit_arm(self, arm);
    }

    fn visit_attribute(&mut self, attribute: &'a syn::Attribute) {
        self.attributes.push(lines(attribute));
    }
}
