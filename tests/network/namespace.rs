//! Networks for a test, in separate namespaces: no traffic leaves this machine.

use std::path::Path;
use std::process::Command;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::Report;

use crate::support::{self, Fixture, Nondex};

/// Returns the shared copy of a fixture with its tests built, because nothing can be fetched in a
/// namespace.
pub(super) fn built(name: &str) -> &'static Fixture {
    let project = Fixture::shared(name);
    // Cargo builds it once for all tests.
    Nondex::command(&project.path(""), "list").arg("--offline").run().expect(ExitCode::Ok);
    project
}

/// Script that runs a program in a network with only a loopback interface.
pub(super) const LOOPBACK: &str = "ip link set lo up && exec \"$@\"";

/// Script that runs a program as the machine 192.0.2.2, connected to 192.0.2.1. That machine is the
/// namespace outside, which refuses each request.
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

/// Returns the report of a run in a namespace with this network, or `None` if none can be created.
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

/// Returns a program in a namespace with this network. If none can be created, prints a message and
/// returns `None`.
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
