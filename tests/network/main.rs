//! Failures caused by a missing network, end to end. With the network blocked, no traffic leaves
//! this machine. If the network is only observed, the run is in a network namespace with only a
//! loopback interface.

#![cfg(target_os = "linux")]

#[expect(dead_code, unused_imports, reason = "shared with the other end-to-end tests")]
#[path = "../e2e/support/mod.rs"]
mod support;

mod namespace;
mod sockets;
mod unobserved;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, Verdict};

use namespace::{ANOTHER_MACHINE, LOOPBACK, built, in_namespace, report_in_namespace};
use support::{Fixture, Nondex, Output, test};

/// Arguments for one run of each test.
const ONCE: [&str; 4] = ["--seeds", "0", "--clean-runs", "1"];

/// Runs the fixture once, with these additional arguments.
fn run(project: &Fixture, args: &[&str]) -> Output {
    let nondex = Nondex::run_in(&project.path("")).args(ONCE);
    nondex.args(args).run()
}

/// Returns the distinct verdicts of each binary's tests.
fn verdicts(report: &Report) -> BTreeMap<&str, Vec<Verdict>> {
    let mut verdicts: BTreeMap<&str, Vec<Verdict>> = BTreeMap::new();
    for test in &report.tests {
        let of_binary = verdicts.entry(&test.binary).or_default();
        if !of_binary.contains(&test.verdict) {
            of_binary.push(test.verdict);
        }
    }
    verdicts
}

fn expect_the_labels(report: &Report) {
    assert_eq!(
        verdicts(report),
        BTreeMap::from([
            ("network::needs", vec![Verdict::Network]),
            ("network::passes", vec![Verdict::Passed]),
            ("network::real", vec![Verdict::Broken]),
        ])
    );
}

#[test]
fn with_the_network_blocked_exactly_the_tests_that_need_it_are_sanitised() {
    let project = Fixture::shared("network");
    let output = run(project, &["--network", "block"]);
    output.expect(ExitCode::CleanRunFailed);
    let report = output.report();
    expect_the_labels(&report);

    let literal = test(&report, "a_literal_address");
    let event = &literal.network[0];
    assert_eq!(
        (event.operation.as_str(), event.address.as_str(), event.error.as_str()),
        ("connect", "192.0.2.1:80", "ENETUNREACH")
    );
    assert_eq!(event.file.as_deref(), Some("tests/needs.rs"));
    assert_eq!(literal.hosts, ["192.0.2.1"]);
    let name = test(&report, "an_error_that_is_swallowed");
    assert_eq!(name.network[0].error, "EAI_AGAIN");
    assert_eq!(name.hosts, ["name.example.com"]);

    let ignores = test(&report, "expects_the_failure");
    assert_eq!(ignores.notes, ["it passes without the network that it requests (192.0.2.1)"]);
    assert!(test(&report, "uses_the_loopback").hosts.is_empty());
}

#[test]
fn sanitised_tests_are_no_failure_unless_there_are_too_many() {
    let project = Fixture::shared("network");
    let four = ["spawned", "swallowed", "pool", "connected_datagram"];
    for (args, expected) in [
        (&[][..], ExitCode::Ok),
        (&["--max-sanitised", "100%"], ExitCode::Ok),
        (&["--max-sanitised", "4"], ExitCode::Ok),
        (&["--max-sanitised", "3"], ExitCode::Found),
        (&["--no-sanitise"], ExitCode::CleanRunFailed),
    ] {
        let all = [&["--network", "block", "--test", "needs"], args, &four].concat();
        run(project, &all).expect(expected);
    }
}

