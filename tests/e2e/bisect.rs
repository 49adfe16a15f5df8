//! `bisect` finds the commit that made a test flaky, in a history written for these tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::bisection::{Bisection, FileCounts};

use crate::support::{Fixture, Nondex, commit, committed, edit, git, git_at_noon};

/// Number of commits, without those of a branch and its merge.
const COMMITS: usize = 60;

/// Project that grows commit by commit.
#[derive(Default)]
struct Source {
    filler: usize,
    has_names: bool,
    /// A test that the first test replaces line by line.
    has_forerunner: bool,
    has_victim: bool,
    has_polluter: bool,
    has_brittle: bool,
    has_chance: bool,
    has_race: bool,
    /// The race test is temporarily removed.
    is_away: bool,
    is_racy: bool,
    is_broken: bool,
    /// The module of the first test and its function have new names.
    is_renamed: bool,
    is_moved: bool,
    is_unsorted: bool,
    is_later: bool,
    is_flaky: bool,
}

impl Source {
    fn write(&self, root: &Path) {
        let module = if self.is_moved { "listing" } else { "names" };
        let ready = u8::from(!self.is_later);
        let dep = format!(
            "use std::sync::atomic::{{AtomicBool, Ordering}};\n\n\
             static READY: AtomicBool = AtomicBool::new({ready} == 1);\n\npub fn init() {{\n    \
             READY.store(true, Ordering::SeqCst);\n}}\n\npub fn ready() -> bool {{\n    \
             READY.load(Ordering::SeqCst)\n}}\n"
        );
        let sort = if self.is_unsorted { "names.truncate(9);" } else { "names.sort();" };
        let count = if self.is_racy {
            "counter.store(counter.load(SeqCst) + 1, SeqCst);"
        } else {
            "counter.fetch_add(1, SeqCst);"
        };
        let broken = if self.is_broken { "no Rust" } else { "" };
        let lib = format!(
            "pub const FILLER: usize = {};\n\npub fn names(folder: &std::path::Path) -> \
             Vec<std::ffi::OsString> {{\n    \
             let entries = std::fs::read_dir(folder).unwrap();\n    \
             let mut names: Vec<_> = entries.map(|entry| \
             entry.unwrap().file_name()).collect();\n    {sort}\n    names\n}}\n\n\
             pub fn count(counter: &std::sync::atomic::AtomicU32) \
             {{\n    use std::sync::atomic::Ordering::SeqCst;\n    {count}\n}}\n\n\
             pub static MODE: std::sync::atomic::AtomicU32 = \
             std::sync::atomic::AtomicU32::new(0);\n{broken}\n\
             #[cfg(test)]\nmod {module};\n",
            self.filler
        );
        let mut tests = "use std::sync::atomic::Ordering;\n\nuse super::*;\n".to_owned();
        let mut test = |is_there: bool, name: &str, body: &str| {
            if is_there {
                tests.push_str(&format!("\n#[test]\nfn {name}() {{\n{body}}}\n"));
            }
        };
        test(
            self.has_forerunner,
            "makes_a_folder",
            "    let folder = std::env::temp_dir().join(format!(\"folder-{}\", \
             std::process::id()));\n    std::fs::create_dir_all(&folder).unwrap();\n    \
             assert!(folder.is_dir());\n    let names = names(&folder);\n    \
             std::fs::remove_dir_all(&folder).unwrap();\n    assert_eq!(names, [\"\"; 0]);\n",
        );
        test(
            self.has_names,
            if self.is_renamed { "names_are_sorted" } else { "reads_names" },
            "    let folder = std::env::temp_dir().join(format!(\"names-{}\", \
             std::process::id()));\n    std::fs::create_dir_all(&folder).unwrap();\n    \
             for name in [\"b\", \"a\", \"c\", \"d\"] {\n        \
             std::fs::write(folder.join(name), \"\").unwrap();\n    }\n    \
             let names = names(&folder);\n    std::fs::remove_dir_all(&folder).unwrap();\n    \
             assert_eq!(names, [\"a\", \"b\", \"c\", \"d\"]);\n",
        );
        test(self.has_victim, "mode_is_clean", "    assert_eq!(MODE.load(Ordering::SeqCst), 0);\n");
        test(self.has_polluter, "a_mode_is_set", "    MODE.store(1, Ordering::SeqCst);\n");
        test(self.has_brittle, "b_init", "    dep::init();\n");
        test(self.has_brittle, "is_ready", "    assert!(dep::ready());\n");
        test(
            self.has_race && !self.is_away,
            "counts_all",
            "    let counter = std::sync::atomic::AtomicU32::new(0);\n    \
             std::thread::scope(|scope| {\n        scope.spawn(|| count(&counter));\n\
             \x20       scope.spawn(|| count(&counter));\n    });\n    \
             assert_eq!(counter.load(Ordering::SeqCst), 2);\n",
        );
        let third = if self.is_flaky { "now % 3 > 0" } else { "now < 1_000_000_000" };
        test(
            self.has_chance,
            "takes_its_time",
            &format!(
                "    let now = \
                 std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();\n    \
                 let now = now.subsec_nanos();\n    assert!({third}, \"{{now}}\");\n"
            ),
        );
        for (file, text) in [
            (
                "Cargo.toml",
                "[package]\nname = \"gen\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
                 [workspace]\nmembers = [\"dep\"]\n\n[dependencies]\ndep = { path = \"dep\" }\n",
            ),
            (
                "dep/Cargo.toml",
                if self.is_later {
                    "[package]\nname = \"dep\"\nversion = \"2.0.0\"\nedition = \"2024\"\n"
                } else {
                    "[package]\nname = \"dep\"\nversion = \"1.0.0\"\nedition = \"2024\"\n"
                },
            ),
            ("dep/src/lib.rs", &dep),
            ("src/lib.rs", &lib),
            (&format!("src/{module}.rs"), &tests),
            (".gitignore", "target\nCargo.lock\n"),
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        if self.is_moved {
            let _ = fs::remove_file(root.join("src/names.rs"));
        }
    }
}

/// Repository whose commits are one day apart.
struct Repository {
    project: Fixture,
    commits: u64,
    /// Hashes of the commits, by the names of what they changed.
    notable: BTreeMap<&'static str, String>,
}

impl Repository {
    fn git(&self, arguments: &[&str]) -> String {
        let date = format!("{} +0000", 1_767_225_600 + self.commits * 24 * 60 * 60);
        git(&self.project, &date, arguments)
    }

    fn commit(&mut self, source: &Source, notable: Option<&'static str>) {
        source.write(&self.project.path(""));
        self.commits += 1;
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", notable.unwrap_or("filler")]);
        if let Some(name) = notable {
            self.notable.insert(name, self.git(&["rev-parse", "HEAD"]));
        }
    }

    fn new() -> Self {
        let project = Fixture::new("no-tests");
        for entry in fs::read_dir(project.path("")).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        let mut repository = Repository { project, commits: 0, notable: BTreeMap::new() };
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        let mut source = Source::default();
        for number in 0..COMMITS {
            source.filler = number;
            let mut notable = None;
            let mut does = |flag: &mut bool, name: &'static str| {
                *flag = true;
                notable = Some(name);
            };
            match number {
                1 => source.has_forerunner = true,
                3 => {
                    source.has_forerunner = false;
                    does(&mut source.has_names, "names");
                }
                7 => does(&mut source.has_victim, "victim"),
                9 => does(&mut source.has_brittle, "brittle"),
                11 => does(&mut source.has_chance, "chance"),
                15 => does(&mut source.has_race, "race"),
                17 => does(&mut source.is_renamed, "renamed"),
                23 => does(&mut source.is_moved, "moved"),
                25 => does(&mut source.is_broken, "broken"),
                28 => source.is_broken = false,
                31 => does(&mut source.is_unsorted, "unsorted"),
                36 => does(&mut source.is_later, "later"),
                41 => does(&mut source.has_polluter, "polluter"),
                44 => does(&mut source.is_racy, "racy"),
                47 => does(&mut source.is_flaky, "flaky"),
                48 => source.is_away = true,
                50 => source.is_away = false,
                _ => {}
            }
            if number == 13 {
                repository.git(&["checkout", "--quiet", "-b", "side"]);
                repository.git(&["commit", "--quiet", "--allow-empty", "--message", "beside"]);
                repository.git(&["checkout", "--quiet", "main"]);
            }
            repository.commit(&source, notable);
            if number == 13 {
                repository.git(&["merge", "--quiet", "--no-ff", "--message", "merge", "side"]);
            }
        }
        repository
    }

    /// Returns the contents of all of git's files.
    fn kept(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.project.path(".git")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.display().to_string(), fs::read(path).unwrap());
                }
            }
        }
        found
    }

    fn bisect(&self, test: &str) -> Nondex {
        Nondex::reported(&self.project.path(""), "bisect").arg(test)
    }
}

