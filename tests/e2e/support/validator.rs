//! Validator for the part of JSON Schema that the schemas of this tool use.

use serde_json::Value;

/// Returns the first violation of the schema. An unknown keyword is an error too.
pub(crate) fn validate(value: &Value, schema: &Value, root: &Value) -> Result<(), String> {
    let Some(rules) = schema.as_object() else { return Err(format!("{schema} is no schema")) };
    for (keyword, rule) in rules {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" | "definitions" | "format" => continue,
            "$ref" => {
                let path = rule.as_str().unwrap().trim_start_matches('#');
                let target = root.pointer(path).ok_or_else(|| format!("no {path}"))?;
                validate(value, target, root)?;
                continue;
            }
            "allOf" => {
                let mut all = rule.as_array().unwrap().iter();
                all.try_for_each(|one| validate(value, one, root))?;
                continue;
            }
            "anyOf" => {
                let mut any = rule.as_array().unwrap().iter();
                any.any(|one| validate(value, one, root).is_ok())
            }
            "type" => {
                let names = rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice);
                names.iter().any(|name| is_a(value, name.as_str().unwrap()))
            }
            "enum" => rule.as_array().unwrap().contains(value),
            "const" => rule == value,
            "minimum" => value.as_f64().is_none_or(|found| found >= rule.as_f64().unwrap()),
            "not" => validate(value, rule, root).is_err(),
            "exclusiveMinimum" => value.as_f64().is_none_or(|found| found > rule.as_f64().unwrap()),
            "minItems" => value.as_array().is_none_or(|found| found.len() as u64 >= count(rule)),
            "maxItems" => value.as_array().is_none_or(|found| found.len() as u64 <= count(rule)),
            "minLength" => value.as_str().is_none_or(|found| found.len() as u64 >= count(rule)),
            "pattern" => {
                let pattern = regex::Regex::new(rule.as_str().unwrap()).unwrap();
                value.as_str().is_none_or(|found| pattern.is_match(found))
            }
            "items" => {
                let mut items = value.as_array().into_iter().flatten();
                items.try_for_each(|item| validate(item, rule, root))?;
                continue;
            }
            "required" => {
                let mut names = rule.as_array().unwrap().iter();
                let has = |name: &Value| value.get(name.as_str().unwrap()).is_some();
                !value.is_object() || names.all(has)
            }
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(found) = value.get(name) {
                        let found = validate(found, rule, root);
                        found.map_err(|error| format!("{name}: {error}"))?;
                    }
                }
                continue;
            }
            "additionalProperties" => {
                let known = rules.get("properties").and_then(Value::as_object);
                let is_other = |name: &str| known.is_none_or(|known| !known.contains_key(name));
                let found = value.as_object().into_iter().flatten();
                for (name, found) in found.filter(|(name, _)| is_other(name)) {
                    match rule {
                        Value::Bool(false) => return Err(format!("`{name}` is unknown")),
                        rule => validate(found, rule, root)
                            .map_err(|error| format!("{name}: {error}"))?,
                    }
                }
                continue;
            }
            other => return Err(format!("the keyword `{other}` is not known here")),
        };
        if !holds {
            return Err(format!("{value} is not {{{keyword:?}: {rule}}}"));
        }
    }
    Ok(())
}

fn count(rule: &Value) -> u64 {
    rule.as_u64().unwrap()
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type {other}"),
    }
}