#[test]
fn the_tests_that_need_the_network_are_listed_with_their_hosts_and_as_filters() {
    let project = Fixture::new("network");
    let list = |format: &str| {
        let nondex = Nondex::command(&project.path(""), "network");
        let args = ["--offline", "--format", format, "--", "--exact"];
        let output =
            nondex.args(args).args(["a_name", "expects_the_failure", "uses_nothing"]).run();
        output.expect(ExitCode::Ok);
        output.stdout
    };
    let table = list("table");
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines,
        [
            vec!["network::needs$a_name", "needs", "name.example.com"],
            vec!["network::passes$expects_the_failure", "asks", "192.0.2.1"],
        ]
    );
    assert_eq!(list("skip"), "--exact --skip a_name\n");
    assert_eq!(list("filterset"), "not ((binary_id(=network::needs) & test(=a_name)))\n");

    // A test that fails for another reason is not compared with a plain build, which would use the
    // network. The output shows this.
    let root = project.path("");
    Nondex::command(&root, "network")
        .args(["--offline", "--", "--exact", "refused_on_the_loopback"])
        .run()
        .expect(ExitCode::Ok)
        .prints(&["1 test failed for another reason than the network"]);
    // This command tries no seeds, so `report` cannot show its report.
    let latest = Nondex::command(&root, "report").run();
    latest.expect(ExitCode::Setup).prints(&["there is no report at"]);
}

#[test]
fn without_a_network_exactly_the_tests_that_need_it_are_sanitised() {
    let root = built("network").path("");
    if let Some(report) = report_in_namespace(&root, LOOPBACK, &ONCE) {
        expect_the_labels(&report);
    }
}

#[test]
fn system_calls_of_rustix_are_seen() {
    let project = Fixture::linked("tests/fixtures/raw");
    let output = run(&project, &["--network", "block"]);
    let report = output.expect(ExitCode::CleanRunFailed).report();
    for (name, verdict) in [
        ("needs_the_network", Verdict::Network),
        ("expects_the_failure", Verdict::Passed),
        ("expects_the_failure_without_a_wait", Verdict::Passed),
        ("is_refused_on_the_loopback", Verdict::Broken),
    ] {
        assert_eq!(test(&report, name).verdict, verdict, "{name}");
    }
    assert_eq!(test(&report, "needs_the_network").network[0].address, "192.0.2.1:80");
    assert!(!report.notes.iter().any(|note| note.contains("rustix")), "{:?}", report.notes);
}

#[test]
fn system_calls_of_rustix_that_cannot_be_seen_are_mentioned() {
    use std::os::unix::fs::PermissionsExt;
    let project = Fixture::linked("tests/fixtures/raw");
    // Fetching fails from now on.
    let cargo = project.path("cargo");
    let text = "#!/bin/sh\n[ \"$1\" = fetch ] && exit 101\nexec \"$REAL\" \"$@\"\n";
    fs::write(&cargo, text).unwrap();
    fs::set_permissions(&cargo, PermissionsExt::from_mode(0o755)).unwrap();
    let output = Nondex::run_in(&project.path(""))
        .args(["--seeds", "0", "--clean-runs", "1"])
        .args(["--network", "block"])
        .arg("expects_the_failure_without_a_wait")
        .env("CARGO", &cargo)
        .env("REAL", support::cargo())
        .run();
    let report = output.expect(ExitCode::Ok).report();
    let is_mentioned = |note: &String| note.contains("rustix") && note.contains("errno");
    assert!(report.notes.iter().any(is_mentioned), "{:?}", report.notes);
}

#[test]
fn a_run_with_the_network_tells_what_failed_because_it_was_blocked() {
    let project = built("reachable");
    let root = project.path("");
    let args = [&ONCE[..], &["--network", "block", "--test", "reached"]].concat();
    let Some(blocked) = report_in_namespace(&root, ANOTHER_MACHINE, &args) else { return };
    let needs = test(&blocked, "passes_with_the_network");
    assert_eq!((needs.verdict, needs.notes.len()), (Verdict::Network, 0));
    let fails = test(&blocked, "fails_with_the_network_too");
    assert_eq!(fails.verdict, Verdict::Network);
    assert!(blocked.notes.iter().any(|note| note.contains("not known")), "{:?}", blocked.notes);

    let args = [&args[..], &["--network-verify"]].concat();
    let verified = report_in_namespace(&root, ANOTHER_MACHINE, &args).unwrap();
    assert!(!verified.notes.iter().any(|note| note.contains("not known")), "{:?}", verified.notes);
    for (name, verdict, note) in [
        ("passes_with_the_network", Verdict::Network, "it passes with the network"),
        ("fails_with_the_network_too", Verdict::Broken, "it fails with the network too"),
        (
            "does_not_mind",
            Verdict::Passed,
            "it passes without the network that it requests (192.0.2.1)",
        ),
    ] {
        let test = test(&verified, name);
        assert_eq!(test.verdict, verdict);
        assert_eq!(test.notes[0], note);
        assert_eq!(test.notes.len() > 1, verdict == Verdict::Broken, "{test:#?}");
    }
}