/// Asserts what `bisect` finds in the history of each of these tests.
fn expect_found(repository: &Repository, tests: &[&str]) {
    Nondex::command(&repository.project.path(""), "check")
        .arg("--offline")
        .run()
        .expect(ExitCode::Found);
    let test_and_code = FileCounts { test: 1, code: 1, ..FileCounts::default() };
    let known = [
        (
            "names_are_sorted",
            "ID",
            "names",
            "unsorted",
            8,
            FileCounts { code: 1, ..FileCounts::default() },
        ),
        ("mode_is_clean", "OD-victim", "victim", "polluter", 8, test_and_code),
        (
            "is_ready",
            "OD-brittle",
            "brittle",
            "later",
            8,
            FileCounts { code: 2, build: 1, ..FileCounts::default() },
        ),
        (
            "counts_all",
            "ND",
            "race",
            "racy",
            // Two commits without the test are in the middle of the range.
            10,
            FileCounts { code: 1, ..FileCounts::default() },
        ),
        ("takes_its_time", "ND", "chance", "flaky", 10, test_and_code),
    ];
    let known = known.into_iter().filter(|(test, ..)| tests.contains(test));
    let mut found = 0;
    for (test, category, introduced, since, builds, files) in known {
        found += 1;
        let output = repository.bisect(test).run();
        output.expect(ExitCode::Ok);
        let found: Bisection = serde_json::from_str(&output.stdout).unwrap();
        // Chance decides between these two categories.
        let is_chance = category == "ND" && found.category == "UD";
        assert!(found.category == category || is_chance, "{found:#?}");
        assert_eq!(found.introduced.unwrap().commit, repository.notable[introduced], "{test}");
        let flaky = found.flaky_since.unwrap();
        assert_eq!(flaky.commit.commit, repository.notable[since], "{test}: {:?}", found.steps);
        assert_eq!(flaky.files, files, "{test}");
        assert_eq!(found.remaining, Vec::<String>::new(), "{test}");
        assert!(found.builds <= builds, "{test}: {} builds: {:?}", found.builds, found.steps);
        let line = flaky.line.map(|line| (line.file, line.line));
        let expected = match test {
            "names_are_sorted" => Some(6),
            "counts_all" => Some(12),
            _ => None,
        };
        let expected = expected.map(|line| ("src/lib.rs".to_owned(), line));
        assert_eq!(line, expected, "{test}");
    }
    assert_eq!(found, tests.len());
}

