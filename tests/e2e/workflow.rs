//! The shell steps of the workflow template, run as a CI runner runs them.

use std::fs;
use std::path::Path;

use cargo_nondex::exit_code::ExitCode;
use cargo_nondex::report::store;
use nondex_core::Level;

use crate::support::{Fixture, Nondex, cache, plain_command, repository};

/// Path of a job's report, which the merging job reads.
const REPORT: &str = "target/nondex/latest/report.json";

/// Returns the scripts of all steps that call the tool.
fn steps(workflow: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut lines = workflow.lines().peekable();
    while let Some(line) = lines.next() {
        let depth = line.len() - line.trim_start().len();
        let Some(script) = line.trim_start().strip_prefix("- run: ") else { continue };
        let mut script = script.trim_start_matches('|').to_owned();
        while let Some(more) = lines.next_if(|more| more.len() - more.trim_start().len() > depth) {
            script.push_str(more.trim_start());
            script.push('\n');
        }
        steps.push(script);
    }
    steps.retain(|script| script.contains("cargo nondex"));
    steps
}

/// Returns the values of a matrix: `name: [a, b]`.
fn matrix<'a>(workflow: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = workflow.lines().map(str::trim);
    let values = lines
        .find_map(|line| line.strip_prefix(&format!("{name}: [")))
        .expect(name)
        .trim_end_matches(']')
        .split(", ");
    values.map(|value| value.trim_matches('"')).collect()
}

/// Runs a step as GitHub does. Returns its exit code.
fn run(script: &str, dir: &Path) -> Option<i32> {
    let own = Path::new(env!("CARGO_BIN_EXE_cargo-nondex")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths([own.to_owned()].into_iter().chain(std::env::split_paths(&path)));
    let mut shell = plain_command("bash", dir);
    shell
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
        .env("PATH", path.unwrap())
        .env("CARGO_NET_OFFLINE", "true")
        .env("NONDEX_CACHE_DIR", cache());
    let output = shell.output().unwrap();
    let code = output.status.code();
    println!("{script}: {code:?}\n{}", String::from_utf8_lossy(&output.stderr));
    code
}

#[test]
fn the_jobs_of_the_workflow_do_their_work_and_the_last_one_is_red_for_what_they_found() {
    let path = repository().join("examples/ci/.github/workflows/nondex.yml");
    let workflow = fs::read_to_string(path).unwrap();
    assert_eq!(workflow.matches(REPORT).count(), 3);
    let steps = steps(&workflow);
    let [pack, level, seeds, merge] = &steps[..] else {
        panic!("{steps:#?}");
    };
    let of_level = |value: &str| level.replace("${{ matrix.level }}", value);
    let levels = matrix(&workflow, "level");
    assert_eq!(levels, Level::ALL.map(Level::name));
    let ranges = matrix(&workflow, "seeds");
    let of_seeds = |value: &&str| seeds.replace("${{ matrix.seeds }}", value);
    let by_level = levels.iter().map(|level| of_level(level)).collect();
    // Two of the nightly jobs are enough for this test.
    let by_seeds = ranges.iter().take(2).map(of_seeds).collect();

    let project = Fixture::example("quickstart");
    let root = project.path("");
    assert_eq!(run(pack, &root), Some(0));
    for jobs in [by_level, by_seeds] {
        let jobs: Vec<String> = jobs;
        let reports = project.path("reports");
        let _ = fs::remove_dir_all(&reports);
        for (number, script) in jobs.iter().enumerate() {
            assert!(!script.contains("${{"), "{script}");
            // A finding does not make the step fail.
            assert_eq!(run(script, &root), Some(0));
            // Each artifact is downloaded to a separate folder.
            let artifact = reports.join(format!("nondex-{number}"));
            fs::create_dir_all(&artifact).unwrap();
            fs::copy(root.join(REPORT), artifact.join("report.json")).unwrap();
        }
        assert_eq!(run(merge, &root), Some(ExitCode::Found as i32));
        let merged = camino::Utf8PathBuf::from_path_buf(root.join(REPORT)).unwrap();
        assert_eq!(store::read(&merged).unwrap().summary.id, 3);
        let junit = fs::read_to_string(root.join("nondex.xml")).unwrap();
        assert_eq!(junit.matches("<failure").count(), 3, "{junit}");
    }

    // A job that cannot do its work fails.
    let broken = Fixture::new("does-not-compile");
    assert_eq!(run(pack, &broken.path("")), Some(ExitCode::BuildFailed as i32));
    assert_eq!(run(&of_level("STD"), &broken.path("")), Some(1));
    let none = Nondex::command(&broken.path(""), "report").run();
    none.expect(ExitCode::Setup);
}
