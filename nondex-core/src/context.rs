//! Which test a thread works for: the state that every choice is made from.
//!
//! A process has at most one [`Context`] of its own, read from the environment at its first choice. A thread belongs to
//! one test of one context; a thread that it starts through the `thread` shim inherits both, and extends the logical
//! thread path. While a thread is [paused](pause), the tool's own code runs: nothing is chosen or recorded.

mod keys;
mod slot;
mod text;
mod thread;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use self::keys::Keys;

pub use slot::{
    Entered, Inherited, Pause, after_fork_in_child, before_fork, enter, inherit,
    is_forked_beside_threads, level, name_child, new_object, pause, traces_elements,
};
pub(crate) use slot::{
    is_traced, list, network_spec, path_hash, reach, reading, record, record_network,
    record_operation, seen_key, table_key, unrecorded,
};
pub use thread::place;

use crate::inheritance::{self, Child};
use crate::journal::Journal;
use crate::level::Level;
use crate::model::{Family, Model};
use crate::network::{self, NetworkRecord, Seen, Stacks};
use crate::operation::Failures;
use crate::record::Event;
use crate::spec::{CHILD_VARIABLE, LEVEL_VARIABLE, RunSpec, SEED_VARIABLE, SPEC_VARIABLE};

/// One run: what to decide and where to record it.
#[derive(Debug)]
pub struct Context {
    spec: RunSpec,
    journal: Journal,
    /// The path of the main thread: empty in the test's own process, see [`inheritance`](crate::inheritance).
    process: String,
    /// The number of the test's own process.
    root: u32,
    /// The number of this process; another one in a forked child.
    pid: u32,
    /// How many threads were started.
    threads: AtomicU32,
    /// How many threads that no shim saw start have asked for anything.
    unseen: AtomicU32,
    /// How many tests run.
    tests: AtomicU32,
    stacks: Stacks,
    failures: Failures,
    keys: Keys,
    /// The content of the environment as it was read first.
    environment: OnceLock<u64>,
}

impl Context {
    /// A context for `spec`, which records to the file it names, or in memory.
    #[must_use]
    pub fn new(spec: RunSpec) -> Arc<Self> {
        Context::of_process(spec, String::new(), std::process::id())
    }

    fn of_child(child: Child) -> Arc<Self> {
        Context::of_process(child.spec, child.path, child.root)
    }

    fn of_process(spec: RunSpec, process: String, root: u32) -> Arc<Self> {
        let journal = Journal::new(spec.record.clone());
        Arc::new(Context {
            keys: Keys::new(&spec),
            environment: OnceLock::new(),
            spec,
            journal,
            process,
            root,
            pid: std::process::id(),
            threads: AtomicU32::new(0),
            unseen: AtomicU32::new(0),
            tests: AtomicU32::new(0),
            stacks: Stacks::default(),
            failures: Failures::default(),
        })
    }

    /// Whether this is the test's own process, whose end is the test's end.
    #[must_use]
    pub fn is_own_process(&self) -> bool {
        self.process.is_empty() && self.pid == std::process::id()
    }

    /// The path of a test's own thread.
    fn test_thread(&self) -> String {
        match self.process.as_str() {
            "" => "0".to_owned(),
            process => format!("{process}.0"),
        }
    }

    /// The path of a thread that no shim saw start: `?`, then `?1`.
    fn unseen_thread(&self) -> String {
        let number = match self.unseen.fetch_add(1, Ordering::Relaxed) {
            0 => String::new(),
            number => number.to_string(),
        };
        format!("{}?{number}", self.process)
    }

    /// What this run was asked to do.
    #[must_use]
    pub const fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// The events kept in memory, when the spec names no file.
    #[must_use]
    pub fn take_events(&self) -> Vec<Event> {
        self.journal.take()
    }

