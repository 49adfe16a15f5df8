//! The packages in the form in which they are published. The driver is built from them alone, in an
//! empty folder, and works.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// Packages, each after those that it depends on.
const PACKAGES: [&str; 6] = [
    "nondex-core",
    "nondex-interpose",
    "nondex-collections",
    "nondex-harness",
    "nondex-judge",
    "cargo-nondex",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs a command without the variables that cargo set for this test. Asserts that it succeeds.
fn succeed(command: &mut Command) -> Output {
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_")
            || name.starts_with("NONDEX_")
            || name == "CARGO_MANIFEST_DIR"
        {
            command.env_remove(&*name);
        }
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Packages the workspace and unpacks the archives into an empty folder. The folder is a workspace
/// in which the packages find each other.
fn unpacked() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packaged");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let archives = folder.join("archives");
    succeed(
        Command::new(env!("CARGO"))
            .args([
                "package",
                "--workspace",
                "--no-verify",
                "--allow-dirty",
                "--offline",
                "--target-dir",
            ])
            .arg(&archives)
            .current_dir(repository()),
    );
    let mut manifest =
        String::from("[workspace]\nresolver = \"3\"\nmembers = [\"*-0.*\"]\n\n[patch.crates-io]\n");
    for package in PACKAGES {
        let name = format!("{package}-{}", env!("CARGO_PKG_VERSION"));
        succeed(
            Command::new("tar")
                // The files get new times. With the old times of the archives, cargo would reuse a
                // build of an earlier state.
                .arg("xzmf")
                .arg(archives.join("package").join(format!("{name}.crate")))
                .current_dir(&folder),
        );
        manifest += &format!("{package} = {{ path = {name:?} }}\n");
    }
    fs::remove_dir_all(archives).unwrap();
    // The profile and the versions are those of this workspace, so that dependencies compiled for
    // these tests are reused.
    let own = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let profiles = own.find("\n[profile.").map_or("", |at| &own[at..]);
    fs::write(folder.join("Cargo.toml"), manifest + profiles).unwrap();
    fs::copy(repository().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if !entry.path().is_dir() {
            fs::copy(entry.path(), to).unwrap();
        } else if entry.file_name() != "target" {
            copy(&entry.path(), &to);
        }
    }
}

#[test]
#[ignore = "second tier: builds the driver"]
fn the_driver_is_built_from_the_packaged_archives_and_finds_what_the_quickstart_shows() {
    let folder = unpacked();
    // The compiled dependencies are shared with this build. The driver goes to another folder.
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    succeed(
        Command::new(env!("CARGO"))
            .args(["build", "--offline", "--package", "cargo-nondex"])
            .env("CARGO_BUILD_BUILD_DIR", shared)
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .current_dir(&folder),
    );
    let quickstart = folder.join("quickstart");
    copy(&repository().join("examples/quickstart"), &quickstart);
    // The key of the cache is the hash of the sources. So the driver uses the runtime that other
    // tests have built.
    let output = Command::new(folder.join("target/debug/cargo-nondex"))
        .args(["nondex", "--seeds", "10", "--offline", "--message-format", "json"])
        .env_remove("CARGO_MANIFEST_DIR")
        .env("NONDEX_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("nondex-cache"))
        .current_dir(&quickstart)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(100), "{errors}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["summary"]["tests"], 9, "{errors}");
    assert_eq!(report["summary"]["id"], 3, "{errors}");
}

/// The driver contains the sources of the runtime's packages, and depends on them for this. Their
/// interposed functions must not be linked into it.
#[test]
fn the_driver_has_no_function_of_the_runtime() {
    use object::{Object as _, ObjectSymbol as _};

    let executable = fs::read(env!("CARGO_BIN_EXE_cargo-nondex")).unwrap();
    let executable = object::File::parse(&*executable).unwrap();
    let defined = executable.symbols().filter(object::Symbol::is_definition);
    let names: Vec<&str> = defined.filter_map(|symbol| symbol.name().ok()).collect();
    assert!(names.contains(&"main"));
    for name in ["connect", "getrandom", "pthread_create", "readdir64"] {
        assert!(!names.contains(&name), "{name}");
    }
}
