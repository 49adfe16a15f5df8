//! The configuration file and the variables: precedence of the sources, and messages for a wrong
//! file.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cargo_nondex::cli::{Command as CliCommand, ConfirmArgs, RunArgs};
use cargo_nondex::command::configuration::{self, Refusal};
use cargo_nondex::exit_code::ExitCode;
use nondex_core::Level;

/// Configuration file in a separate folder.
struct Configured {
    folder: tempfile::TempDir,
}

impl Configured {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("nondex.toml"), text).unwrap();
        Configured { folder }
    }

    fn file(&self) -> String {
        let path = self.folder.path().join("nondex.toml");
        path.to_str().unwrap().to_owned()
    }

    /// Parses the words of a line, split at spaces, with these variables.
    fn parse(&self, line: &str, variables: &[(&str, &str)]) -> Result<CliCommand, String> {
        self.configured(line, variables).map(|parsed| parsed.command)
    }

    fn configured(
        &self,
        line: &str,
        variables: &[(&str, &str)],
    ) -> Result<configuration::Asked, String> {
        let mut words = vec!["cargo-nondex".to_owned()];
        words.extend(line.split(' ').filter(|w| !w.is_empty()).map(str::to_owned));
        let at = words.iter().position(|word| word == "confirm");
        words.insert(at.map_or(1, |at| at + 1), format!("--config-file={}", self.file()));
        let variables =
            variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        match configuration::understand(words.into_iter().map(OsString::from), variables) {
            Ok(parsed) => Ok(parsed),
            Err(Refusal::Usage(error)) => Err(error.to_string()),
            Err(Refusal::Setup(error)) => {
                assert_eq!(error.code(), ExitCode::Setup);
                Err(error.to_string())
            }
        }
    }

    fn run(&self, line: &str, variables: &[(&str, &str)]) -> RunArgs {
        match self.parse(line, variables) {
            Ok(CliCommand::Run(args)) => *args,
            other => panic!("not a run: {other:?}"),
        }
    }

    fn confirm(&self, line: &str, variables: &[(&str, &str)]) -> ConfirmArgs {
        match self.parse(line, variables) {
            Ok(CliCommand::Confirm(args)) => *args,
            other => panic!("not a confirm: {other:?}"),
        }
    }
}

/// Returns the message for a configuration with this text, without the path of the temporary file.
fn message(text: &str) -> String {
    let configured = Configured::new(text);
    let message = configured.parse("", &[]).unwrap_err();
    message.replace(&configured.file(), "nondex.toml")
}

#[test]
fn the_command_line_wins_over_a_variable_over_the_profile_over_the_default_profile() {
    let file = Configured::new(
        "[profile.default]\nclean-runs = 7\nseeds = 7\ntimeout = 7\nlevels = ['STD', 'ONE']\n\
         [profile.ci]\nclean-runs = 6\nseeds = [6]\ntimeout = 6.5\n",
    );
    let variables = [("NONDEX_CLEAN_RUNS", "5"), ("NONDEX_SEEDS", "5")];
    let args = file.run("-P ci --clean-runs 4", &variables);
    assert_eq!(args.clean_runs.unwrap().get(), 4);
    assert_eq!(args.seeds(), [0, 1, 2, 3, 4]);
    assert_eq!(args.testing.timeout, Some(Duration::from_millis(6500)));
    assert_eq!(args.levels(), [Level::Std, Level::One]);

    let args = file.run("", &[("NONDEX_PROFILE", "ci")]);
    assert_eq!(args.seeds(), [6]);
    assert_eq!(file.run("", &[]).seeds().len(), 7);
    // A list is replaced as a whole.
    assert_eq!(file.run("--levels FULL", &[]).levels(), [Level::Full]);
    assert_eq!(file.run("", &[("NONDEX_LEVELS", "FULL,ID")]).levels(), [Level::Id, Level::Full]);
}

