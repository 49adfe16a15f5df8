//! Builds that differ in only one build script or proc macro: in its random bytes, or in data that
//! it reads and no seed controls.
//!
//! Such a program runs once per build. So the outcome of a test of its output changes from build to
//! build, not from run to run. Only programs of the project's own packages and of its path
//! dependencies are varied.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{Metadata, Package, PackageId, TargetKind};

use super::build::build;
use super::built::Project;
use super::drawn::Drawn;
use super::foundation;
use super::graph::reached;
use super::made::{self, Made};
use super::outdated::REBUILT;
use super::plan::{BuildPlan, Doctests, Mode, Varied};
use super::preload::EntropyLibrary;
use super::scratch::Scratch;
use crate::error::{OrSetup, Result};
use crate::interruption;

/// Number of seeds that a program is tried with if it makes the same under all of them. Two
/// elements have the same order under all of them with a probability of 1/128.
const MIN_SEEDS: u64 = 8;

/// Number of seeds from which the builds are chosen.
const MAX_SEEDS: u64 = 64;

/// Time after which no more seeds of one program are tried.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Builds of a project in which programs take other random bytes. By default there are none.
#[derive(Debug, Default)]
pub struct Rebuilds {
    plan: BuildPlan,
    /// This tool's folder in the project's target directory.
    home: Utf8PathBuf,
    /// Programs whose output varies. Those that vary by chance come first.
    pub variations: Vec<Variation>,
}

/// Build script or proc macro whose output varies with its random bytes or, by chance, with the
/// same ones.
#[derive(Debug)]
pub struct Variation {
    /// Package that the program is part of.
    pub package: String,
    /// Root source file of the proc macro; `None` for a build script.
    pub proc_macro: Option<Utf8PathBuf>,
    /// Packages with tests whose outcome the program may decide.
    pub affected: BTreeSet<String>,
    /// Seeds of the builds to compare. Together they have each word of the program's output in each
    /// position, if the maximum number of builds allows it. If chance decides, numbers of builds.
    pub seeds: Vec<u64>,
    varied: Varied,
    varies: Varies,
}

/// Reason why the output of a program varies.
#[derive(Debug)]
enum Varies {
    /// It varies with the seed: the output under each seed.
    BySeed(BTreeMap<u64, Made>),
    /// It varies by chance: the files that do.
    ByChance(Vec<Utf8PathBuf>),
}

impl Variation {
    /// Returns whether the output varies by chance, not with the seed.
    pub const fn is_by_chance(&self) -> bool {
        matches!(self.varies, Varies::ByChance(_))
    }

    /// Returns the files that differ between each build in which a test passes and each in which it
    /// fails. For a build script, these are files in `OUT_DIR` or the output, those with the fewest
    /// distinct contents first. For a proc macro, it is always the root source file.
    pub fn files(&self, passes: &[u64], fails: &[u64]) -> Vec<Utf8PathBuf> {
        if let Some(root) = &self.proc_macro {
            return vec![root.clone()];
        }
        let made = match &self.varies {
            Varies::BySeed(made) => made,
            Varies::ByChance(files) => return files.clone(),
        };
        let of = |seed: &u64, file: &(usize, Utf8PathBuf)| made[seed].content(file);
        let files: BTreeSet<_> = made.values().flat_map(Made::files).collect();
        let decides = |file: &(usize, Utf8PathBuf)| {
            passes.iter().all(|pass| fails.iter().all(|fail| of(pass, file) != of(fail, file)))
        };
        // A file with another content in every build always qualifies, so it is no evidence.
        let contents = |file: &&(usize, Utf8PathBuf)| {
            let distinct: BTreeSet<_> = self.seeds.iter().map(|seed| of(seed, file)).collect();
            distinct.len()
        };
        let mut deciding: Vec<_> = files.into_iter().filter(|file| decides(file)).collect();
        deciding.sort_by_key(contents);
        deciding.into_iter().map(|(_, name)| name.clone()).collect()
    }

    /// Returns files that are not the same in all builds.
    pub fn varying_files(&self) -> Vec<Utf8PathBuf> {
        let Some((first, others)) = self.seeds.split_first() else { return Vec::new() };
        let files = others.iter().map(|other| self.files(&[*first], &[*other]));
        files.into_iter().find(|files| !files.is_empty()).unwrap_or_default()
    }
}

