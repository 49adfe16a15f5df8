//! Tests of findings.

use nondex_core::ALGORITHM;

use super::*;

/// Creates a finding of the test `a$name`.
pub(in crate::findings) fn finding(name: &str, level: Level, seed: u64) -> Finding {
    let spec = RunSpec::new(name, level, seed);
    let test = format!("a${name}");
    Finding {
        schema: SCHEMA,
        id: id::of(&test, &spec),
        test,
        binary: Binary {
            id: "a".into(),
            kind: "lib".into(),
            package: "a".into(),
            target: "a".into(),
        },
        verdict: Verdict::ImplementationDependent,
        primary: true,
        spec,
        outcome: Outcome::Failed,
        message: "left != right".into(),
        file: Some("src/lib.rs".into()),
        line: Some(7),
        culprits: Vec::new(),
        run: "1-2".into(),
        found: 1,
        timeout_ms: 60_000,
        build: BuildPlan::default(),
        fingerprint: Fingerprint {
            algorithm: ALGORITHM,
            toolchain: "rustc 1".into(),
            lockfile: None,
            executable: Some("0".into()),
        },
    }
}

#[test]
fn a_culprit_is_the_site_that_the_runtime_recorded() {
    let mut finding = finding("b", Level::Std, 1);
    let culprit = Culprit {
        confirmed: true,
        ..Culprit::new(&Site {
            api: "std::path::Path::read_dir".into(),
            family: nondex_core::Family::Directory,
            file: "src/lib.rs".into(),
            line: 4,
            column: 9,
        })
    };
    let placeless = Culprit { site: Some("stack:1".into()), confirmed: false, ..culprit.clone() };
    finding.culprits = vec![culprit, placeless];
    let sites: Vec<String> = finding.culprit_sites().iter().map(Site::to_string).collect();
    assert_eq!(
        sites,
        ["std::path::Path::read_dir at src/lib.rs:4:9", "std::path::Path::read_dir at stack:1:0:0"]
    );
    assert_eq!(finding.culprit_texts()[1], "std::path::Path::read_dir at src/lib.rs:4 (suspected)");
    let shown: Vec<String> =
        finding.culprit_sites().iter().map(|site| finding.site_text(site)).collect();
    assert_eq!(
        shown,
        [
            "std::path::Path::read_dir at src/lib.rs:4:9",
            "std::path::Path::read_dir at src/lib.rs:4"
        ]
    );
}