#[test]
fn a_call_that_does_not_expect_an_error_is_found_by_errors_from_the_seed() {
    let project = built("reachable");
    let root = project.path("");
    let levels = ["--network", "fault", "--seeds", "20", "--levels", "STD"];
    let args = [&levels[..], &["--test", "reached"]].concat();
    let Some(report) = report_in_namespace(&root, ANOTHER_MACHINE, &args) else { return };
    let found = test(&report, "passes_with_the_network");
    assert_eq!(found.verdict, Verdict::ImplementationDependent);
    let [culprit] = &*found.culprits else {
        panic!("{:?}", found.culprits);
    };
    let source = fs::read_to_string(project.path("tests/reached.rs")).unwrap();
    let call = source.lines().position(|line| line.contains("TcpStream::connect(server).unwrap()"));
    assert_eq!(
        (&*culprit.api, &*culprit.file, culprit.line as usize),
        ("connect", "tests/reached.rs", call.unwrap() + 1)
    );
    assert!(culprit.confirmed);
    for name in ["tries_again", "does_not_mind"] {
        assert_eq!(test(&report, name).verdict, Verdict::Stable, "{name}");
    }
}

#[test]
fn failures_of_tests_that_share_a_process_are_judged_by_runs_alone() {
    let project = Fixture::linked("tests/fixtures/trials");
    let root = project.path("");
    let mut build = support::plain_command(support::cargo(), &root);
    build.args(["test", "--offline", "--no-run", "--message-format", "json"]);
    project.share_build(&mut build);
    let built = build.output().unwrap();
    let text = String::from_utf8(built.stdout).unwrap();
    let executable = text.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        (message["target"]["kind"][0] == "test")
            .then(|| message["executable"].as_str().map(str::to_owned))?
    });
    let executable = executable.expect("cargo names the test's executable");
    let run = |threads: &str, variables: &[(&str, &str)]| {
        let mut command = in_namespace(&root, LOOPBACK, Path::new(&executable))?;
        command.env("NONDEX_SEED", "1").envs(variables.iter().copied());
        command.args(["--test-threads", threads]);
        let output = command.output().unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let mut lines: Vec<String> =
            stdout.lines().filter(|line| line.contains(" ... ")).map(str::to_owned).collect();
        lines.sort();
        Some((lines, stderr))
    };
    let own = "ignored, needs the network: connect 192.0.2.1:80: ENETUNREACH";
    for threads in ["1", "4"] {
        let Some((lines, stderr)) = run(threads, &[]) else { return };
        assert_eq!(
            lines,
            [
                "test expects_the_failure ... ok",
                "test fails_by_itself ... FAILED",
                "test is_disturbed_by_others ... FAILED",
                &format!("test needs_it_on_a_thread_of_a_pool ... {own}"),
                &format!("test needs_it_on_a_thread_of_its_own ... {own}"),
                &format!("test needs_the_network ... {own}"),
            ],
            "{stderr}"
        );
        let note = "note: test `is_disturbed_by_others` passes alone, so that it does not need \
            the network (connect \
                    192.0.2.1:80: ENETUNREACH)";
        assert!(stderr.lines().any(|line| line == note), "{stderr}");
    }
    let (lines, _) = run("1", &[("NONDEX_NO_SANITISE", "1")]).unwrap();
    assert!(lines.iter().all(|line| !line.contains("ignored")), "{lines:?}");
}