impl Rebuilds {
    /// Runs the recorded programs of `project` again, and returns those whose output varies.
    /// Programs that took random bytes run with other ones. Programs that read data that no seed
    /// controls run twice. Builds nothing.
    ///
    /// # Errors
    /// Returns an error if cargo cannot read the workspace, or if the programs cannot get other
    /// bytes.
    pub fn of(project: &Project, plan: &BuildPlan, is_over: &dyn Fn() -> bool) -> Result<Self> {
        let plan = BuildPlan {
            mode: Mode::Plain,
            doctests: Doctests::No,
            races: false,
            covered: false,
            ..plan.clone()
        };
        let mut rebuilds =
            Rebuilds { plan, home: project.target_dir.join("nondex"), variations: Vec::new() };
        if project.drawn.is_empty() {
            return Ok(rebuilds);
        }
        let metadata = foundation::metadata(&rebuilds.plan, true)?;
        let graph = Graph::of(&metadata);
        let mut programs: BTreeMap<(bool, &PackageId, String), Vec<&Drawn>> = BTreeMap::new();
        for drawn in &project.drawn {
            if let (Some(owner), Some(program)) = (graph.owner(drawn), drawn.program()) {
                // By-chance records come first, because chance decides whatever the seed is.
                programs.entry((!drawn.by_chance, &owner.id, program)).or_default().push(drawn);
            }
        }
        if programs.is_empty() {
            return Ok(rebuilds);
        }
        let library = EntropyLibrary::in_workspace(&project.workspace_root)?;
        let home = &rebuilds.home;
        let scratch = Scratch::create(home, "drawn")
            .or_setup(format_args!("failed to create a folder in `{home}`"))?;
        for ((is_seeded, owner, program), drawn) in programs {
            let run = |one: &Drawn, seed: u64| one.run(&library, seed, scratch.path(), is_over);
            let found = if is_seeded { vary(&drawn, run) } else { repeat(&drawn, run) };
            let Some((owner, (seeds, varies))) = graph.packages.get(owner).zip(found) else {
                continue;
            };
            let users = drawn.iter().filter_map(|drawn| graph.in_folder(drawn.package()?));
            let users: BTreeSet<&PackageId> = users.map(|package| &package.id).collect();
            let name = |id: &&PackageId| Some(graph.packages.get(id)?.name.to_string());
            rebuilds.variations.push(Variation {
                package: owner.name.to_string(),
                proc_macro: drawn[0].macro_name().and_then(|name| {
                    let root = &macro_of(owner, name)?.src_path;
                    Some(root.strip_prefix(&metadata.workspace_root).unwrap_or(root).to_owned())
                }),
                affected: graph.affected(&users).iter().filter_map(name).collect(),
                varied: Varied {
                    program,
                    seed: 0,
                    packages: users.iter().filter_map(name).collect(),
                },
                seeds,
                varies,
            });
        }
        Ok(rebuilds)
    }

    /// Returns the packages with tests whose outcome one of the programs may decide.
    pub fn affected(&self) -> impl Iterator<Item = &String> {
        self.variations.iter().flat_map(|variation| &variation.affected)
    }

    /// Waits until no other process compares builds of the project, because each build replaces the
    /// previous one. The lock lasts as long as the file is open. Returns `None` if the file system
    /// has no locks, or the user interrupts the command.
    pub fn lock(&self) -> Option<File> {
        let file = File::create(self.home.join(format!("{REBUILT}.only"))).ok()?;
        interruption::lock(file, true).ok()
    }

    /// Makes a plain build of the tests, with random bytes from `seed` for one program. If chance
    /// decides what the program makes, the seed is only the number of the build. The next such
    /// build replaces the executables.
    ///
    /// # Errors
    /// Returns the errors of [`build`](build()).
    pub fn build(&self, variation: &Variation, seed: u64) -> Result<Project> {
        let seed = if variation.is_by_chance() { 0 } else { seed };
        let plan =
            BuildPlan { varied: Varied { seed, ..variation.varied.clone() }, ..self.plan.clone() };
        build(&plan, true)
    }
}

/// Runs each program once with this seed and returns what they make.
fn made(
    drawn: &[&Drawn],
    run: impl Fn(&Drawn, u64) -> Option<BTreeMap<Utf8PathBuf, Vec<u8>>>,
    seed: u64,
) -> Made {
    Made::of((0..).zip(drawn).filter_map(|(number, one)| Some((number, run(one, seed)?))))
}

/// Returns the files that differ between two runs of the programs with one seed, with the numbers
/// of the builds to compare. Returns `None` if no files differ.
fn repeat(
    drawn: &[&Drawn],
    run: impl Fn(&Drawn, u64) -> Option<BTreeMap<Utf8PathBuf, Vec<u8>>>,
) -> Option<(Vec<u64>, Varies)> {
    let [first, again] = [(); 2].map(|()| made(drawn, &run, 0));
    let files = first.differing(&again);
    (!files.is_empty()).then(|| ((0..made::BUILDS as u64).collect(), Varies::ByChance(files)))
}

