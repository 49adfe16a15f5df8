//! The request of one run: the only input of the runtime.

use std::path::PathBuf;

use crate::catalogue::{Family, Level};
use crate::json;

use super::fork::{Forks, Threads};
use super::network::NetworkMode;
use super::operation::Observed;
use super::schedule::Schedule;
use super::selection::{Selected, Selection};
use super::site::Site;
use super::state::StateId;

/// The version of [`RunSpec`] and [`RunRecord`](crate::RunRecord). A runtime refuses any other.
pub const PROTOCOL: u32 = 2;

/// The version of the algorithm that turns a seed into choices. A seed reproduces within one
/// version.
pub const ALGORITHM: u32 = 10;

/// The environment variable that carries a [`RunSpec`] as JSON into a test process, or `@` and the
/// path of a file with it. It is removed before a test starts.
pub const SPEC_VARIABLE: &str = "NONDEX_SPEC";

/// The environment variable with the identity of a program that a test starts: the number of the
/// test's own process, a colon, and the path of the thread that started it with the ordinal of the
/// start. It is removed before `main`.
pub const CHILD_VARIABLE: &str = "NONDEX_CHILD";

/// Environment variables that switch the shims on without the driver, in a plain `cargo test` of a
/// dev build.
pub const SEED_VARIABLE: &str = "NONDEX_SEED";
/// See [`SEED_VARIABLE`]; the default is `FULL`.
pub const LEVEL_VARIABLE: &str = "NONDEX_LEVEL";

/// Everything that decides one run of one test, or an experiment: several tests in one process, one
/// after the other, with a record for each. With the built binary it determines the
/// [`RunRecord`](crate::RunRecord).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The name of the test as libtest prints it; part of every choice's identity.
    pub test: String,
    /// The tests that run before it in the same process, in this order, under the same spec.
    pub before: Vec<String>,
    /// What decides the choices.
    pub choices: Choices,
    /// Names of models (see [`Model::name`](crate::Model::name)) that are off: not chosen and not
    /// recorded.
    pub models_off: Vec<String>,
    /// Where the record is written, absolute; `None` keeps nothing.
    pub record: Option<PathBuf>,
    /// Sites for which the stack of the first call, or of the last one whose choice is given, is
    /// kept (slow: it reads debug information).
    pub trace: Vec<Site>,
    /// What is done about the network.
    pub network: NetworkMode,
    /// Hosts that are reached although the network is blocked: names, `*.` with a domain, or
    /// addresses.
    pub network_allow: Vec<String>,
    /// The library that is put before libc in the programs that the test starts, absolute; they are
    /// not observed without it.
    pub preload: Option<PathBuf>,
    /// Failures of operations that are recorded.
    pub observe: Vec<Observed>,
    /// Which threads the tests run on.
    pub threads: Threads,
    /// Whether the threads and the time of `test` are scheduled.
    pub scheduled: bool,
    /// How many operations its threads may do together while they are; 0 is
    /// [`MAX_STEPS`](super::scheduling::MAX_STEPS).
    pub max_steps: u64,
    /// How many of these operations, the last ones, are recorded, each with its stack.
    pub operations: u64,
    /// What runs in forks of the process after `before` and `test`.
    pub forks: Option<Forks>,
    /// Whether what each test leaves changed is recorded.
    pub states: bool,
    /// What is put back, before `test`, to what it was before the first test of `before`. Where a
    /// test [interrupts](Self::interrupt_at) another one, `test` finds it as if the other one had
    /// not changed it.
    pub restore: Vec<StateId>,
    /// The parts of the state to which accesses are recorded. Of variables and files, an empty name
    /// means all.
    pub watch: Vec<StateId>,
    /// Whether these are recorded with their stacks, which takes long.
    pub lines: bool,
    /// The access of `test` to what is watched at which the last test of `before` runs, on another
    /// thread, while `test` waits; from 0.
    pub interrupt_at: Option<u64>,
    /// The access of the interrupting test at which it waits until the interrupted one has ended,
    /// from 0; `None` lets it run to its end.
    pub pause_at: Option<u64>,
    /// Whether it is recorded which code ran.
    pub cover: bool,
    /// Whether the files and folders that are written are recorded.
    pub writes: bool,
    /// Whether it is the other way round: `test` runs in the middle of the last test of `before`,
    /// at that one's access.
    pub within: bool,
}

