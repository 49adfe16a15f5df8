//! One call of the binary.

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

/// A call that is being put together: quiet on colours, offline, with a report on stdout.
#[derive(Debug)]
pub(crate) struct Nondex {
    command: Command,
}

/// What a call printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The folder of runtimes, the same for all tests, so that a runtime is built once.
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

/// The cargo that runs these tests. Not the one in `PATH`, which may be rustup's and then adds to
/// the environment.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The value of `PATH` where the toolchain's own programs come first: before each call of rustc,
/// rustup's proxy in `PATH` reads its settings.
fn path() -> OsString {
    let cargo = PathBuf::from(cargo());
    let own = cargo.parent().filter(|folder| folder.is_absolute());
    let all = std::env::var_os("PATH").unwrap_or_default();
    let folders = own.map(Path::to_owned).into_iter();
    std::env::join_paths(folders.chain(std::env::split_paths(&all))).unwrap()
}

/// A command in `dir` without what `cargo test` put into our own environment.
pub(crate) fn plain_command(program: impl AsRef<OsStr>, dir: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let ours =
            text.starts_with("CARGO_") && text != "CARGO_HOME" || text.starts_with("NONDEX_");
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
    // Most projects are built once: data for the next build takes a third of the time.
    command.env("CARGO_INCREMENTAL", "0").env("PATH", path());
    // That is for this suite. The tool takes it for a limit on the tests that it runs.
    command.env_remove("RUST_TEST_THREADS");
    command.current_dir(dir).stdin(Stdio::null());
    command
}

impl Nondex {
    /// A run of the project in `dir`, with its report as JSON.
    pub(crate) fn run_in(dir: &Path) -> Self {
        Self::reported(dir, "run")
    }

    /// Another command in `dir`, with its report as JSON.
    pub(crate) fn reported(dir: &Path, name: &str) -> Self {
        Self::command(dir, name).args(["--offline", "--message-format", "json"])
    }

    /// Another command in `dir`, with nothing but the arguments that follow.
    pub(crate) fn command(dir: &Path, name: &str) -> Self {
        Self::with_cache(dir, &cache()).arg(name)
    }

    /// A call in `dir` that keeps its runtimes in `cache`.
    pub(crate) fn with_cache(dir: &Path, cache: &Path) -> Self {
        let mut command = plain_command(env!("CARGO_BIN_EXE_cargo-nondex"), dir);
        command
            .arg("nondex")
            .env("NONDEX_CACHE_DIR", cache)
            // What is found must not depend on how fast the machine is.
            .env("NONDEX_THOROUGH", "true")
            .env("NO_COLOR", "1");
        Nondex { command }
    }

    /// A line that was shown, pasted into a shell in `dir`.
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

    /// In a separate process group, as a shell starts it.
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

    /// Runs it on a terminal of this width: what it ends with, and all that was drawn.
    pub(crate) fn run_on_terminal(mut self, columns: u16) -> (Option<i32>, String) {
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let terminal = openpty(&size, None).unwrap();
        self.command.env("TERM", "xterm").stdout(Stdio::null()).stderr(terminal.slave);
        let mut child = self.command.spawn().unwrap();
        // It holds the other end.
        drop(self);
        let mut drawn = Vec::new();
        // The end of a terminal is an error.
        let _ = File::from(terminal.master).read_to_end(&mut drawn);
        let code = child.wait().unwrap().code();
        (code, String::from_utf8(drawn).unwrap())
    }

    /// Starts it, with its output piped.
    pub(crate) fn spawn(mut self) -> Child {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs it to its end.
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

    /// The report on stdout, which must be all there is.
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

/// Arguments for the app of the fixture `findings`, for one finding: the order of a map.
pub(crate) const ONE_FINDING: [&str; 7] =
    ["--offline", "--lib", "--seeds", "3", "--levels", "STD", "std_own_map"];

/// The report on a test, without what depends on how many runs there were.
pub(crate) fn judged(test: &TestReport) -> String {
    let culprits = test.culprits.iter();
    let culprits: Vec<_> = culprits.map(|one| (&one.api, &one.file, one.line)).collect();
    format!(
        "{} {} {:?} {culprits:?} {:?}",
        test.id, test.verdict, test.weakest_level, test.reproduce
    )
}

/// The test of a report with this name.
#[track_caller]
pub(crate) fn test<'a>(report: &'a Report, name: &str) -> &'a TestReport {
    let mut found = report.tests.iter().filter(|test| test.name == name);
    match (found.next(), found.next()) {
        (Some(test), None) => test,
        (None, _) => panic!("no test `{name}` in the report"),
        (Some(_), Some(_)) => panic!("several tests `{name}` in the report"),
    }
}
