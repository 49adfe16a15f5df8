//! Fixtures compiled with libtest, with this project's harness, and with the interposed functions.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::Utf8Path;
use cargo_nondex::project::TestBinary;

const HARNESS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const TEMPORARY: &str = env!("CARGO_TARGET_TMPDIR");

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(HARNESS).join("../tests/fixtures/libtest").join(name)
}

/// Runs a compiler and asserts that it succeeds.
pub(crate) fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the directory with the stand-in for the crate `test`, built once. With `is_interposed`,
/// it includes the mirror and the interposed functions.
pub(crate) fn stand_in(is_interposed: bool) -> &'static Path {
    static BUILT: [OnceLock<PathBuf>; 2] = [const { OnceLock::new() }; 2];
    BUILT[usize::from(is_interposed)].get_or_init(|| {
        let name = if is_interposed { "interposed" } else { "stand-in" };
        let workspace = Path::new(TEMPORARY).join(name);
        let source = Path::new(HARNESS).join("cargo-nondex/runtime");
        fs::create_dir_all(workspace.join("src")).unwrap();
        let manifest = fs::read_to_string(source.join("test.toml")).unwrap();
        let own = format!("nondex-harness = {{ path = {HARNESS:?} }}");
        let mut manifest = manifest
            .replace("nondex-harness.workspace = true", &own)
            .replace("version.workspace = true", "version = \"0.1.0\"")
            .replace("edition.workspace = true", "edition = \"2024\"");
        let mut library = fs::read_to_string(source.join("test/src/lib.rs")).unwrap();
        if is_interposed {
            let path = Path::new(HARNESS).join("../nondex-collections");
            manifest +=
                &format!("nondex-collections = {{ path = {path:?}, features = [\"nondex\"] }}\n");
            library += "\npub use nondex_collections as mirror;\n";
        }
        fs::write(workspace.join("Cargo.toml"), format!("{manifest}\n[workspace]\n")).unwrap();
        fs::write(workspace.join("src/lib.rs"), library).unwrap();
        fs::copy(Path::new(HARNESS).join("../Cargo.lock"), workspace.join("Cargo.lock")).unwrap();
        succeed(
            Command::new(env!("CARGO"))
                .args(["build", "--offline", "--quiet"])
                .env("CARGO_TARGET_DIR", workspace.join("target"))
                .current_dir(&workspace),
        );
        workspace.join("target/debug")
    })
}

/// Harness that a fixture is compiled with.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Harness {
    Libtest,
    Ours,
    /// This project's harness, with the mirror and the interposed functions.
    Interposed,
    /// Libtest, with the mirror and the interposed functions in the program.
    Swap,
}

/// Compiles a fixture and returns the executable. It always has the same name, but a separate
/// directory, because tests compile at the same time.
pub(crate) fn compile(name: &str, edition: &str, harness: Harness) -> PathBuf {
    compile_with(&fixture(name), edition, harness, &[])
}

/// Compiles a fixture with instrumented atomic operations. It is optimised: otherwise it would
/// share functions with the stand-in, which is not instrumented.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn compile_threads(source: &Path) -> PathBuf {
    let flags =
        ["-Copt-level=2", "-Cpasses=tsan", "-Cllvm-args=-tsan-instrument-func-entry-exit=false"];
    compile_with(source, "2024", Harness::Interposed, &flags)
}

fn compile_with(source: &Path, edition: &str, harness: Harness, flags: &[&str]) -> PathBuf {
    static COMPILED: AtomicUsize = AtomicUsize::new(0);
    let number = COMPILED.fetch_add(1, Ordering::Relaxed);
    let directory = Path::new(TEMPORARY).join(format!("{harness:?}-{edition}-{number}"));
    fs::create_dir_all(&directory).unwrap();
    let executable = directory.join(source.file_stem().unwrap());
    let mut rustc = Command::new("rustc");
    rustc.args(["--test", "--edition", edition, "-o"]);
    rustc.args([&executable]).args(flags);
    rustc.arg(source);
    let stand_in = match harness {
        Harness::Libtest => None,
        Harness::Ours => Some(stand_in(false)),
        Harness::Interposed | Harness::Swap => Some(stand_in(true)),
    };
    if let Harness::Interposed = harness {
        rustc.arg("-g");
    }
    if let Some(stand_in) = stand_in {
        match harness {
            Harness::Swap => {
                let mut library = OsString::from("--extern=nondex_collections=");
                library.push(mirror(&stand_in.join("deps")));
                rustc.arg("--cfg=swap").arg(library);
            }
            _ => {
                let library = stand_in.join("libtest.rlib");
                rustc.arg(format!("--extern=test={}", library.display()));
            }
        }
        rustc.arg(format!("-Ldependency={}", stand_in.join("deps").display()));
    }
    succeed(&mut rustc);
    executable
}

/// Returns the library of the mirror among those of the stand-in.
fn mirror(libraries: &Path) -> PathBuf {
    let paths = fs::read_dir(libraries).unwrap().map(|entry| entry.unwrap().path());
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("libnondex_collections-") && name.ends_with(".rlib")
    };
    let newest = |path: &PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    paths.filter(is_it).max_by_key(newest).unwrap()
}

/// Returns the description of a compiled fixture.
pub(crate) fn binary(executable: &Path) -> TestBinary {
    let executable = Utf8Path::from_path(executable).unwrap();
    let name = executable.file_stem().unwrap();
    TestBinary {
        id: name.into(),
        package: name.into(),
        target: name.into(),
        kind: "test".into(),
        executable: executable.to_owned(),
        cwd: executable.parent().unwrap().to_owned(),
        env: BTreeMap::new(),
        runner: Vec::new(),
        harness: cargo_nondex::project::Harness::Nondex,
        is_on_host: false,
        preload: None,
        moved: None,
    }
}
