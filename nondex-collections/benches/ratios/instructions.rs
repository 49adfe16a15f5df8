//! Instructions, counted by valgrind between two marks. Other work on the machine does not change
//! them.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use super::operations::Meter;
use super::{Row, Table};

/// Says that this process is the one that valgrind watches.
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
        // A place is met for the first time once in a test.
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

/// Valgrind writes down what was counted, and begins anew, before it runs this.
#[inline(never)]
fn mark() {
    black_box(());
}

/// Does the acts, in the process that valgrind watches, and prints how many there are between each
/// two marks.
pub(super) fn execute(filter: &str) {
    for row in Row::all(filter) {
        for Marked(acts) in row.measure(|| Marked(0)) {
            println!("{acts}");
        }
    }
}

/// Counts the instructions of each act, of std's operations and of the mirror's.
pub(super) fn measure(filter: &str) -> Result<Table, Box<dyn Error>> {
    // Of this process only, wherever it is started.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ratios");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--dump-before=*instructions*mark*"])
        .arg(format!("--callgrind-out-file={}", folder.join("part").display()))
        // A copy is to count as many instructions as vectors, not as many as bytes.
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
    // What comes before the first mark is part 1.
    let mut parts = (2..).step_by(2);
    let mut counts = Vec::new();
    for acts in std::str::from_utf8(&output.stdout)?.lines() {
        let part = folder.join(format!("part.{}", parts.next().unwrap_or_default()));
        let part = fs::read_to_string(part)?;
        let total = part.lines().find_map(|line| line.strip_prefix("totals: "));
        let total: f64 = total.ok_or("no total")?.trim().parse()?;
        counts.push(total / acts.parse::<f64>()?);
    }
    let rows = Row::all(filter);
    let each = counts.len() / rows.len().max(1);
    let counts = counts.chunks(each.max(1)).map(<[f64]>::to_vec);
    Ok(rows.into_iter().zip(counts).collect())
}