#[test]
fn what_a_file_or_a_variable_switches_on_the_command_line_switches_off() {
    let file = Configured::new("[profile.default]\nstrict = true\n");
    let strict = |line: &str, variables: &[(&str, &str)]| file.run(line, variables).strict;
    assert_eq!(strict("", &[]), Some(true));
    assert_eq!(strict("--strict=false", &[]), Some(false));
    assert_eq!(strict("", &[("NONDEX_STRICT", "no")]), Some(false));
    assert_eq!(strict("--strict", &[("NONDEX_STRICT", "no")]), Some(true));
    // An empty variable counts as unset.
    assert_eq!(strict("", &[("NONDEX_STRICT", "")]), Some(true));
}

#[test]
fn an_option_that_cannot_be_used_with_a_more_important_one_is_left_out() {
    let file = Configured::new(
        "[profile.default]\nseeds = 3\ncargo-profile = 'ci'\nworkspace = true\nexclude = 'x'\n",
    );
    let args = file.run("--seed 9 --release -p a", &[]);
    assert_eq!(args.seeds(), [9]);
    assert_eq!(args.testing.project.build.cargo_profile, None);
    assert_eq!(
        (args.testing.project.build.workspace, args.testing.project.build.packages.len()),
        (None, 1)
    );
    assert_eq!(args.testing.project.build.exclude, [""; 0]);
    let args = file.run("--exclude y", &[]);
    assert_eq!(args.testing.project.build.workspace, Some(true));
    assert_eq!(args.testing.project.build.exclude, ["y"]);
    let args = file.run("", &[("NONDEX_PACKAGE", "a")]);
    assert_eq!(
        (args.testing.project.build.workspace, args.testing.project.build.packages.len()),
        (None, 1)
    );
}

#[test]
fn every_kind_of_value_is_read_as_on_the_command_line() {
    let file = Configured::new(
        "[profile.default]\nseeds = [4, '8..10']\npackage = ['a', 'b']\nfeatures = 'x y'\n\
         filterset = ['test(a)', 'test(b)']\nnetwork-allow = 'a.example,b.example'\n\
         max-sanitised = '5%'\njobs = 3\nmode = 'swap'\nregressions = 'known.json'\n",
    );
    let args = file.run("", &[]);
    assert_eq!(args.seeds(), [4, 8, 9]);
    assert_eq!(args.testing.project.build.packages, ["a", "b"]);
    assert_eq!(args.testing.project.build.features, ["x y"]);
    assert_eq!(args.testing.project.filter.filtersets.len(), 2);
    assert_eq!(args.testing.network.network_allow, ["a.example", "b.example"]);
    assert_eq!(args.testing.network.max_sanitised.unwrap().to_string(), "5%");
    assert_eq!(args.testing.project.build.jobs.unwrap().get(), 3);
    // Paths are relative to the workspace of these tests.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let regressions = args.regressions.unwrap().into_std_path_buf();
    assert_eq!(regressions, root.join("known.json"));
}

#[test]
fn a_number_of_jobs_leaves_processors_free_as_on_the_command_line() {
    let jobs = |value: &str, variables: &[(&str, &str)]| {
        let file = Configured::new(&format!("[profile.default]\njobs = {value}\n"));
        file.run("", variables).testing.project.build.jobs.unwrap()
    };
    let all = std::thread::available_parallelism().unwrap();
    assert_eq!(jobs("'num-cpus'", &[]), all);
    assert_eq!(jobs("-1000", &[]).get(), 1);
    assert_eq!(jobs("3", &[("NONDEX_JOBS", "-1000")]).get(), 1);
}

