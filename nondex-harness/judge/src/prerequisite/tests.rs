//! Tests what explains a failure, in tables.

use std::sync::Arc;

use globset::Glob;
use nondex_core::{NetworkOutcome, NetworkRecord, OperationRecord, Outcome, RunSpec};

use super::*;
use crate::conclusion::{Conclusion, Dependence};
use crate::culprit::Culprits;
use crate::{Options, simulation};

fn failed(operation: &str, target: &str, error: &str) -> OperationRecord {
    OperationRecord {
        operation: operation.to_owned(),
        target: target.to_owned(),
        error: error.to_owned(),
        thread: "0".to_owned(),
        site: "stack:1".to_owned(),
        stack: Vec::new(),
    }
}

fn run(passed: bool, operations: &[OperationRecord]) -> Run {
    Run { failed_operations: operations.into(), ..simulation::run(passed, []) }
}

fn offline() -> Run {
    let record = NetworkRecord {
        operation: "connect".to_owned(),
        target: "192.0.2.1:80".to_owned(),
        host: None,
        outcome: NetworkOutcome::Failed("ENETUNREACH".to_owned()),
        thread: "0".to_owned(),
        site: "stack:1".to_owned(),
        count: 1,
        elapsed_ms: 0,
        stack: Vec::new(),
    };
    Run { outcome: Outcome::Failed, network: Arc::new([record]), ..run(false, &[]) }
}

fn prerequisite(
    name: &str,
    operation: &str,
    error: &str,
    target: Option<&str>,
) -> Arc<dyn Prerequisite> {
    Arc::new(Operations {
        name: name.to_owned(),
        reason: format!("{name} is not there"),
        operations: vec![operation.to_owned()],
        errors: vec![error.to_owned()],
        target: target.map(|glob| Glob::new(glob).unwrap().compile_matcher()),
    })
}

fn options() -> Options {
    Options {
        prerequisites: vec![
            prerequisite("docker", "exec", "ENOENT", Some("*docker")),
            prerequisite("port", "bind", "EADDRINUSE", None),
        ],
        ..simulation::options()
    }
}

/// Returns the name of the prerequisite that explains these runs.
fn explained(runs: Vec<Run>, options: &Options) -> Option<String> {
    let mut evidence = Evidence::new(true);
    for (seed, run) in runs.into_iter().enumerate() {
        evidence.add(RunSpec::new("t", nondex_core::Level::Std, seed as u64), run);
    }
    explained_by(&evidence, &options.network, &options.prerequisites).map(|found| found.name)
}

#[test]
fn every_failed_run_must_be_explained_and_by_what_no_passing_one_meets() {
    let docker = || failed("exec", "/usr/bin/docker", "ENOENT");
    let port = || failed("bind", "127.0.0.1:80", "EADDRINUSE");
    for (runs, expected) in [
        (vec![run(false, &[docker()])], Some("docker")),
        (vec![run(false, &[port()]), run(false, &[docker()])], Some("port")),
        (vec![run(false, &[port()]), run(false, &[])], None),
        (vec![run(true, &[]), run(false, &[port()])], Some("port")),
        (vec![run(true, &[port()]), run(false, &[port()])], None),
        (vec![run(true, &[docker()])], None),
        (vec![], None),
        (vec![run(false, &[failed("exec", "podman", "ENOENT")])], None),
        (vec![run(false, &[failed("exec", "docker", "EACCES")])], None),
        (vec![run(false, &[failed("open", "docker", "ENOENT")])], None),
        // The network may explain other runs, but does not name the explanation.
        (vec![offline(), run(false, &[port()])], Some("port")),
        (vec![offline()], None),
    ] {
        let shown = format!("{runs:?}");
        assert_eq!(explained(runs, &options()).as_deref(), expected, "{shown}");
    }
}

#[test]
fn a_connection_to_another_machine_counts_as_one_to_this() {
    let refused = prerequisite("site", "connect", "ENETUNREACH", Some("192.0.2.*"));
    let options = Options { prerequisites: vec![refused], ..simulation::options() };
    assert_eq!(explained(vec![offline()], &options).as_deref(), Some("site"));
}

#[test]
fn nothing_is_explained_or_observed_when_it_is_switched_off() {
    let mut options = options();
    let spec = options.apply(RunSpec::clean("t"));
    assert_eq!(spec.observe.len(), 2);
    options.network.sanitise = false;
    assert!(options.apply(RunSpec::clean("t")).observe.is_empty());
    let port = failed("bind", "127.0.0.1:80", "EADDRINUSE");
    assert_eq!(explained(vec![run(false, &[port])], &options), None);
}

#[test]
fn what_a_choice_decides_only_the_network_explains() {
    let blocked = || run(false, &[failed("bind", "127.0.0.1:80", "EADDRINUSE")]);
    let spec = RunSpec::new("t", nondex_core::Level::Std, 1);
    let dependent = Conclusion::Dependent(Box::new(Dependence {
        passes_clean: true,
        spec: spec.clone(),
        culprits: Culprits::default(),
        is_cut: false,
    }));
    let spec = Box::new(spec);
    for (runs, shown, expected) in [
        (vec![blocked()], Conclusion::Broken, Some("port")),
        (vec![offline()], Conclusion::Broken, Some("network")),
        (vec![run(true, &[]), blocked()], Conclusion::NonDeterministic { spec }, Some("port")),
        (vec![run(true, &[]), blocked()], dependent.clone(), None),
        (vec![run(true, &[]), offline()], dependent, Some("network")),
        (vec![run(true, &[])], Conclusion::Stable, None),
        (vec![run(false, &[])], Conclusion::Broken, None),
    ] {
        let mut evidence = Evidence::new(true);
        for (seed, run) in runs.into_iter().enumerate() {
            evidence.add(RunSpec::new("t", nondex_core::Level::Std, seed as u64), run);
        }
        match shown.clone().or_explained(&evidence, &options()) {
            Conclusion::Explained(found) => {
                assert_eq!(Some(found.explanation.name.as_str()), expected);
                assert_eq!(found.shown, shown);
            }
            other => assert_eq!((other, None), (shown, expected)),
        }
    }
}

#[test]
fn a_failure_that_the_machine_explains_is_no_evidence_about_the_code() {
    for (run, expected) in
        [(run(true, &[]), Some(true)), (run(false, &[]), Some(false)), (offline(), None)]
    {
        assert_eq!(options().passed(&run), expected);
    }
}
