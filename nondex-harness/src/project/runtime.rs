//! The runtime: the std facade and the `test` crate, built once for each toolchain into the user's cache.

use std::fs;
use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use nondex_core::hash;
use serde::{Deserialize, Serialize};

use super::toolchain::{Toolchain, own};
use super::{atomics, std_order};
use crate::error::{Error, Result};

/// Every file of the runtime's sources: path and text.
static SOURCES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The environment variable that moves the cache.
pub const CACHE_VARIABLE: &str = "NONDEX_CACHE_DIR";

/// How the runtime is compiled. Its crates must not collide with the same ones in the user's graph.
const RUSTFLAGS: &str = "-Cmetadata=nondex-runtime -Cembed-bitcode=no -Cdebuginfo=0";

/// How many crates of it are compiled at a time, at least: one is mostly done by one thread, and the longest begins last.
const JOBS: usize = 4;

/// The start of the file name of the library that is put before libc in the programs that tests start.
const PRELOAD: &str = "libnondex_preload.";

/// The file that says a built runtime is whole.
const MANIFEST: &str = "runtime.json";

/// The file that has what is to be said of the order of its collections, which may be nothing.
const ORDER: &str = "order.txt";

/// The file that has why atomics cannot be instrumented over it, which may be nothing.
const ATOMICS: &str = "atomics.txt";

/// A built runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Identifies the sources and the toolchain; part of the path of every file below.
    pub key: String,
    /// Identifies what is in its libraries: two builds with one key need not be the same to the compiler.
    pub content: String,
    /// `libstd-*.rlib`.
    pub std: Utf8PathBuf,
    /// `libtest-*.rlib`.
    pub test: Utf8PathBuf,
    /// The folder of all libraries, for `-L dependency=`.
    pub libraries: Utf8PathBuf,
    /// The library that observes the programs that tests start, where there is one.
    #[serde(default)]
    pub preload: Option<Utf8PathBuf>,
}

/// What is kept in the cache.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    std: String,
    test: String,
    #[serde(default)]
    preload: Option<String>,
    libraries: Vec<Library>,
}

/// A file of the cache, and how it is known to be whole: at the same length and time it is not read, else its content
/// decides (a cache that was copied or restored has other times).
#[derive(Debug, Serialize, Deserialize)]
struct Library {
    name: String,
    length: u64,
    /// When it was last written, in seconds since 1970.
    modified: i64,
    content: u64,
}

impl Manifest {
    /// Identifies what is in the libraries of the runtime with this key.
    fn content(&self, key: &str) -> String {
        let contents: Vec<u64> = self.libraries.iter().map(|one| one.content).collect();
        format!("{key}-{:016x}", hash::of(&contents))
    }
}

impl Library {
    fn check(&self, home: &Utf8Path) -> std::io::Result<bool> {
        let path = home.join(&self.name);
        let metadata = fs::metadata(&path)?;
        if metadata.len() != self.length {
            return Ok(false);
        }
        Ok(metadata.mtime() == self.modified || content_hash(&fs::read(&path)?) == self.content)
    }
}

/// The per-user folder of built runtimes: `NONDEX_CACHE_DIR`, else `nondex` below the platform's cache folder.
///
/// # Errors
/// When no home folder is known.
pub fn cache_dir() -> Result<Utf8PathBuf> {
    let var = |name| {
        std::env::var(name)
            .ok()
            .filter(|value: &String| !value.is_empty())
            .map(Utf8PathBuf::from)
    };
    var(CACHE_VARIABLE)
        .or_else(|| var("XDG_CACHE_HOME").map(|dir| dir.join("nondex")))
        .or_else(|| var("LOCALAPPDATA").map(|dir| dir.join("nondex")))
        .or_else(|| var("HOME").map(|dir| dir.join(".cache/nondex")))
        .ok_or_else(|| {
            Error::setup(format!(
                "no folder for the cache: set {CACHE_VARIABLE}, or HOME"
            ))
        })
}

