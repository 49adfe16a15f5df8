//! Builds that differ only in the random bytes that one build script or proc macro takes, or in
//! what one build script reads that no seed decides.
//!
//! Such a program runs once for each build, so that a test of what it made is flaky once for each
//! build, and not for each run. Only programs of the project's own packages are varied, and those
//! of packages that it names by path.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::{Metadata, Package, PackageId, TargetKind};

use super::build::build;
use super::built::Project;
use super::drawn::Drawn;
use super::foundation;
use super::made::{self, Made};
use super::outdated::REBUILT;
use super::plan::{BuildPlan, Doctests, Mode, Varied};
use super::preload::EntropyLibrary;
use super::scratch::Scratch;
use crate::error::{Error, Result};

/// Number of seeds under which a program must make the same for it not to depend on its random
/// bytes: two elements have the same order in all of them with a probability of 1/128.
const ALIKE: u64 = 8;

/// Number of seeds from which the builds are chosen.
const PROBED: u64 = 64;

/// Time after which no more seeds of one program are tried.
const PATIENCE: Duration = Duration::from_secs(20);

/// Builds of a project in which programs take other random bytes; by default there are none.
#[derive(Debug, Default)]
pub struct Rebuilds {
    plan: BuildPlan,
    /// Our folder in the project's target directory.
    home: Utf8PathBuf,
    /// The programs that make something else of other bytes, after those that do by chance.
    pub variations: Vec<Variation>,
}

/// A build script or a proc macro that makes something else of other random bytes or, by chance, of
/// the same ones.
#[derive(Debug)]
pub struct Variation {
    /// The package that the program is part of.
    pub package: String,
    /// The root of the proc macro; `None` for a build script.
    pub proc_macro: Option<Utf8PathBuf>,
    /// The packages in which it may decide about a test.
    pub affected: BTreeSet<String>,
    /// The seeds of the builds that are to be compared: together they have each word of what the
    /// program makes in each place, as far as there are enough. Numbers of builds where chance
    /// decides.
    pub seeds: Vec<u64>,
    varied: Varied,
    varies: Varies,
}

/// How a program comes to make something else.
#[derive(Debug)]
enum Varies {
    /// By the seed: what it makes under each.
    BySeed(BTreeMap<u64, Made>),
    /// By chance: these files.
    ByChance(Vec<Utf8PathBuf>),
}

impl Variation {
    /// Whether no seed decides what the program makes.
    pub const fn is_by_chance(&self) -> bool {
        matches!(self.varies, Varies::ByChance(_))
    }

    /// A file that is never the same in a build in which a test passes and one in which it fails:
    /// in the folder `OUT_DIR` of a build script, its output, or the root of a proc macro. The one
    /// with the fewest contents.
    pub fn file(&self, passes: &[u64], fails: &[u64]) -> Option<Utf8PathBuf> {
        if let Some(root) = &self.proc_macro {
            return Some(root.clone());
        }
        let made = match &self.varies {
            Varies::BySeed(made) => made,
            Varies::ByChance(files) => return files.first().cloned(),
        };
        let of = |seed: &u64, file: &(usize, Utf8PathBuf)| made[seed].content(file);
        let files: BTreeSet<_> = made.values().flat_map(Made::files).collect();
        let decides = |file: &(usize, Utf8PathBuf)| {
            passes.iter().all(|pass| fails.iter().all(|fail| of(pass, file) != of(fail, file)))
        };
        // One with as many contents as builds fits whatever decides.
        let contents = |file: &&(usize, Utf8PathBuf)| {
            let all = self.seeds.iter().map(|seed| of(seed, file));
            all.collect::<BTreeSet<_>>().len()
        };
        let decisive = files.into_iter().filter(|file| decides(file));
        decisive.min_by_key(contents).map(|(_, name)| name.clone())
    }

    /// The first file that is not the same in all builds.
    pub fn first_file(&self) -> Option<Utf8PathBuf> {
        let (first, others) = self.seeds.split_first()?;
        others.iter().find_map(|other| self.file(&[*first], &[*other]))
    }
}

impl Rebuilds {
    /// Finds out which of the programs that took random bytes make something else of other ones.
    /// Of those that read what no seed decides, which make something else each time. Does not
    /// build anything.
    ///
    /// # Errors
    /// When cargo cannot read the workspace, or the programs cannot be given other bytes.
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
                // Where chance decides as well, it does whatever the seed is.
                programs.entry((!drawn.by_chance, &owner.id, program)).or_default().push(drawn);
            }
        }
        if programs.is_empty() {
            return Ok(rebuilds);
        }
        let library = EntropyLibrary::in_workspace(&project.workspace_root)?;
        let home = &rebuilds.home;
        let scratch = Scratch::create(home, "drawn")
            .map_err(|e| Error::setup(format!("failed to create a folder in `{home}`: {e}")))?;
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

    /// The packages in which one of the programs may decide about a test.
    pub fn affected(&self) -> impl Iterator<Item = &String> {
        self.variations.iter().flat_map(|variation| &variation.affected)
    }

    /// Waits until nobody else compares builds of the project, because each replaces the one
    /// before. Nobody else does while the file is held. `None` where the file system has no locks.
    pub fn lock(&self) -> Option<File> {
        let file = File::create(self.home.join(format!("{REBUILT}.only"))).ok()?;
        file.lock().is_ok().then_some(file)
    }

    /// Builds the tests with random bytes from `seed` for one program, without this tool in them.
    /// Where chance decides what it makes, the seed is only the number of the build.
    /// They are replaced by the next such build.
    ///
    /// # Errors
    /// As [`build`](build()).
    pub fn build(&self, variation: &Variation, seed: u64) -> Result<Project> {
        let seed = if variation.is_by_chance() { 0 } else { seed };
        let plan =
            BuildPlan { varied: Varied { seed, ..variation.varied.clone() }, ..self.plan.clone() };
        build(&plan, true)
    }
}

