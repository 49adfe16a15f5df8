//! Tests of processes that end, hang, write and leave children.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;

use nix::sys::stat::Mode;

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn shell(script: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    command
}

fn finished(script: &str, timeout: Duration) -> Finished {
    run(shell(script), timeout, &StopFlag::new()).unwrap()
}

#[expect(unsafe_code, reason = "only std's unsafe function does this")]
fn before_exec(command: &mut Command, act: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: between fork and exec, the closures only make system calls and allocate no memory.
    unsafe { command.pre_exec(act) };
}

/// Returns whether the process whose id a script wrote last has ended, or ends within a second.
fn is_gone(output: &Output) -> bool {
    let text = output.to_text();
    let pid = Pid::from_raw(text.split_whitespace().last().unwrap().parse().unwrap());
    let zombie = || {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
    };
    (0..1000).any(|_| {
        thread::sleep(Duration::from_millis(1));
        nix::sys::signal::kill(pid, None).is_err() || zombie()
    })
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    for (script, expected) in [
        ("exit 0", End::Exited(0)),
        ("exit 101", End::Exited(101)),
        ("kill -ABRT $$", End::Signalled(6)),
        ("kill -SEGV $$", End::Signalled(11)),
        ("kill -KILL $$", End::Signalled(9)),
    ] {
        let found = finished(script, LONG);
        assert_eq!((found.end, found.left_child), (expected, false), "{script}");
    }
}

#[test]
fn stdout_and_stderr_are_captured_in_the_order_they_were_written() {
    let found = finished("echo one; echo two >&2; printf three", LONG);
    assert_eq!(found.output.to_text(), "one\ntwo\nthree");
}

#[test]
fn stdin_is_at_its_end() {
    assert_eq!(finished("cat; echo done", LONG).output.to_text(), "done\n");
}

#[test]
fn a_hang_is_killed_at_the_time_limit_with_all_its_children() {
    let limit = Duration::from_millis(200);
    let found = finished("sleep 1000 & echo $!; wait", limit);
    assert_eq!((found.end, found.left_child), (End::TimedOut, false));
    assert!(is_gone(&found.output));
}

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[test]
fn where_a_process_loops_or_waits_at_the_time_limit_is_known() {
    for script in ["while :; do :; done", "exec sleep 1000"] {
        let found = finished(script, Duration::from_millis(300));
        assert_eq!((found.end, found.stacks.len()), (End::TimedOut, 1), "{script}");
    }
    assert_eq!(finished("exit 0", LONG).stacks, Vec::<Vec<u64>>::new());
}

#[test]
fn a_hang_that_ignores_sigterm_is_killed_all_the_same() {
    let found =
        finished("trap '' TERM; echo $$; while :; do sleep 1; done", Duration::from_millis(200));
    assert_eq!(found.end, End::TimedOut);
    assert!(is_gone(&found.output));
}

#[test]
fn a_hang_after_closing_its_output_is_killed_at_the_time_limit() {
    let found = finished("exec >&- 2>&-; exec sleep 1000", Duration::from_millis(200));
    assert_eq!(found.end, End::TimedOut);
}

#[test]
fn a_process_that_closes_its_output_still_has_its_own_exit_code() {
    let found = finished("echo said; exec >&- 2>&-; sleep 0.1; exit 7", LONG);
    assert_eq!(found.end, End::Exited(7));
    assert_eq!(found.output.to_text(), "said\n");
}

#[test]
fn a_child_left_behind_is_killed_and_noted_whether_it_holds_the_output_or_not() {
    for script in ["sleep 1000 & echo $!", "sleep 1000 >/dev/null 2>&1 & echo $!"] {
        let found = finished(script, LONG);
        assert_eq!((found.end, found.left_child), (End::Exited(0), true), "{script}");
        assert!(is_gone(&found.output), "{script}");
    }
}

#[test]
fn a_child_that_ends_soon_after_its_parent_is_not_worth_a_note() {
    let found = finished("(sleep 0.02; echo late) & exit 0", LONG);
    assert_eq!((found.end, found.left_child), (End::Exited(0), false));
    assert_eq!(found.output.to_text(), "late\n");
}