    /// How many events are kept in memory.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.journal.len()
    }

    /// The operations of a test on other machines, when the spec names no file.
    #[must_use]
    pub fn network_of(&self, test: &str) -> Vec<NetworkRecord> {
        self.network_since(0, test)
    }

    /// The operations of threads that work for no test in particular, when the spec names neither a test nor a file: those
    /// with something to say since that many events were [kept](Context::kept).
    #[must_use]
    pub fn network_of_nobody(&self, since: usize) -> Vec<NetworkRecord> {
        self.network_since(since, "")
    }

    fn network_since(&self, since: usize, name: &str) -> Vec<NetworkRecord> {
        let events = self.journal.kept().into_iter().skip(since);
        network::fold(events.filter_map(|event| match event {
            Event::Network {
                test,
                id,
                socket,
                network,
            } if test == name => Some(Seen::Operation(id, socket, network)),
            Event::Received { test, socket } if test == name => Some(Seen::Received(socket)),
            _ => None,
        }))
    }

    fn model_is_off(&self, model: &Model, family: Family) -> bool {
        !self.spec.models_off.is_empty() && self.spec.models_off.contains(&model.name(family))
    }
}

static GLOBAL: OnceLock<Option<Arc<Context>>> = OnceLock::new();

/// The context of this process: from [`SPEC_VARIABLE`], or from [`SEED_VARIABLE`] and [`LEVEL_VARIABLE`], or none.
///
/// A variable that cannot be understood ends the process with code 96 and a message on stderr: a run must never
/// silently not happen.
pub fn global() -> Option<&'static Arc<Context>> {
    GLOBAL
        .get_or_init(|| match from_environment() {
            Ok(Some(spec)) => Some(Context::new(spec)),
            Ok(None) => inheritance::find().map(Context::of_child),
            Err(message) => {
                eprintln!("nondex: {message}");
                std::process::exit(96);
            }
        })
        .as_ref()
}

/// As [`global`], and removes our variables from the environment, so that a test sees what cargo gives it. The calling thread is
/// then known as the main one.
///
/// # Safety
/// The process must have one thread, as before `main`.
#[expect(
    unsafe_code,
    reason = "only the caller knows that no other thread reads the environment"
)]
pub unsafe fn take_global() -> Option<&'static Arc<Context>> {
    let context = global();
    for variable in [SPEC_VARIABLE, CHILD_VARIABLE] {
        if std::env::var_os(variable).is_some() {
            // SAFETY: the process has one thread, as the caller promises.
            unsafe { std::env::remove_var(variable) }
        }
    }
    context.inspect(|context| slot::enter_main(context))
}

/// The context of a program that is not built over the shims: that of an ancestor. Decides for the whole process when it is
/// called before [`global`]. The calling thread is then known as the main one.
pub fn adopt() -> Option<&'static Arc<Context>> {
    let adopted = || inheritance::find().map(Context::of_child);
    let context = GLOBAL.get_or_init(adopted).as_ref();
    context.inspect(|context| slot::enter_main(context))
}

/// Makes the process have no context, whatever its ancestors have.
pub fn renounce() {
    let _ = GLOBAL.set(None);
}

fn from_environment() -> Result<Option<RunSpec>, String> {
    if let Some(text) = std::env::var_os(SPEC_VARIABLE) {
        let text = text
            .to_str()
            .ok_or_else(|| format!("{SPEC_VARIABLE} is not UTF-8"))?;
        return RunSpec::from_json(text)
            .map(Some)
            .map_err(|e| format!("{SPEC_VARIABLE}: {e}"));
    }
    let Some(seed) = std::env::var_os(SEED_VARIABLE) else {
        return Ok(None);
    };
    let seed = seed
        .to_str()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| {
            format!("{SEED_VARIABLE} is {seed:?}, expected a whole number below 2^64")
        })?;
    let level = match std::env::var(LEVEL_VARIABLE) {
        Ok(text) => text
            .parse::<Level>()
            .map_err(|e| format!("{LEVEL_VARIABLE}: {e}"))?,
        Err(std::env::VarError::NotPresent) => Level::Full,
        Err(e) => return Err(format!("{LEVEL_VARIABLE}: {e}")),
    };
    Ok(Some(RunSpec::new("", level, seed)))
}