#[test]
fn other_commands_take_what_means_the_same_there() {
    let file = Configured::new("[profile.default]\npackage = 'a'\nseeds = 5\ntimeout = 9\n");
    let args = file.confirm("confirm x", &[("NONDEX_JOBS", "2")]);
    assert_eq!(args.project.build.packages, ["a"]);
    assert_eq!(args.timeout, Some(Duration::from_secs(9)));
    assert_eq!(args.project.build.jobs.unwrap().get(), 2);
    assert!(args.seeds.is_none(), "its seeds are another thing");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of files and messages")]
fn a_file_that_is_wrong_is_refused_with_its_place_and_what_was_expected() {
    for (text, expected) in [
        (
            "[profile.default]\nleves = 'STD'\n",
            "nondex.toml:2:1: unknown key `leves`: did you mean `levels`?",
        ),
        (
            "[profile.ci]\nclean_runs = 3\n",
            "nondex.toml:2:1: unknown key `clean_runs`: did you mean `clean-runs`?",
        ),
        ("[profil.default]\n", "nondex.toml:1:2: unknown key `profil`: did you mean `profile`?"),
        (
            "[profile.default]\nlevels = ['STD', 'FUL']\n",
            "nondex.toml:2:18: `levels = ['STD', 'FUL']`: unknown level `FUL`, expected one of \
             STD, ONE, EQ, ID, FULL",
        ),
        (
            "[profile.default]\nnetwork = 'none'\n",
            "nondex.toml:2:11: `network = 'none'`: `none`: expected one of off, observe, block, \
             fault",
        ),
        (
            "[profile.default]\nschedule = 'systematic'\n",
            "nondex.toml:2:12: `schedule = 'systematic'`: expected covering or random",
        ),
        (
            "[profile.default]\nstrict = 'yes'\n",
            "nondex.toml:2:10: `strict = 'yes'`: invalid type: string \"yes\", expected a boolean",
        ),
        (
            "[profile.default]\ntimeout = { soft = 3 }\n",
            "nondex.toml:2:11: `timeout = { soft = 3 }`: invalid type: map, expected a string or \
             a number",
        ),
        (
            "[profile.default]\nseeds = [3, true]\n",
            "nondex.toml:2:13: `seeds = [3, true]`: invalid type: boolean `true`, expected a \
             string or a number",
        ),
        (
            "[profile.default]\nmode = ['swap', 'program']\n",
            "nondex.toml:2:8: `mode = ['swap', 'program']`: a list is not allowed here",
        ),
        (
            "[profile.default]\nmodels = '('\n",
            "nondex.toml:2:10: `models = '('`: regex parse error",
        ),
        (
            "[profile.default]\nfilterset = 'test('\n",
            "nondex.toml:2:13: `filterset = 'test('`: expected `)`",
        ),
        (
            "[profile.default]\nseed = 3\n",
            "nondex.toml:2:1: unknown key `seed`: did you mean `seeds`?",
        ),
        ("[profile.default\n", "nondex.toml:1:17: "),
        (
            "profile = 3\n",
            "nondex.toml:1:11: `profile = 3`: invalid type: integer `3`, expected a map",
        ),
        (
            "[[profile.default.overrides]]\nlevels = ['STD']\n",
            "nondex.toml:1:1: `[[profile.default.overrides]]`: missing key `filter`",
        ),
        (
            "[[profile.default.overrides]]\nfilter = 'tset(a)'\n",
            "nondex.toml:2:10: `filter = 'tset(a)'`: ",
        ),
        (
            "[[profile.default.overrides]]\nfilter = 'all()'\nlevel = ['STD']\n",
            "nondex.toml:3:1: unknown key `level`: did you mean `levels`?",
        ),
        (
            "[[profile.default.overrides]]\nfilter = 'all()'\nlevels = []\n",
            "nondex.toml:3:10: `levels = []`: a list is not allowed here, or must not be empty",
        ),
        (
            "[[profile.default.overrides]]\nfilter = 'all()'\nmodels-off = ['hash_mpa']\n",
            "nondex.toml:3:15: `models-off = ['hash_mpa']`: `hash_mpa` matches no model: did you \
             mean `hash_map`?",
        ),
        (
            "[[profile.default.overrides]]\nfilter = 'all()'\ntimeout = 0\n",
            "nondex.toml:3:11: `timeout = 0`: expected a time above 0",
        ),
        (
            "[[sanitise]]\nname = 'a'\nreason = 'b'\noperation = 'exce'\nerror = 'ENOENT'\n",
            "nondex.toml:4:13: `operation = 'exce'`: `exce` is not known: did you mean `exec`?",
        ),
        (
            "[[sanitise]]\nname = 'a'\nreason = 'b'\noperation = 'exec'\n\
             error = ['EPERM', 'ENOENTT']\n",
            "nondex.toml:5:19: `error = ['EPERM', 'ENOENTT']`: `ENOENTT` is not known: did you \
             mean `ENOENT`?",
        ),
        (
            "[[sanitise]]\nname = 'a'\nreason = 'b'\nop = 'exec'\nerror = 'EPERM'\n",
            "nondex.toml:4:1: unknown key `op`: ",
        ),
        (
            "[[sanitise]]\nname = 'a'\noperation = 'exec'\nerror = 'EPERM'\n",
            "nondex.toml:1:1: `[[sanitise]]`: missing key `reason`",
        ),
        (
            "[[sanitise]]\nname = 'network'\nreason = 'b'\noperation = 'exec'\nerror = 'EPERM'\n",
            "nondex.toml:1:1: `network` is the name of the built-in sanitiser",
        ),
        (
            "[profile.default]\noverrides = 3\n",
            "nondex.toml:2:13: `overrides = 3`: invalid type: integer `3`, expected a sequence",
        ),
    ] {
        let message = message(text);
        assert!(message.starts_with(expected), "{text}: {message}");
    }
}

#[test]
fn a_profile_or_a_file_that_is_not_there_is_an_error() {
    let file = Configured::new("[profile.ci]\n");
    let message = file.parse("-P cii", &[]).unwrap_err();
    assert!(message.contains("did you mean `ci`?"), "{message}");
    // The default profile need not be in the file.
    file.run("--profile default", &[]);
    let message = file.parse("--profile release", &[]).unwrap_err();
    assert!(message.contains("--cargo-profile release"), "{message}");
    let absent = file.parse("", &[]).map(|_| ());
    assert_eq!(absent, Ok(()));
    std::fs::remove_file(file.file()).unwrap();
    let message = file.parse("", &[]).unwrap_err();
    assert!(message.contains("failed to read"), "{message}");
}

#[test]
fn overrides_of_a_profile_come_before_those_of_the_default_one() {
    let file = Configured::new(
        "[[profile.default.overrides]]\nfilter = 'all()'\ntimeout = 9\nlevels = 'STD,ONE'\n\
         [[profile.ci.overrides]]\nfilter = 'test(slow)'\ntimeout = 99\nsanitise = false\n",
    );
    let parsed = file.configured("-P ci --levels FULL", &[]).unwrap();
    let overrides = parsed.config.profile.overrides.iter();
    let timeouts = overrides.map(|one| one.get_ref().timeout);
    let seconds = |n| Some(Duration::from_secs(n));
    assert_eq!(timeouts.collect::<Vec<_>>(), [seconds(99), seconds(9)]);
    assert!(parsed.given.levels, "the command line wins");
    assert!(!parsed.given.timeout);
}

#[test]
fn sanitisers_are_read_by_either_spelling() {
    let entry = "]]\nname = 'a'\nreason = 'b'\noperation = ['bind', 'exec']\nerror = 'EPERM'\n\
        target = '*x'\n";
    for spelling in ["sanitise", "sanitize"] {
        let file = Configured::new(&format!("[[{spelling}{entry}"));
        let config = file.configured("", &[]).unwrap().config;
        assert_eq!(config.sanitisers[0].operations, ["bind", "exec"]);
    }
}

#[test]
fn a_variable_that_nobody_knows_is_a_warning_with_the_nearest_one() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-nondex"));
    command.args(["models", "-q", "nothing-is-called-so"]);
    command.env("NONDEX_SEDS", "3").env("NO_COLOR", "1");
    let stderr = String::from_utf8(command.output().unwrap().stderr).unwrap();
    let expected = "warning: no variable is called `NONDEX_SEDS`: did you mean `NONDEX_SEEDS`?\n";
    assert!(stderr.contains(expected), "{stderr}");
}
