//! The JSON Schemas and the documents that they describe.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toml::Table;

use crate::command_line::{run, stdout};
use crate::problems::all_kinds;
use crate::validator::validate;

fn schema(of: &str) -> Value {
    serde_json::from_str(&stdout(&run(&format!("schema {of}")))).unwrap()
}

fn configured(text: &str) -> Result<(), String> {
    let schema = schema("configuration");
    let table: Table = text.parse().unwrap();
    let value = serde_json::to_value(table).unwrap();
    validate(&value, &schema, &schema)
}

#[test]
fn a_report_is_as_its_schema_has_it() {
    let schema = schema("report");
    let mut report = serde_json::to_value(all_kinds()).unwrap();
    assert_eq!(validate(&report, &schema, &schema), Ok(()));
    report["tests"][1]["verdict"] = json!("flaky");
    let error = validate(&report, &schema, &schema).unwrap_err();
    assert!(error.contains("tests: verdict"), "{error}");
}

#[test]
fn a_field_that_is_missing_or_of_another_type_is_not_as_the_schema_has_it() {
    let schema = schema("report");
    for (place, value) in [
        ("/run", json!({})),
        ("/tests/0/id", json!(3)),
        ("/tests/1/culprits/0/line", json!("7")),
        ("/tests/1/failure_rate", json!({ "STD": [1] })),
        ("/summary/stable", json!(-1)),
    ] {
        let mut report = serde_json::to_value(all_kinds()).unwrap();
        *report.pointer_mut(place).expect(place) = value;
        assert!(validate(&report, &schema, &schema).is_err(), "{place}");
    }
}

#[test]
fn files_that_the_tool_accepts_are_as_the_schema_has_them() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    for file in [
        "tests/fixtures/order-ends/.config/nondex.toml",
        "tests/fixtures/prerequisites/.config/nondex.toml",
        "nondex-harness/cargo-nondex/src/command/init/nondex.toml",
    ] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        assert_eq!(configured(&text), Ok(()), "{file}");
    }
    for page in ["configuration", "prerequisites", "old-code-base", "ci"] {
        let page = root.join(format!("docs/src/{page}.md"));
        let text = fs::read_to_string(&page).unwrap();
        let blocks = text.split("```toml\n").skip(1);
        for block in blocks.filter_map(|rest| rest.split("```").next()) {
            let is_ours = block.contains("[profile.") || block.contains("[[sanitise");
            if is_ours {
                assert_eq!(configured(block), Ok(()), "{}: {block}", page.display());
            }
        }
    }
    let every_kind = "[profile.default]\nlevels = 'STD, ONE'\nseeds = ['1..4', 7]\n\
        package = 'a'\nfeatures = ['b', 'c']\ntimeout = 1.5\nmax-sanitised = '10%'\njobs = -1\n\
        schedule = 'random'\nmode = 'swap'\nnetwork-allow = ['a', 'b']\n";
    assert_eq!(configured(every_kind), Ok(()));
}

#[test]
fn files_that_the_tool_refuses_are_not() {
    for wrong in [
        "[profile.default]\nleves = ['STD']",
        "[profil.default]\nstrict = true",
        "[profile.default]\nlevels = ['STD', 'FUL']",
        "[profile.default]\nlevels = 'STD,FUL'",
        "[profile.default]\nlevels = []",
        "[profile.default]\nnetwork = 'none'",
        "[profile.default]\nschedule = 'systematic'",
        "[profile.default]\nstrict = 'yes'",
        "[profile.default]\ntimeout = { soft = 3 }",
        "[profile.default]\ntimeout = 0",
        "[profile.default]\nseeds = -1",
        "[profile.default]\nseeds = [3, true]",
        "[profile.default]\nmode = ['swap', 'program']",
        "[profile.default]\nclean-runs = 0",
        "[profile.default]\njobs = 0",
        "[[profile.default.overrides]]\ntimeout = 3",
        "[[profile.default.overrides]]\nfilter = 'test(a)'\nlevel = 'STD'",
        "[[sanitise]]\nname = 'a'\nreason = 'b'\noperation = 'exce'\nerror = 'EPERM'",
        "[[sanitise]]\nname = 'a'\nreason = 'b'\noperation = 'exec'",
    ] {
        assert!(configured(wrong).is_err(), "{wrong}");
    }
}
