//! Networks that are made for a test, in separate namespaces: no traffic leaves this machine.

use std::path::Path;
use std::process::Command;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Report;

use crate::support::{self, Fixture, Nondex};

/// The shared copy of a fixture, whose tests are built: in a namespace nothing can be fetched.
pub(super) fn built(name: &str) -> &'static Fixture {
    let project = Fixture::shared(name);
    // Cargo builds it once, for whoever comes first.
    Nondex::command(&project.path(""), "list").arg("--offline").run().expect(ExitCode::Ok);
    project
}

/// Runs a program where the network is a loopback interface.
pub(super) const LOOPBACK: &str = "ip link set lo up && exec \"$@\"";

/// The same where this machine is 192.0.2.2, at a wire to another one, 192.0.2.1: the namespace
/// outside, which refuses each request.
pub(super) const ANOTHER_MACHINE: &str = r#"
    ip link set lo up && echo 0 >/proc/sys/net/ipv4/icmp_ratelimit &&
    export OTHER_MACHINE=/proc/$$/ns/net && unshare --net sh -c '
        ip link set lo up && ip link add own type veth peer name other netns $PPID &&
        ip address add 192.0.2.2/24 dev own && ip link set own up &&
        nsenter --net=$OTHER_MACHINE \
            sh -c "ip address add 192.0.2.1/24 dev other && ip link set other up" &&
        for network in $OTHER_MACHINE /proc/$$/ns/net; do
            until nsenter --net=$network ip link show type veth | grep -q "state UP"; do
                sleep 0.01
            done
        done && exec "$@"
    ' sh "$@"; exit"#;

/// The report of a run in a namespace with this network; `None` where none can be made.
pub(super) fn report_in_namespace(root: &Path, network: &str, args: &[&str]) -> Option<Report> {
    let mut nondex = in_namespace(root, network, Path::new(env!("CARGO_BIN_EXE_cargo-nondex")))?;
    nondex.args(["nondex", "run", "--offline", "--message-format", "json"]);
    nondex.env("NONDEX_CACHE_DIR", support::cache()).env("NO_COLOR", "1");
    let output = nondex.args(args).output().unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!("no report: {e}: {}", String::from_utf8_lossy(&output.stderr));
    });
    Some(report)
}

/// A program in a namespace with this network; `None`, and a word about it, where none can be made.
pub(super) fn in_namespace(root: &Path, network: &str, program: &Path) -> Option<Command> {
    let wrapper = ["--map-root-user", "--net", "sh", "-c", network, "sh"];
    let works = Command::new("unshare").args(wrapper).arg("true").output();
    if !works.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: no such network can be made here");
        return None;
    }
    let mut command = support::plain_command("unshare", root);
    command.args(wrapper).arg(program);
    Some(command)
}