#[test]
fn a_process_that_another_thread_is_starting_is_no_child_that_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let [starting, forked] = ["starting", "forked"].map(|name| folder.path().join(name));
    let [is_starting, is_forked] =
        [&starting, &forked].map(|path| CString::new(path.as_os_str().as_bytes()).unwrap());
    let fork = is_forked.clone();
    let starter = thread::spawn(move || {
        while !starting.exists() {
            thread::sleep(Duration::from_millis(1));
        }
        let mut slow = Command::new("true");
        let hold = move || {
            nix::unistd::mkdir(fork.as_c_str(), Mode::S_IRWXU)?;
            thread::sleep(LEFTOVER_GRACE * 3);
            Ok(())
        };
        before_exec(&mut slow, hold);
        slow.status().unwrap()
    });
    // While this command starts, the test process holds both ends of its pipe. So the process that
    // the other thread forks inherits them.
    let mut command = Command::new("true");
    before_exec(&mut command, move || {
        nix::unistd::mkdir(is_starting.as_c_str(), Mode::S_IRWXU)?;
        while nix::sys::stat::stat(is_forked.as_c_str()).is_err() {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    });
    let found = run(command, LONG, &StopFlag::new()).unwrap();
    assert_eq!((found.end, found.left_child), (End::Exited(0), false));
    assert!(starter.join().unwrap().success());
}

#[test]
fn a_child_in_a_session_of_its_own_does_not_make_the_driver_hang() {
    let found = finished("setsid sh -c 'echo $$; exec sleep 2' & sleep 0.2; exit 3", LONG);
    assert_eq!((found.end, found.left_child), (End::Exited(3), true));
}

#[test]
fn a_flooding_child_in_a_session_of_its_own_does_not_make_the_driver_hang() {
    let found = finished("setsid yes & sleep 0.2; exit 3", LONG);
    assert_eq!((found.end, found.left_child), (End::Exited(3), true));
}

#[test]
fn a_flood_ends_with_its_own_exit_code_and_a_bounded_output() {
    let found = finished("yes | head -c 50000000; echo the end; exit 5", LONG);
    assert_eq!(found.end, End::Exited(5));
    assert!(found.output.dropped() > 49_000_000);
    assert!(found.output.to_text().ends_with("y\nthe end\n"));
}

#[test]
fn an_endless_flood_is_killed_at_the_time_limit() {
    let found = finished("exec yes", Duration::from_millis(200));
    assert_eq!(found.end, End::TimedOut);
}

#[test]
fn a_stop_kills_what_runs() {
    let stop = StopFlag::new();
    let found = thread::scope(|scope| {
        let running = scope.spawn(|| run(shell("sleep 1000"), LONG, &stop).unwrap());
        stop.stop();
        running.join().unwrap()
    });
    assert_eq!(found.end, End::Stopped);
}

#[test]
fn what_cannot_be_started_is_an_error() {
    let error = run(Command::new("/nonexistent/test"), LONG, &StopFlag::new()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn many_small_pieces_come_whole_and_in_order() {
    let found = finished("i=0; while [ $i -lt 3000 ]; do printf \"$i \"; i=$((i+1)); done", LONG);
    let expected: String = (0..3000).map(|i| format!("{i} ")).collect();
    assert_eq!(found.output.to_text(), expected);
    assert_eq!(found.end, End::Exited(0));
}

#[test]
fn a_process_number_is_not_always_as_far_from_the_last_one() {
    for (used, modulus) in (1..20_u32).flat_map(|used| (2..6).map(move |m| (used, m))) {
        let numbers = (0..20).scan(0, |number, started| {
            *number += used + skipped(started);
            Some(*number % modulus)
        });
        let found: BTreeSet<u32> = numbers.collect();
        assert_eq!(found.len(), modulus as usize, "{used} at a time, modulo {modulus}");
    }
}
