//! The HTML report of a real run.

use std::fs;

use cargo_nondex::exit_code::ExitCode;

use crate::support::{Fixture, Nondex, test};

#[test]
fn the_page_of_a_run_has_its_finding_with_the_source_the_command_and_the_history() {
    let fixture = Fixture::new("findings");
    let app = fixture.path("app");
    let run = || {
        let run = Nondex::run_in(&app).args(["--levels", "STD", "--seeds", "5", "own_map"]);
        let output = run.run();
        output.expect(ExitCode::Found);
        output.report()
    };
    // The page shows the history, which has the first run when the second one ends.
    run();
    let report = run();
    let found = test(&report, "tests::std_own_map");
    let printed = Nondex::command(&app, "report").arg("--html").run();
    printed.expect(ExitCode::Ok);
    let path = app.join("target/nondex/report.html");
    assert_eq!(printed.stdout.trim_end(), path.to_str().unwrap());
    let page = fs::read_to_string(&path).unwrap();
    let escaped = |text: &str| text.replace('\'', "&#39;").replace('>', "&gt;");
    let (file, line, _) = found.culprits[0].place();
    let source = fs::read_to_string(app.join(file)).unwrap();
    let source = source.lines().nth(line as usize - 1).unwrap();
    let call = source.trim().split("keys").next().unwrap();
    for text in [
        &escaped(found.reproduce.as_deref().unwrap()),
        &escaped(call),
        "<mark>keys</mark>",
        "id=\"findings$tests::std_own_map\"",
        "<h4>History</h4>",
        "Runs by level and seed",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // A given report is written to a given file.
    let other = app.join("shown/page.html");
    let given = Nondex::command(&app, "report")
        .args(["--report", "target/nondex/latest/report.json", "--html"])
        .arg(&other)
        .run();
    given.expect(ExitCode::Ok);
    assert_eq!(fs::read_to_string(other).unwrap(), page);
}