/// Returns the seeds of the builds to compare, and what the programs make under each. Returns
/// `None` if it is the same under the first [`MIN_SEEDS`] seeds. Leaves out files and words that
/// differ between runs with one seed, because they do not depend on random bytes.
fn vary(
    drawn: &[&Drawn],
    run: impl Fn(&Drawn, u64) -> Option<BTreeMap<Utf8PathBuf, Vec<u8>>>,
) -> Option<(Vec<u64>, Varies)> {
    let begin = Instant::now();
    let of_seed = |seed| made(drawn, &run, seed);
    let first = of_seed(0);
    let again = of_seed(0);
    let mut made = BTreeMap::from([(0, first.common_with(&again))]);
    for seed in 1..MAX_SEEDS {
        let is_alike = made.values().all(|one| *one == made[&0]);
        let is_late = begin.elapsed() > TIME_LIMIT && seed > 2;
        if is_late || is_alike && seed >= MIN_SEEDS {
            break;
        }
        let one = of_seed(seed).masked_as(&made[&0]);
        made.insert(seed, one);
    }
    if made.values().all(|one| *one == made[&0]) {
        return None;
    }
    // A date may have changed since the first two runs, so seed 0 runs once more.
    let first = made[&0].clone().common_with(&of_seed(0).masked_as(&made[&0]));
    let mut made: BTreeMap<u64, Made> =
        made.into_iter().map(|(seed, one)| (seed, one.masked_as(&first))).collect();
    let seeds = made::choose(&made);
    made.retain(|seed, _| seeds.contains(seed));
    (seeds.len() > 1).then_some((seeds, Varies::BySeed(made)))
}

/// Returns the target of a package that is the proc macro with this crate name.
fn macro_of<'a>(package: &'a Package, name: &str) -> Option<&'a cargo_metadata::Target> {
    package.targets.iter().find(|target| {
        target.kind.contains(&TargetKind::ProcMacro) && target.name.replace('-', "_") == name
    })
}

/// Local packages of a project, and which packages use which.
struct Graph<'a> {
    packages: BTreeMap<&'a PackageId, &'a Package>,
    /// Packages that directly depend on a package, by the used package.
    users: BTreeMap<&'a PackageId, Vec<&'a PackageId>>,
}

impl<'a> Graph<'a> {
    fn of(metadata: &'a Metadata) -> Self {
        let own = metadata.packages.iter().filter(|package| package.source.is_none());
        let mut users: BTreeMap<&PackageId, Vec<&PackageId>> = BTreeMap::new();
        for node in metadata.resolve.iter().flat_map(|resolve| &resolve.nodes) {
            for used in &node.dependencies {
                users.entry(used).or_default().push(&node.id);
            }
        }
        Graph { packages: own.map(|package| (&package.id, package)).collect(), users }
    }

    /// Returns the package with its manifest in this folder.
    fn in_folder(&self, folder: &Utf8Path) -> Option<&'a Package> {
        let mut packages = self.packages.values();
        packages.find(|package| package.manifest_path.parent() == Some(folder)).copied()
    }

    /// Returns the package that a program is part of.
    fn owner(&self, drawn: &Drawn) -> Option<&'a Package> {
        match drawn.macro_name() {
            Some(name) => {
                self.packages.values().find(|package| macro_of(package, name).is_some()).copied()
            }
            None => self.in_folder(drawn.package()?),
        }
    }

    /// Returns these packages and all that depend on one of them, directly or indirectly.
    fn affected(&self, packages: &BTreeSet<&'a PackageId>) -> BTreeSet<&'a PackageId> {
        let from = packages.iter().copied();
        reached(from, |package| self.users.get(package).into_iter().flatten().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_files_that_differ_the_one_is_named_that_varies_least() {
        // The first file differs in each build, so it qualifies for any outcomes.
        let made = |(seed, word): (u64, &str)| {
            let text = |text: &str| text.as_bytes().to_vec();
            let many = ("all.rs".into(), text(&format!("order {seed}")));
            (seed, Made::of([(0, BTreeMap::from([many, ("names.rs".into(), text(word))]))]))
        };
        let made: BTreeMap<u64, Made> = (0..).zip(["a", "b", "c", "a", "b"]).map(made).collect();
        let variation = Variation {
            package: "shop".to_owned(),
            proc_macro: None,
            affected: BTreeSet::new(),
            seeds: made.keys().copied().collect(),
            varied: Varied::default(),
            varies: Varies::BySeed(made),
        };
        let files = |passes: &[u64], fails: &[u64]| variation.files(passes, fails);
        assert_eq!(files(&[0, 3], &[1, 2, 4]), ["names.rs", "all.rs"]);
        // The second file is the same in a passing and a failing build here.
        assert_eq!(files(&[0, 1], &[2, 3, 4]), ["all.rs"]);
    }
}