impl Runtime {
    /// The runtime for `toolchain` and `target`, with or without what observes the `network`, built now if the cache has none that is whole. Building takes less than
    /// twenty seconds on two cores; what is compiled is shown unless it is to be `quiet`.
    ///
    /// # Errors
    /// When the cache cannot be written, or the runtime does not build.
    pub fn for_toolchain(
        toolchain: &Toolchain,
        target: &str,
        offline: bool,
        network: bool,
        quiet: bool,
    ) -> Result<Self> {
        let key = format!(
            "{:016x}",
            hash::of(&(
                SOURCES,
                &toolchain.version,
                target,
                RUSTFLAGS,
                profile().to_string(),
                network
            ))
        );
        let cache = cache_dir()?;
        let home = cache.join(&key);
        match load(&home, &key) {
            Ok(Some(runtime)) => return Ok(runtime),
            Ok(None) => {}
            Err(damage) => {
                anstream::eprintln!(
                    "warning: the cached runtime is damaged ({damage}), building it again"
                );
                fs::remove_dir_all(&home)
                    .map_err(|e| Error::setup(format!("failed to remove `{home}`: {e}")))?;
            }
        }
        let doing = |doing: &str, path: &Utf8Path, e| {
            Error::setup(format!("failed to {doing} `{path}`: {e}"))
        };
        sweep(&cache, ABANDONED);
        let work = cache.join(format!("{key}.{}", std::process::id()));
        fs::create_dir_all(&work).map_err(|e| doing("create the cache folder", &work, e))?;
        let started = Instant::now();
        anstream::eprintln!(
            "   Building the nondex runtime for {target} (once for each toolchain)"
        );
        let built = build(&work, toolchain, target, offline, network, quiet);
        if let Ok(manifest) = &built {
            let text = serde_json::to_string(manifest).expect("a manifest has no map");
            fs::write(work.join(MANIFEST), text)
                .map_err(|e| doing("write", &work.join(MANIFEST), e))?;
            // Another run may have been faster; then its runtime is as good as ours.
            if let Err(e) = fs::rename(&work, &home)
                && !home.join(MANIFEST).is_file()
            {
                return Err(doing("create", &home, e));
            }
        }
        let _ = fs::remove_dir_all(&work);
        built?;
        if !quiet {
            let seconds = started.elapsed().as_secs_f64();
            anstream::eprintln!("    Finished the nondex runtime in {seconds:.1}s");
        }
        load(&home, &key)
            .map_err(|damage| {
                Error::setup(format!(
                    "the runtime just built in `{home}` is damaged: {damage}"
                ))
            })?
            .ok_or_else(|| Error::setup(format!("the runtime just built in `{home}` is gone")))
    }
}

impl Runtime {
    /// What is to be said when the order of its collections is not known to be that of the toolchain's std. It is found out when it
    /// is first asked for, in a second or two, and kept with the runtime.
    #[must_use]
    pub(super) fn order_note(&self, toolchain: &Toolchain, target: &str) -> Option<String> {
        self.found_once(ORDER, || std_order::compare(toolchain, target, &self.std))
    }

    /// Why crates over it cannot be compiled so that their atomics are instrumented, if they cannot: found out and kept in the
    /// same way.
    #[must_use]
    pub(super) fn atomics_obstacle(&self, toolchain: &Toolchain, target: &str) -> Option<String> {
        self.found_once(ATOMICS, || atomics::obstacle(toolchain, target, &self.std))
    }

    /// What `find` found when it was first asked for, kept in a file of this name.
    fn found_once(&self, name: &str, find: impl FnOnce() -> Option<String>) -> Option<String> {
        let kept = self.libraries.join(name);
        let found = fs::read_to_string(&kept).unwrap_or_else(|_| {
            let found = find().unwrap_or_default();
            // Another process may read it meanwhile. One that cannot be kept is found out again.
            let new = self
                .libraries
                .join(format!("{name}.{}", std::process::id()));
            let _ = fs::write(&new, &found).and_then(|()| fs::rename(&new, &kept));
            found
        });
        Some(found).filter(|found| !found.is_empty())
    }
}

/// How old a folder must be that is taken for what an interrupted build left. No build takes so long, and on a cache that is shared
/// between containers, process ids alone would not tell.
const ABANDONED: Duration = Duration::from_mins(15);