json::object!(strict RunSpec {
    protocol,
    test,
    before = optional,
    choices,
    models_off = optional,
    record = optional,
    trace = optional,
    network = optional,
    network_allow = optional,
    preload = optional,
    observe = optional,
    threads = optional,
    scheduled = optional,
    max_steps = optional,
    operations = optional,
    forks = optional,
    states = optional,
    restore = optional,
    watch = optional,
    lines = optional,
    interrupt_at as "meet" = optional,
    pause_at as "until" = optional,
    cover = optional,
    writes = optional,
    within = optional,
});

/// What decides the choices of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choices {
    /// All take the canonical order, and nothing is late: a clean run. Choice points are recorded
    /// all the same.
    Canonical,
    /// A seed.
    Drawn(DrawnChoices),
}

json::variants!(Choices { Canonical = "canonical", Drawn(drawn) = "drawn" });

impl Choices {
    /// All choices at `level`, drawn from `seed`, which means what `schedule` says.
    #[must_use]
    pub const fn all(schedule: Schedule, level: Level, seed: u64) -> Self {
        Choices::Drawn(DrawnChoices {
            level,
            seed,
            schedule,
            selection: Selection::All,
            given: Vec::new(),
        })
    }
}

/// Choices that are drawn from a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnChoices {
    /// How freely they are made.
    pub level: Level,
    /// What they are made from.
    pub seed: u64,
    /// Which order a seed means.
    pub schedule: Schedule,
    /// Which choices are made at all; the others take the canonical order.
    pub selection: Selection,
    /// Calls whose choice is given.
    pub given: Vec<Given>,
}

json::object!(strict DrawnChoices {
    level,
    seed,
    schedule = optional,
    selection = optional,
    given = optional,
});

/// The choice at one call, given instead of drawn. It holds whether or not the choice is selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The call site.
    pub site: Site,
    /// The logical thread path, as in [`PointRecord::thread`](crate::PointRecord::thread).
    pub thread: String,
    /// Which call of the thread at the site, from 0.
    pub ordinal: u64,
    /// What is chosen.
    pub choice: GivenChoice,
}

json::object!(strict Given { site, thread, ordinal, choice as "order" });

/// See [`Given`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenChoice {
    /// The base after a number of steps towards what the seed draws: an order by exchanges of
    /// neighbours (see [`between`](crate::choice::between)), a number one by one. The call is
    /// described in [`RunRecord::steps`](crate::RunRecord::steps).
    Steps(u64),
    /// The elements as numbered in canonical order. A list of another length than the collection's
    /// is not followed.
    Ranks(Vec<u32>),
    /// The number. One that the call cannot have is not followed.
    Number(u64),
}

json::variants!(GivenChoice { Steps(count) = "steps", Ranks(ranks) = "ranks",
    Number(number) = "number" });

impl RunSpec {
    /// A clean run of `test`: canonical order everywhere.
    #[must_use]
    pub fn clean(test: impl Into<String>) -> Self {
        RunSpec {
            choices: Choices::Canonical,
            ..RunSpec::new(test, Level::Std, 0)
        }
    }

    /// A run of `test` with all choices made at `level` from `seed`.
    #[must_use]
    pub fn new(test: impl Into<String>, level: Level, seed: u64) -> Self {
        RunSpec {
            protocol: PROTOCOL,
            test: test.into(),
            before: Vec::new(),
            choices: Choices::all(Schedule::default(), level, seed),
            models_off: Vec::new(),
            record: None,
            trace: Vec::new(),
            network: NetworkMode::default(),
            network_allow: Vec::new(),
            preload: None,
            observe: Vec::new(),
            threads: Threads::default(),
            scheduled: false,
            max_steps: 0,
            operations: 0,
            forks: None,
            states: false,
            restore: Vec::new(),
            watch: Vec::new(),
            lines: false,
            interrupt_at: None,
            pause_at: None,
            cover: false,
            writes: false,
            within: false,
        }
    }