#[test]
#[ignore = "second tier: more tests in the same history"]
fn a_history_tells_what_made_brittle_and_racy_tests_flaky_and_those_of_chance() {
    expect_found(&Repository::new(), &["is_ready", "counts_all", "takes_its_time"]);
}

#[test]
fn a_history_tells_which_commit_introduced_a_test_and_which_made_it_flaky() {
    let repository = Repository::new();
    let root = repository.project.path("");
    let before = repository.kept();
    expect_found(&repository, &["names_are_sorted", "mode_is_clean"]);
    // The results are known, and the user's repository is unchanged.
    let again: Bisection =
        serde_json::from_str(&repository.bisect("mode_is_clean").run().stdout).unwrap();
    assert_eq!((again.builds, again.runs), (0, 0));
    assert_eq!(repository.kept(), before);
    // A clone has no report.
    let (latest, aside) = (root.join("target/nondex/latest"), root.join("target/latest"));
    fs::rename(&latest, &aside).unwrap();
    let output = repository.bisect("mode_is_clean").run();
    output.prints(&["there is no report yet"]);
    let again: Bisection = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&*again.category, again.builds), ("OD-victim", 0));
    fs::remove_dir_all(&latest).unwrap();
    fs::rename(&aside, &latest).unwrap();

    // If the commit itself cannot be tried, the possible commits are reported.
    let (good, bad) = (&repository.notable["moved"], &repository.notable["unsorted"]);
    let output = repository.bisect("names_are_sorted").args(["--good", good, "--bad", bad]).run();
    let found: Bisection = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(found.flaky_since.unwrap().commit.commit, *bad);
    for (arguments, code, expected) in [
        (["--good", "nowhere"], ExitCode::Usage, "names no commit"),
        (["--good", "HEAD"], ExitCode::Usage, "flaky at"),
        (["--bad", good], ExitCode::Setup, "not found to be flaky"),
    ] {
        let output = repository.bisect("names_are_sorted").args(arguments).run();
        output.expect(code);
        assert!(output.stderr.contains(expected), "{}", output.stderr);
    }
    fs::rename(root.join(".git"), root.join("no-git")).unwrap();
    let output = repository.bisect("names_are_sorted").run();
    output.expect(ExitCode::Setup);
    assert!(output.stderr.contains("no history"), "{}", output.stderr);
}