/// Removes what interrupted builds left: folders that end with the id of a process that is gone.
fn sweep(cache: &Utf8Path, age: Duration) {
    for entry in cache.read_dir_utf8().into_iter().flatten().flatten() {
        let process = entry.path().extension().map(str::parse::<u32>);
        let Some(Ok(process)) = process else { continue };
        let is_old = fs::metadata(entry.path())
            .and_then(|metadata| metadata.modified())
            .is_ok_and(|modified| modified.elapsed().is_ok_and(|elapsed| elapsed >= age));
        if is_old && !Utf8Path::new("/proc").join(process.to_string()).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The runtime in `home`: `None` when there is none, an error that says what is wrong when it is not whole.
fn load(home: &Utf8Path, key: &str) -> Result<Option<Runtime>, String> {
    let Ok(text) = fs::read_to_string(home.join(MANIFEST)) else {
        return if home.exists() {
            Err(format!("`{home}` has no {MANIFEST}"))
        } else {
            Ok(None)
        };
    };
    let manifest: Manifest = serde_json::from_str(&text).map_err(|e| format!("{MANIFEST}: {e}"))?;
    for library in &manifest.libraries {
        match library.check(home) {
            Ok(true) => {}
            Ok(false) => return Err(format!("{} has changed", library.name)),
            Err(e) => return Err(format!("{}: {e}", library.name)),
        }
    }
    Ok(Some(Runtime {
        key: key.to_owned(),
        content: manifest.content(key),
        std: home.join(manifest.std),
        test: home.join(manifest.test),
        libraries: home.to_owned(),
        preload: manifest.preload.map(|name| home.join(name)),
    }))
}

fn content_hash(bytes: &[u8]) -> u64 {
    let mut hasher = hash::FixedHasher::default();
    std::hash::Hasher::write(&mut hasher, bytes);
    std::hash::Hasher::finish(&hasher)
}

/// Builds the runtime in `work` and moves its libraries to the top of it.
fn build(
    work: &Utf8Path,
    toolchain: &Toolchain,
    target: &str,
    offline: bool,
    network: bool,
    quiet: bool,
) -> Result<Manifest> {
    let failed =
        |what: String| Error::setup(format!("failed to build the runtime for {target}: {what}"));
    let source = work.join("src");
    for (name, text) in SOURCES {
        let path = source.join(name);
        let text = if name.ends_with("Cargo.toml") {
            slim(name, text, network).map_err(failed)?
        } else {
            (*text).to_owned()
        };
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| failed(format!("failed to write `{path}`: {e}")))?;
    }
    // The crate root of the driver's library names its modules; the runtime has only one of them.
    let root = "//! The in-process harness.\n\npub mod inprocess;\npub use inprocess::main;\n";
    fs::write(source.join("nondex-harness/src/lib.rs"), root).map_err(|e| failed(e.to_string()))?;

    // What was downloaded to build this program is enough, so the network is asked only when that fails. Where it was not built
    // with its own lock file, what it was built with serves too.
    let wrapper = if atomics::are_understood(toolchain, target, work) {
        Some(own()?)
    } else {
        None
    };
    let cargo = |is_offline| {
        cargo(
            &source,
            toolchain,
            target,
            is_offline,
            quiet,
            wrapper.as_deref(),
        )
    };
    let mut output = cargo(true)?;
    if !output.0.success() && !offline {
        output = cargo(false)?;
    }
    if !output.0.success() && fs::remove_file(source.join("Cargo.lock")).is_ok() {
        let other = cargo(true)?;
        if other.0.success() {
            output = other;
        }
    }
    if !output.0.success() {
        return Err(failed(output.1));
    }

    let target_dir = source.join("target");
    let mut manifest = Manifest {
        std: String::new(),
        test: String::new(),
        preload: None,
        libraries: Vec::new(),
    };
    let built = target_dir.join(target).join("release");
    for (dir, extension) in [
        (built.join("deps"), "rlib"),
        (built, std::env::consts::DLL_EXTENSION),
    ] {
        let entries = dir
            .read_dir_utf8()
            .map_err(|e| failed(format!("failed to list `{dir}`: {e}")))?;
        for entry in entries
            .flatten()
            .filter(|entry| entry.path().extension() == Some(extension))
        {
            let name = entry.file_name();
            if name.starts_with("libstd-") {
                name.clone_into(&mut manifest.std);
            } else if name.starts_with("libtest-") {
                name.clone_into(&mut manifest.test);
            } else if name.starts_with(PRELOAD) {
                manifest.preload = Some(name.to_owned());
            }
            let bytes = fs::read(entry.path()).map_err(|e| failed(e.to_string()))?;
            let copy = work.join(name);
            let metadata = fs::write(&copy, &bytes).and_then(|()| fs::metadata(&copy));
            manifest.libraries.push(Library {
                name: name.to_owned(),
                length: bytes.len() as u64,
                modified: metadata.map_err(|e| failed(e.to_string()))?.mtime(),
                content: content_hash(&bytes),
            });
        }
    }
    if manifest.std.is_empty() || manifest.test.is_empty() {
        return Err(failed(format!(
            "cargo left no libstd or libtest in `{target_dir}`"
        )));
    }
    manifest.libraries.sort_by(|a, b| a.name.cmp(&b.name));
    fs::remove_dir_all(&source).map_err(|e| failed(format!("failed to remove `{source}`: {e}")))?;
    Ok(manifest)
}

/// Calls cargo, and shows what it compiles unless it is to be `quiet`. How it ended, and what else it said.
///
/// # Errors
/// When it cannot be run, and when a signal ended it: somebody does not want to wait, so it is not to be tried again.
fn cargo(
    source: &Utf8Path,
    toolchain: &Toolchain,
    target: &str,
    offline: bool,
    quiet: bool,
    wrapper: Option<&str>,
) -> Result<(ExitStatus, String)> {
    let failed = |e| {
        Error::setup(format!(
            "failed to run `{}`: {e}",
            toolchain.cargo.display()
        ))
    };
    let mut command = Command::new(&toolchain.cargo);
    command
        .args(["build", "--release", "--color", "never", "--target", target])
        .current_dir(source);
    if offline {
        command.arg("--offline");
    }
    if std::env::var_os("CARGO_BUILD_JOBS").is_none() {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        command.arg(format!("--jobs={}", cores.max(JOBS)));
    }
    // Nothing of the project's own build may reach this one.
    for name in [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_TARGET",
        "CARGO_TERM_QUIET",
        "CARGO_TERM_PROGRESS_WHEN",
    ] {
        command.env_remove(name);
    }
    if let Some(wrapper) = wrapper {
        command
            .env("RUSTC_WRAPPER", wrapper)
            .env(atomics::RUNTIME, "1");
    }
    let mut child = command
        .env("RUSTFLAGS", RUSTFLAGS)
        .env("RUSTC", &toolchain.rustc)
        .env("CARGO_TARGET_DIR", source.join("target"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let stderr = child.stderr.take().expect("stderr is piped");
    let mut said = String::new();
    for line in BufReader::new(stderr).lines() {
        let line = line.map_err(failed)?;
        match line.trim_start().strip_prefix("Compiling ") {
            Some(_) if quiet => {}
            // Without the folder, which is gone when it is read.
            Some(package) => anstream::eprintln!(
                "   Compiling {} of the runtime",
                package.split(" (").next().unwrap_or(package)
            ),
            None => {
                said.push_str(&line);
                said.push('\n');
            }
        }
    }
    let status = child.wait().map_err(failed)?;
    if status.signal().is_some() {
        return Err(Error::build("interrupted while the runtime was built"));
    }
    Ok((status, said))
}

/// A manifest without what only the repository has: tests, benches, the driver's binary, and other members.
fn slim(name: &str, text: &str, network: bool) -> Result<String, String> {
    let mut manifest: toml::Table = text.parse().map_err(|e| format!("{name}: {e}"))?;
    for part in ["bin", "test", "bench", "dev-dependencies", "lints"] {
        manifest.remove(part);
    }
    if let Some(package) = manifest
        .get_mut("package")
        .and_then(toml::Value::as_table_mut)
    {
        package.remove("default-run");
        package.insert("build".into(), false.into());
    }
    let defaults = manifest
        .get_mut("features")
        .and_then(|features| features.get_mut("default"))
        .and_then(toml::Value::as_array_mut);
    if let Some(defaults) = defaults.filter(|_| !network) {
        defaults.retain(|feature| feature.as_str() != Some("network"));
    }
    if let Some(workspace) = manifest
        .get_mut("workspace")
        .and_then(toml::Value::as_table_mut)
    {
        let mut members = vec!["nondex-harness/runtime/std", "nondex-harness/runtime/test"];
        members.extend(network.then_some("nondex-harness/runtime/preload"));
        // Path dependencies are members too; built as such, the driver's own dependencies would be compiled.
        workspace.insert("default-members".into(), toml::Value::from(members.clone()));
        workspace.insert("members".into(), toml::Value::from(members));
        workspace.remove("exclude");
        workspace.remove("lints");
        manifest.insert("profile".into(), profile().into());
    }
    toml::to_string(&manifest).map_err(|e| format!("{name}: {e}"))
}

/// How much each crate of the runtime is optimised: what decides and what iterates fully, for it is called millions of times. What
/// runs once in a process is, too: generic functions of a crate that is not optimised, those of atomics among them, would be
/// taken from it by the user's crates, where they are calls of the scheduler. Only what no test is linked with is not.
fn profile() -> toml::Table {
    toml::toml! {
        [release]
        codegen-units = 1
        strip = true
        [release.package]
        nondex-harness = { opt-level = 2 }
        nondex-preload = { opt-level = 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_interrupted_build_left_is_removed_and_a_build_that_runs_is_not_disturbed() {
        let temporary = tempfile::tempdir().unwrap();
        let cache = Utf8Path::from_path(temporary.path()).unwrap();
        let running = format!("0123456789abcdef.{}", std::process::id());
        // Above the largest id that Linux gives.
        let gone = "0123456789abcdef.4194305";
        let folders = ["0123456789abcdef", &running, gone, "other"];
        for folder in folders {
            fs::create_dir_all(cache.join(folder).join("src")).unwrap();
        }
        let left = || folders.map(|folder| cache.join(folder).exists());
        sweep(cache, ABANDONED);
        assert_eq!(left(), [true, true, true, true]);
        sweep(cache, Duration::ZERO);
        assert_eq!(left(), [true, true, false, true]);
    }
}