    /// The same with another seed; a clean run has none.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        self.drawing(|drawn| drawn.seed = seed)
    }

    /// The same with this meaning of its seed; a clean run has none.
    #[must_use]
    pub fn with_schedule(self, schedule: Schedule) -> Self {
        self.drawing(|drawn| drawn.schedule = schedule)
    }

    /// The same with only these choices left to its seed; a clean run has none.
    #[must_use]
    pub fn with_selection(self, selection: Selection) -> Self {
        self.drawing(|drawn| drawn.selection = selection)
    }

    /// The same with the choices at these calls given; a clean run has none.
    #[must_use]
    pub fn with_given(self, given: Vec<Given>) -> Self {
        self.drawing(|drawn| drawn.given = given)
    }

    fn drawing(mut self, change: impl FnOnce(&mut DrawnChoices)) -> Self {
        if let Choices::Drawn(drawn) = &mut self.choices {
            change(drawn);
        }
        self
    }

    /// Whether all choices take the canonical order.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.choices == Choices::Canonical
    }

    /// What its choices are drawn from; `None` for a clean run.
    #[must_use]
    pub const fn drawn(&self) -> Option<&DrawnChoices> {
        match &self.choices {
            Choices::Canonical => None,
            Choices::Drawn(drawn) => Some(drawn),
        }
    }

    /// The level of its choices. A clean run has the most realistic one.
    #[must_use]
    pub fn level(&self) -> Level {
        self.drawn().map_or(Level::Std, |drawn| drawn.level)
    }

    /// The seed of its choices. A clean run has 0.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.drawn().map_or(0, |drawn| drawn.seed)
    }

    /// What its seed means. A clean run has the default.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        self.drawn()
            .map_or_else(Schedule::default, |drawn| drawn.schedule)
    }

    /// Which choices are left to its seed; `None` for a clean run.
    #[must_use]
    pub fn selection(&self) -> Option<&Selection> {
        self.drawn().map(|drawn| &drawn.selection)
    }

    /// Whether all choices are left to its seed.
    #[must_use]
    pub fn draws_all(&self) -> bool {
        self.selection() == Some(&Selection::All)
    }

    /// Whether some choices are left to its seed, and the others are not.
    #[must_use]
    pub fn draws_some(&self) -> bool {
        self.selection()
            .is_some_and(|selection| *selection != Selection::All)
    }

    /// The calls whose choice is given.
    #[must_use]
    pub fn given(&self) -> &[Given] {
        self.drawn().map_or(&[], |drawn| &drawn.given)
    }

    /// Which calls of a thread at a site are left to its seed.
    #[must_use]
    pub fn selected(&self, site: &Site, thread: &str) -> Selected {
        self.selected_of(|other| other == site, site.family, thread)
    }

    /// As [`RunSpec::selected`] at the site of `family` that `is_site` accepts.
    pub(crate) fn selected_of(
        &self,
        is_site: impl Fn(&Site) -> bool,
        family: Family,
        thread: &str,
    ) -> Selected {
        self.drawn()
            .filter(|drawn| family.varies(drawn.level) && drawn.schedule.chooses(family))
            .map_or(Selected::None, |drawn| {
                drawn.selection.of_call(is_site, thread)
            })
    }

    /// The test whose accesses to what is watched decide when another one
    /// [interrupts](Self::interrupt_at) it.
    #[must_use]
    pub fn stopped(&self) -> &str {
        match self.before.last().filter(|_| self.within) {
            Some(outer) => outer,
            None => &self.test,
        }
    }

    /// The test that [interrupts](Self::interrupt_at) it, if one does.
    #[must_use]
    pub fn interrupting(&self) -> Option<&str> {
        self.interrupt_at?;
        let other = self.before.last()?;
        Some(if self.within { &self.test } else { other })
    }

    /// The tests of the experiment, in the order in which they run.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        let before = self.before.iter().map(String::as_str);
        before.chain([self.test.as_str()])
    }

    /// Reads a spec from JSON.
    ///
    /// # Errors
    /// When the text is not a spec of this [`PROTOCOL`]; the message has what was found.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let spec: RunSpec = json::from_str(text).map_err(|e| format!("not a run spec: {e}"))?;
        if spec.protocol != PROTOCOL {
            return Err(format!(
                "the run spec has protocol {}, this runtime speaks {PROTOCOL}",
                spec.protocol
            ));
        }
        Ok(spec)
    }

    /// The extension of the file next to the record that has a spec which is too long for a
    /// variable.
    pub const FILE: &str = "spec";

    /// Reads a spec as [`SPEC_VARIABLE`] has it.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json), and when there is no such file.
    pub fn from_variable(value: &str) -> Result<Self, String> {
        let Some(path) = value.strip_prefix('@') else {
            return Self::from_json(value);
        };
        let text = std::fs::read_to_string(path);
        Self::from_json(&text.map_err(|e| format!("failed to read `{path}`: {e}"))?)
    }

    /// The spec as JSON, on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_string(self)
    }
}