/// What the programs make in one run of each.
fn made(
    drawn: &[&Drawn],
    run: impl Fn(&Drawn, u64) -> Option<BTreeMap<Utf8PathBuf, Vec<u8>>>,
    seed: u64,
) -> Made {
    Made::of((0..).zip(drawn).filter_map(|(number, one)| Some((number, run(one, seed)?))))
}

/// The files that programs make differently in two runs with one seed; `None` if there are none.
fn repeat(
    drawn: &[&Drawn],
    run: impl Fn(&Drawn, u64) -> Option<BTreeMap<Utf8PathBuf, Vec<u8>>>,
) -> Option<(Vec<u64>, Varies)> {
    let [first, again] = [(); 2].map(|()| made(drawn, &run, 0));
    let files = first.otherwise(&again);
    (!files.is_empty()).then(|| ((0..made::BUILDS as u64).collect(), Varies::ByChance(files)))
}

/// What programs make under seeds, if that differs: under the first few, and under many if so.
/// Files and words that differ between runs with one seed depend on something else, and are left
/// out.
fn vary(
    drawn: &[&Drawn],
    run: impl Fn(&Drawn, u64) -> Option<BTreeMap<Utf8PathBuf, Vec<u8>>>,
) -> Option<(Vec<u64>, Varies)> {
    let begin = Instant::now();
    let of_seed = |seed| made(drawn, &run, seed);
    let first = of_seed(0);
    let again = of_seed(0);
    let mut made = BTreeMap::from([(0, first.only_as_in(&again))]);
    for seed in 1..PROBED {
        let is_alike = made.values().all(|one| *one == made[&0]);
        let is_late = begin.elapsed() > PATIENCE && seed > 2;
        if is_late || is_alike && seed >= ALIKE {
            break;
        }
        let one = of_seed(seed).only_places_of(&made[&0]);
        made.insert(seed, one);
    }
    if made.values().all(|one| *one == made[&0]) {
        return None;
    }
    // A date may have changed since.
    let first = made[&0].clone().only_as_in(&of_seed(0).only_places_of(&made[&0]));
    let mut made: BTreeMap<u64, Made> =
        made.into_iter().map(|(seed, one)| (seed, one.only_places_of(&first))).collect();
    let seeds = made::choose(&made);
    made.retain(|seed, _| seeds.contains(seed));
    (seeds.len() > 1).then_some((seeds, Varies::BySeed(made)))
}

/// The target of a package that is the proc macro with this crate name.
fn macro_of<'a>(package: &'a Package, name: &str) -> Option<&'a cargo_metadata::Target> {
    package.targets.iter().find(|target| {
        target.kind.contains(&TargetKind::ProcMacro) && target.name.replace('-', "_") == name
    })
}

/// The packages of a project that no registry has, and which of them uses which.
struct Graph<'a> {
    packages: BTreeMap<&'a PackageId, &'a Package>,
    /// The packages that use one.
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

    /// The package with its manifest in this folder.
    fn in_folder(&self, folder: &Utf8Path) -> Option<&'a Package> {
        let mut packages = self.packages.values();
        packages.find(|package| package.manifest_path.parent() == Some(folder)).copied()
    }

    /// The package that a program is part of.
    fn owner(&self, drawn: &Drawn) -> Option<&'a Package> {
        match drawn.macro_name() {
            Some(name) => {
                self.packages.values().find(|package| macro_of(package, name).is_some()).copied()
            }
            None => self.in_folder(drawn.package()?),
        }
    }

    /// These packages, and all that use one of them, directly or not.
    fn affected(&self, packages: &BTreeSet<&'a PackageId>) -> BTreeSet<&'a PackageId> {
        let mut affected = packages.clone();
        let mut open: Vec<&PackageId> = packages.iter().copied().collect();
        while let Some(package) = open.pop() {
            let users = self.users.get(package).into_iter().flatten();
            open.extend(users.filter(|user| affected.insert(user)));
        }
        affected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_files_that_differ_the_one_is_named_that_varies_least() {
        // The first file is another one in each build, so it fits whatever decides.
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
        let file = |passes: &[u64], fails: &[u64]| variation.file(passes, fails);
        assert_eq!(file(&[0, 3], &[1, 2, 4]), Some("names.rs".into()));
        // Whatever decides here is not in it.
        assert_eq!(file(&[0, 1], &[2, 3, 4]), Some("all.rs".into()));
    }
}
