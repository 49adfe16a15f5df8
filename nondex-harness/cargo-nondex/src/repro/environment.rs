//! The environment: the same variables, given in another order.

use std::fmt::Write as _;

use super::outcome::ScriptOutcome;
use super::script::{Script, variable};
use super::{Reproduction, Subject};
use crate::error::Result;
use crate::report::Culprit;

impl Subject<'_> {
    pub(super) fn environment(&self, culprit: &Culprit) -> Result<Reproduction> {
        let mut sorted: Vec<&str> = self.binary.env.keys().filter_map(|n| variable(n)).collect();
        sorted.sort_unstable();
        let named: Vec<&str> =
            culprit.element_details.iter().filter_map(|element| element.name.as_deref()).collect();
        let folder = self.folder("environment");
        for (order, which) in orders(&sorted, &named) {
            let explanation = format!(
                "the plain test with {which}; with the argument `sorted` the same variables are \
                 in the \
                 order of their \
                 names, and it passes"
            );
            let text = format!(
                "{}{}if [ \"${{1-}}\" = sorted ]; then\n    {}\nfi\n{}\n",
                self.heading(&format!("{}: {explanation}", self.finding.test)),
                self.build_it(),
                self.exec(&sorted, "        "),
                self.exec(&order, "    ")
            );
            let script = Script::write(&folder, &text)?;
            if self.try_script(&script, &[])? == ScriptOutcome::Fails
                && self.try_script(&script, &["sorted"])? == ScriptOutcome::Passes
            {
                return Ok(Reproduction::Script(script.0, explanation));
            }
        }
        Script::discard(&folder);
        Ok(Reproduction::Nothing(
            "with the variables of this environment exchanged or reversed it does not fail each \
             time, or not only then"
                .to_owned(),
        ))
    }

    /// The test with these variables in this order. A shell does not keep the order of its
    /// variables, and `env` does.
    fn exec(&self, names: &[&str], indent: &str) -> String {
        let mut text = "exec env -i".to_owned();
        for name in names {
            // No word at all when it is not set; values stay out of the script.
            let _ = write!(text, " \\\n{indent}${{{name}+\"{name}=${name}\"}}");
        }
        let _ = write!(text, " \\\n{indent}{}", self.run_it());
        text
    }
}

/// The orders that may make the test fail, with what to say of them: first the smallest change.
fn orders<'a>(sorted: &[&'a str], named: &[&str]) -> Vec<(Vec<&'a str>, String)> {
    let mut orders = Vec::new();
    let at = |name: &str| sorted.iter().position(|other| *other == name);
    if let [first, second] = named
        && let (Some(first), Some(second)) = (at(first), at(second))
    {
        let mut order = sorted.to_vec();
        order.swap(first, second);
        orders.push((
            order,
            format!("`{}` and `{}` exchanged in its environment", sorted[first], sorted[second]),
        ));
    }
    let reversed = sorted.iter().rev().copied().collect();
    orders.push((reversed, "the variables of its environment in reverse order".to_owned()));
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_that_decide_are_exchanged_before_all_are_reversed() {
        let sorted = ["A", "B", "C", "D"];
        let of = |named: &[&str]| -> Vec<String> {
            let orders = orders(&sorted, named);
            orders.iter().map(|(order, _)| order.concat()).collect()
        };
        assert_eq!(of(&["B", "D"]), ["ADCB", "DCBA"]);
        assert_eq!(of(&["B", "GONE"]), ["DCBA"]);
        assert_eq!(of(&[]), ["DCBA"]);
    }
}
