//! Instructions, counted by valgrind between two marks. Other work on the machine does not change
//! the counts.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use super::operations::Meter;
use super::{Row, Table};

/// Argument of the process that runs under valgrind.
pub(super) const CHILD: &str = "--counted";

/// Maximum number of acts that are counted together.
const ACTS: u64 = 100;

/// Number of acts between two [marks](mark).
struct Marked(u64);

impl Meter for Marked {
    fn each_on<T, R>(
        &mut self,
        at_a_time: u64,
        mut make: impl FnMut() -> T,
        mut act: impl FnMut(&mut T) -> R,
    ) {
        // The first visit of a place costs more, and happens once in a test.
        act(&mut make());
        self.0 = at_a_time.min(ACTS);
        let mut all: Vec<T> = (0..self.0).map(|_| make()).collect();
        mark();
        for one in &mut all {
            black_box(act(one));
        }
        mark();
    }
}

/// Marks a position: valgrind dumps and resets its counts before each call of this function.
#[inline(never)]
fn mark() {
    black_box(());
}

/// Performs the acts in the process that runs under valgrind. Prints how many there are between
/// each two marks.
pub(super) fn execute(filter: &str) {
    for row in Row::all(filter) {
        for Marked(acts) in row.measure(|| Marked(0)) {
            println!("{acts}");
        }
    }
}

/// Counts the instructions per act, of std's operations and of the mirrored ones.
pub(super) fn measure(filter: &str) -> Result<Table, Box<dyn Error>> {
    // The target folder of this crate, regardless of the current folder.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ratios");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--dump-before=*instructions*mark*"])
        .arg(format!("--callgrind-out-file={}", folder.join("part").display()))
        // Makes a copy count as many instructions as vectors, rather than as bytes.
        .env(
            "GLIBC_TUNABLES",
            concat!(
                "glibc.cpu.x86_rep_movsb_threshold=1000000000:",
                "glibc.cpu.x86_rep_stosb_threshold=1000000000",
            ),
        )
        .arg(std::env::current_exe()?)
        .args([CHILD, filter])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    // Part 1 is what precedes the first mark.
    let mut parts = (2..).step_by(2);
    let mut counts = Vec::new();
    for acts in std::str::from_utf8(&output.stdout)?.lines() {
        let path = folder.join(format!("part.{}", parts.next().unwrap_or_default()));
        let part = fs::read_to_string(path)?;
        let totals = part.lines().find_map(|line| line.strip_prefix("totals: "));
        let total: f64 = totals.ok_or("no total")?.trim().parse()?;
        counts.push(total / acts.parse::<f64>()?);
    }
    let rows = Row::all(filter);
    let each = counts.len() / rows.len().max(1);
    let counts = counts.chunks(each.max(1)).map(<[f64]>::to_vec);
    Ok(rows.into_iter().zip(counts).collect())
}