#[test]
fn a_victim_of_another_binary_is_followed_though_its_package_had_another_name() {
    let package = |name: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
    };
    let leaves = "#[test]\nfn makes_a_folder() {\n    \
        std::fs::create_dir_all(\"out/deep\").unwrap();\n    \
        std::fs::remove_dir_all(\"out\").unwrap();\n}\n";
    let finds = "#[test]\nfn finds_no_folder() {\n    \
        assert!(!std::path::Path::new(\"out\").exists());\n}\n";
    let project = committed(&[("tests/a.rs", leaves), ("tests/b.rs", finds)]);
    let head = || git_at_noon(&project, &["rev-parse", "HEAD"]);
    let introduced = head();
    edit(&project, "tests/a.rs", &[("std::fs::remove_dir_all(\"out\").unwrap();", "")]);
    commit(&project);
    let since = head();
    fs::write(project.path("Cargo.toml"), package("renamed")).unwrap();
    commit(&project);
    let check = ["--offline", "--seeds", "0"];
    Nondex::command(&project.path(""), "check").args(check).run().expect(ExitCode::Found);
    assert_flaky_since(&project, "finds_no_folder", &since, &introduced);
}

#[test]
fn a_test_that_was_fixed_and_is_flaky_again_is_flaky_since_the_last_change() {
    let source = "pub fn names() -> Vec<u32> {\n    \
        let set: std::collections::HashSet<u32> = [1, 2, 3].into();\n    \
        let names: Vec<u32> = set.iter().copied().collect();\n    names\n}\n\n\
        #[test]\nfn has_names() {\n    assert_eq!(names(), [1, 2, 3]);\n}\n";
    let project = committed(&[("src/lib.rs", source)]);
    let head = || git_at_noon(&project, &["rev-parse", "HEAD"]);
    let introduced = head();
    let [hash, tree] = ["std::collections::HashSet", "std::collections::BTreeSet"];
    edit(&project, "src/lib.rs", &[(hash, tree)]);
    commit(&project);
    edit(&project, "src/lib.rs", &[("pub fn", "// Names.\npub fn")]);
    commit(&project);
    edit(&project, "src/lib.rs", &[(tree, hash)]);
    commit(&project);
    let since = head();
    Nondex::command(&project.path(""), "run").arg("--offline").run().expect(ExitCode::Found);
    assert_flaky_since(&project, "has_names", &since, &introduced);
}

/// Asserts that `bisect` finds the commit that made a test flaky, and the one that introduced the
/// test.
fn assert_flaky_since(project: &Fixture, test: &str, since: &str, introduced: &str) {
    let output = Nondex::reported(&project.path(""), "bisect").arg(test).run();
    output.expect(ExitCode::Ok);
    let found: Bisection = serde_json::from_str(&output.stdout).unwrap();
    let steps = found.steps;
    assert_eq!(found.flaky_since.unwrap().commit.commit, since, "{steps:?}");
    assert_eq!(found.introduced.unwrap().commit, introduced);
}
