//! Calls of the binary.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Once;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::{Report, TestReport};
use nix::pty::{Winsize, openpty};

use super::Fixture;

/// Call under construction. Colours are off.
#[derive(Debug)]
pub(crate) struct Nondex {
    command: Command,
}

/// Output and exit code of a call.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns the folder of runtimes. All tests share it, so that each runtime is built once.
pub(crate) fn cache() -> PathBuf {
    static PRIMED: Once = Once::new();
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("nondex-cache");
    PRIMED.call_once(|| {
        let project = Fixture::new("no-tests");
        let output = Nondex::with_cache(&project.path(""), &cache).arg("--offline").run();
        output.expect(ExitCode::NoTests);
    });
    cache
}

/// Returns the cargo that runs these tests. The one in `PATH` may be rustup's proxy, which adds
/// variables to the environment.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Returns a `PATH` in which the toolchain's own programs come first. Otherwise rustup's proxy
/// reads its settings before each call of rustc.
fn path() -> OsString {
    let cargo = PathBuf::from(cargo());
    let own = cargo.parent().filter(|folder| folder.is_absolute());
    let all = std::env::var_os("PATH").unwrap_or_default();
    let folders = own.map(Path::to_owned).into_iter();
    std::env::join_paths(folders.chain(std::env::split_paths(&all))).unwrap()
}

/// Returns a command in `dir`, without the variables that `cargo test` or nextest added to the
/// environment.
pub(crate) fn plain_command(program: impl AsRef<OsStr>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        // The tool reads nextest's variables, too, which are there if nextest runs this suite.
        let prefixes = ["CARGO_", "NEXTEST_", "NONDEX_"];
        let ours = prefixes.iter().any(|prefix| text.starts_with(prefix)) && text != "CARGO_HOME";
        let others = [
            "GITHUB_ACTIONS",
            "GITHUB_STEP_SUMMARY",
            "LD_LIBRARY_PATH",
            "OUT_DIR",
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUST_BACKTRACE",
            "RUST_TEST_THREADS",
        ];
        if ours || others.contains(&text.as_ref()) {
            command.env_remove(&name);
        }
    }
    // Most projects are built once. Incremental data for a second build takes a third of the time.
    command.env("CARGO_INCREMENTAL", "0").env("PATH", path());
    // This variable limits the threads of this suite. The tool would apply it to the tests that it
    // runs.
    command.env_remove("RUST_TEST_THREADS");
    command.current_dir(dir).stdin(Stdio::null());
    command
}

impl Nondex {
    /// Returns a run of the project in `dir`, with a JSON report.
    pub(crate) fn run_in(dir: &Path) -> Self {
        Self::reported(dir, "run")
    }

    /// Returns another command in `dir`, with a JSON report.
    pub(crate) fn reported(dir: &Path, name: &str) -> Self {
        Self::command(dir, name).args(["--offline", "--message-format", "json"])
    }

    /// Returns another command in `dir`, without further arguments.
    pub(crate) fn command(dir: &Path, name: &str) -> Self {
        Self::with_cache(dir, &cache()).arg(name)
    }

    /// Returns a call in `dir` with its runtimes in `cache`.
    pub(crate) fn with_cache(dir: &Path, cache: &Path) -> Self {
        let mut command = plain_command(env!("CARGO_BIN_EXE_cargo-nondex"), dir);
        command
            .arg("nondex")
            .env("NONDEX_CACHE_DIR", cache)
            // Without this, the findings would depend on the speed of the machine.
            .env("NONDEX_THOROUGH", "true")
            .env("NO_COLOR", "1");
        Nondex { command }
    }

    /// Returns a call of a command line that was printed, as pasted into a shell in `dir`.
    pub(crate) fn pasted(dir: &Path, line: &str) -> Self {
        let arguments = line.strip_prefix("cargo nondex ").expect(line);
        let own = env!("CARGO_BIN_EXE_cargo-nondex");
        let mut command = plain_command("/bin/sh", dir);
        command
            .args(["-c", &format!("exec '{own}' nondex {arguments}")])
            .env("NONDEX_CACHE_DIR", cache())
            .env("NONDEX_THOROUGH", "true")
            .env("NO_COLOR", "1");
        Nondex { command }
    }

    /// Starts the call in a separate process group, as a shell does.
    pub(crate) fn in_own_group(mut self) -> Self {
        self.command.process_group(0);
        self
    }

    pub(crate) fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs the call on a terminal of this width. Returns its exit code and everything it wrote to
    /// the terminal.
    pub(crate) fn run_on_terminal(mut self, columns: u16) -> (Option<i32>, String) {
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(&size, None).unwrap();
        self.command.env("TERM", "xterm").stdout(Stdio::null()).stderr(terminal.slave);
        let mut child = self.command.spawn().unwrap();
        // The command owns the other end of the terminal. Reading ends when all copies of that end
        // are closed.
        drop(self);
        let mut drawn = Vec::new();
        // A terminal whose other end is closed reports an error, not the end of the file.
        let _ = File::from(terminal.master).read_to_end(&mut drawn);
        let code = child.wait().unwrap().code();
        (code, String::from_utf8(drawn).unwrap())
    }

    /// Starts the call with piped output.
    pub(crate) fn spawn(mut self) -> Child {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the call until it ends.
    pub(crate) fn run(self) -> Output {
        Output::of(self.spawn())
    }
}

impl Output {
    /// Waits for the end of a call.
    pub(crate) fn of(child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        Output {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn expect(&self, code: ExitCode) -> &Self {
        assert_eq!(self.code, Some(code as i32), "expected {code:?}, stderr: {}", self.stderr);
        self
    }

    /// Asserts that stderr contains all of `texts`.
    #[track_caller]
    pub(crate) fn prints(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(self.stderr.contains(text), "expected `{text}` in: {}", self.stderr);
        }
        self
    }

    /// Parses stdout as a report. Nothing else may be on stdout.
    #[track_caller]
    pub(crate) fn report(&self) -> Report {
        match serde_json::from_str(&self.stdout) {
            Ok(report) => report,
            Err(error) => {
                panic!("stdout is no report: {error}: {}, stderr: {}", self.stdout, self.stderr)
            }
        }
    }
}

/// Arguments for the package `app` of the fixture `findings` that give one finding: the order of a
/// map.
pub(crate) const ONE_FINDING: [&str; 7] =
    ["--offline", "--lib", "--seeds", "3", "--levels", "STD", "std_own_map"];

/// Returns the report on a test, without what depends on the number of runs.
pub(crate) fn judged(test: &TestReport) -> String {
    let culprits: Vec<_> =
        test.culprits.iter().map(|one| (&one.api, &one.file, one.line)).collect();
    format!(
        "{} {} {:?} {culprits:?} {:?}",
        test.id, test.verdict, test.weakest_level, test.reproduce
    )
}

/// Returns the test of a report with this name. Panics unless there is exactly one.
#[track_caller]
pub(crate) fn test<'a>(report: &'a Report, name: &str) -> &'a TestReport {
    let mut found = report.tests.iter().filter(|test| test.name == name);
    match (found.next(), found.next()) {
        (Some(test), None) => test,
        (None, _) => panic!("no test `{name}` in the report"),
        (Some(_), Some(_)) => panic!("several tests `{name}` in the report"),
    }
}
