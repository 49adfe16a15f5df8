//! `cargo nondex mcp`: a client that drives the server over pipes. Needs the feature `mcp`.

#![cfg(target_os = "linux")]

#[expect(dead_code, unused_imports, reason = "shared with the other end-to-end tests")]
#[path = "e2e/support/mod.rs"]
mod support;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use cargo_nondex::exit_code::ExitCode;
use serde_json::{Value, json};

use support::{Fixture, Nondex, cache, committed, edit, plain_command};

/// Client after the handshake.
struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    requests: u64,
}

impl Client {
    /// Starts a server for the project. Its messages for people go to a file.
    fn of(project: &Fixture) -> Self {
        let folder = project.path("");
        let log = File::create(folder.join("target/server.log")).unwrap();
        let mut command = plain_command(env!("CARGO_BIN_EXE_cargo-nondex"), Path::new("/"));
        let mut server = command
            .args(["nondex", "mcp", "--manifest-path"])
            .arg(folder.join("Cargo.toml"))
            .env("NONDEX_CACHE_DIR", cache())
            .env("CARGO_NET_OFFLINE", "true")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let from = BufReader::new(server.stdout.take().unwrap());
        let mut client = Client { to: server.stdin.take(), server, from, requests: 0 };
        let greeting = client.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "script", "version": "1" },
            }),
        );
        assert_eq!(greeting["result"]["serverInfo"]["name"], "cargo-nondex");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn send_request(&mut self, method: &str, parameters: &Value) {
        self.requests += 1;
        self.send(&json!({
            "jsonrpc": "2.0",
            "id": self.requests,
            "method": method,
            "params": parameters,
        }));
    }

    /// Sends a request and returns the response. It must be the next line, because nothing else
    /// goes to stdout.
    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        self.send_request(method, parameters);
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let response: Value = serde_json::from_str(&line).expect(&line);
        assert_eq!(response["id"], self.requests, "{line}");
        response
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let parameters = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", &parameters)
    }

    /// Returns the data of a successful call. The text of the result repeats the data.
    fn result(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut response = self.call(tool, arguments);
        let result = &mut response["result"];
        assert_eq!(result["isError"], false, "{result:#}");
        let text = result["content"][0]["text"].as_str().unwrap();
        let text: Value = serde_json::from_str(text).unwrap();
        assert_eq!(text, result["structuredContent"]);
        text
    }

    /// Returns the message of a failing call.
    fn failure(&mut self, tool: &str, arguments: &Value) -> String {
        let response = self.call(tool, arguments);
        let result = &response["result"];
        assert_eq!(result["isError"], true, "{response:#}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the server's stdin, and waits until the server ends.
    fn end(mut self) {
        self.to = None;
        assert!(self.server.wait().unwrap().success());
    }
}

/// Returns a project with a test that relies on the order of a map, and one that does not.
fn project() -> Fixture {
    let project = committed(&[
        ("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"),
        (
            "src/lib.rs",
            r#"
use std::collections::HashMap;

#[test]
fn first_is_a() {
    let prices = HashMap::from([("a", 1), ("b", 2), ("c", 3)]);
    assert_eq!(prices.keys().next(), Some(&"a"));
}

#[test]
fn adds() {
    assert_eq!(1 + 1, 2);
}
"#,
        ),
        (".gitignore", "/target\n"),
    ]);
    fs::create_dir_all(project.path("target")).unwrap();
    project
}

#[test]
fn a_client_lists_explains_replays_and_confirms_findings_and_stdout_has_only_the_protocol() {
    let project = project();
    let mut client = Client::of(&project);
    let tools = client.request("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["findings", "why", "replay", "confirm"]);
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
    let missing = client.failure("findings", &json!({}));
    assert!(missing.contains("report"), "{missing}");

    let run = Nondex::command(&project.path(""), "run")
        .args(["--offline", "--message-format", "json-lines"])
        .run();
    let lines = run.expect(ExitCode::Found).stdout.lines();
    let mut events = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_last = |event: &Value| event["event"] == "finding" && event["is_final"] == true;
    let mut event = events.find(is_last).unwrap();
    event.as_object_mut().unwrap().remove("event");
    let found = client.result("findings", &json!({}));
    assert_eq!(found["findings"], json!([event]));
    assert_eq!(event["verdict"], "ID");

    // The cause is known, so nothing runs.
    let runs = || fs::read_dir(project.path("target/nondex/runs")).unwrap().count();
    let before = runs();
    let fingerprint = &event["fingerprint"];
    for name in [fingerprint, &event["tests"][0], &json!("first_is_a")] {
        let why = client.result("why", &json!({ "finding": name }));
        assert_eq!(why["finding"], event);
        let text = why["explanation"].as_str().unwrap();
        assert!(text.contains("HashMap::keys") && !text.contains('\u{1b}'), "{text}");
    }
    assert_eq!(runs(), before);

    let again = json!({ "finding": fingerprint, "runs": 3 });
    let replayed = client.result("replay", &again);
    assert_eq!((&replayed["failures"], &replayed["runs"]), (&json!(3), &json!(3)));
    assert_eq!(replayed["ends"][0]["as_recorded"], true);
    let plain = json!({ "test": "shop$adds", "runs": 2, "options": ["--lib"] });
    let confirmed = client.result("confirm", &plain);
    let tests = confirmed["tests"].as_array().unwrap();
    assert_eq!((tests.len(), &tests[0]["id"]), (1, &json!("shop$adds")));
    assert_eq!(tests[0]["runs"], 2);
    client.end();
    let log = fs::read_to_string(project.path("target/server.log")).unwrap();
    assert!(log.contains("Replaying") && log.contains("Confirming"), "{log}");
}

#[test]
fn a_finding_without_a_known_cause_is_explained_by_a_search() {
    let project = project();
    edit(
        &project,
        "src/lib.rs",
        &[(
            "    assert_eq!(prices.keys()",
            "    (0..64).for_each(|_| assert_eq!(prices.clone().keys().count(), 3));\n    \
             assert_eq!(prices.keys()",
        )],
    );
    let run = Nondex::run_in(&project.path("")).args(["--search-runs", "1"]);
    let report = run.run().expect(ExitCode::Found).report();
    assert!(report.tests.iter().flat_map(|test| &test.culprits).all(|culprit| !culprit.confirmed));
    let mut client = Client::of(&project);
    let found = client.result("findings", &json!({}));
    // The fingerprint changes when the cause is known, but the old one still finds the test.
    let name = json!({ "finding": found["findings"][0]["fingerprint"] });
    let why = client.result("why", &name);
    assert_eq!(why["finding"]["proof"]["confirmed"], true);
    let text = why["explanation"].as_str().unwrap();
    assert!(text.contains("HashMap::keys"), "{text}");
    client.end();
}

#[test]
fn what_is_not_there_is_an_error_that_names_what_is() {
    let project = project();
    let run = Nondex::run_in(&project.path("")).args(["--seeds", "20"]);
    run.run().expect(ExitCode::Found);
    let mut client = Client::of(&project);
    let message = client.failure("why", &json!({ "finding": "adds" }));
    assert!(message.contains("shop$first_is_a"), "{message}");
    let message = client.failure("replay", &json!({ "finding": "nothing" }));
    assert!(message.starts_with("error: ") && message.contains("nothing"), "{message}");
    for (tool, arguments, expected) in [
        (
            "guess",
            json!({}),
            "no tool is called `guess`; there are: findings, why, replay, confirm",
        ),
        ("why", json!({ "finding": 3 }), "wrong arguments of `why`"),
        ("why", json!({}), "it takes `finding` (string)"),
        (
            "replay",
            json!({ "finding": "first_is_a", "runs": 0 }),
            "expected a whole number of at least 1; it takes `finding` (string), `runs` (integer)",
        ),
    ] {
        let response = client.call(tool, &arguments);
        assert_eq!(response["error"]["code"], -32602, "{response:#}");
        let message = response["error"]["message"].as_str().unwrap();
        assert!(message.contains(expected), "{message}");
    }

    // A call that would never end stops when the client closes the connection.
    let parameters = json!({
        "name": "replay",
        "arguments": { "finding": "first_is_a", "runs": 1_000_000 },
    });
    client.send_request("tools/call", &parameters);
    client.end();
}
