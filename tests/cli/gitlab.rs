//! GitLab's code quality report of findings.

use std::collections::BTreeSet;

use cargo_nondex::report::gitlab;
use serde_json::{Value, json};

use crate::problems::all_kinds;
use crate::sample::{report, sources};

#[test]
fn each_finding_has_the_properties_that_gitlab_requires_and_no_others() {
    let (_folder, sources) = sources();
    let text = gitlab::render(&all_kinds(), &sources);
    let violations: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(violations.len(), 7);
    let mut fingerprints = BTreeSet::new();
    for violation in &violations {
        let keys: Vec<&String> = violation.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["check_name", "description", "fingerprint", "location", "severity"]);
        let text = |name: &str| violation[name].as_str().filter(|text| !text.is_empty());
        assert!(text("description").is_some() && text("check_name").is_some());
        assert!(fingerprints.insert(text("fingerprint").unwrap()));
        assert!(["info", "minor", "major"].contains(&text("severity").unwrap()));
        let path = violation["location"]["path"].as_str().unwrap();
        assert!(!path.starts_with(['/', '.']), "{path}");
        assert!(violation["location"]["lines"]["begin"].as_u64().unwrap() > 0);
    }
    let names = &violations[0];
    assert_eq!(names["location"], json!({"path": "src/lib.rs", "lines": {"begin": 2}}));
    let description = names["description"].as_str().unwrap();
    assert!(
        description.starts_with(
            "`shop$names` and one other test rely on the order of \
             `std::collections::HashMap::keys`\nthe order of 2 elements is unspecified\nhelp: "
        ),
        "{description}"
    );
    let severities: Vec<&str> =
        violations.iter().filter_map(|one| one["severity"].as_str()).collect();
    assert_eq!(severities, ["major", "major", "minor", "major", "major", "info", "info"]);
}

#[test]
fn a_report_without_findings_is_an_empty_list() {
    let (_folder, sources) = sources();
    let text = gitlab::render(&report(Vec::new()), &sources);
    assert_eq!(text, "[]\n");
}
