//! Stacks of the threads of a process, read without its cooperation.
//!
//! Each thread is stopped briefly by ptrace(2). Its stack is unwound with the call frame
//! information of the loaded files, as a debugger does (DWARF 5, section 6.4). If the system or a
//! sandbox forbids this, there are no stacks.

mod modules;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options, regset};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::Pid;

use self::modules::Modules;

/// Return addresses of a thread in the program, relative to where it is loaded, the innermost
/// first. The first one is the current instruction.
pub(super) type AddressStack = Vec<u64>;

/// Maximum number of threads that are examined.
const MAX_THREADS: usize = 32;

/// Maximum number of frames of a stack.
const MAX_FRAMES: usize = 256;

/// Time for a thread to stop.
const GRACE: Duration = Duration::from_millis(100);

/// Time for a thread to stop, before it is left attached.
const LONG_GRACE: Duration = Duration::from_secs(1);

/// Returns the stacks of the threads of `process`, a child of this one. Running threads come before
/// waiting ones, and the main thread comes last among equals. Takes milliseconds. Threads that
/// cannot be examined are left out.
pub(super) fn of(process: Pid) -> Vec<AddressStack> {
    let Some(modules) = Modules::of(process) else { return Vec::new() };
    let Ok(memory) = File::open(format!("/proc/{process}/mem")) else { return Vec::new() };
    let mut threads: Vec<(bool, i32)> = threads(process).collect();
    threads.sort_unstable_by_key(|thread| rank(process.as_raw(), *thread));
    threads
        .into_iter()
        .take(MAX_THREADS)
        .filter_map(|(_, thread)| {
            let stopped = Stopped::stop(process, Pid::from_raw(thread))?;
            let stack = unwind(stopped.registers()?, &modules, &memory);
            (!stack.is_empty()).then_some(stack)
        })
        .collect()
}

/// Returns the sort key of a thread, given whether it waits. In most harnesses, the main thread
/// only waits for the test's thread.
const fn rank(process: i32, (waits, thread): (bool, i32)) -> (bool, bool, i32) {
    (waits, thread == process, thread)
}

/// Returns the threads of a process, each with whether it waits.
fn threads(process: Pid) -> impl Iterator<Item = (bool, i32)> {
    let folder = std::fs::read_dir(format!("/proc/{process}/task"));
    folder.into_iter().flatten().flatten().filter_map(move |entry| {
        let thread: i32 = entry.file_name().to_str()?.parse().ok()?;
        let state = std::fs::read(format!("/proc/{process}/task/{thread}/stat")).ok()?;
        let name_end = state.iter().rposition(|byte| *byte == b')')?;
        Some((state.get(name_end + 2) != Some(&b'R'), thread))
    })
}

/// A thread that stays stopped while this exists.
struct Stopped {
    process: Pid,
    thread: Pid,
}

impl Stopped {
    /// Stops a thread of a process.
    fn stop(process: Pid, thread: Pid) -> Option<Self> {
        ptrace::seize(thread, Options::empty()).ok()?;
        let stopped = Stopped { process, thread };
        ptrace::interrupt(thread).ok()?;
        stopped.wait(GRACE).then_some(stopped)
    }

    /// Waits for the thread to stop. Returns whether it did within `grace`.
    fn wait(&self, grace: Duration) -> bool {
        let deadline = Instant::now() + grace;
        // Only stops are waited for. The process's exit status is left to the code that started it.
        let flags = WaitPidFlag::WSTOPPED | WaitPidFlag::__WALL | WaitPidFlag::WNOHANG;
        loop {
            match waitid(Id::Pid(self.thread), flags) {
                Ok(WaitStatus::StillAlive) if Instant::now() < deadline => {
                    thread::sleep(Duration::from_micros(100));
                }
                Ok(WaitStatus::StillAlive) | Err(_) => return false,
                Ok(_) => return true,
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn registers(&self) -> Option<Registers> {
        let all = ptrace::getregset::<regset::NT_PRSTATUS>(self.thread).ok()?;
        // Register numbers of the System V ABI for AMD64, figure 3.36.
        let known = [
            all.rax, all.rdx, all.rcx, all.rbx, all.rsi, all.rdi, all.rbp, all.rsp, all.r8, all.r9,
            all.r10, all.r11, all.r12, all.r13, all.r14, all.r15,
        ];
        Some(Registers::new(&known, all.rip))
    }

    #[cfg(target_arch = "aarch64")]
    fn registers(&self) -> Option<Registers> {
        let all = ptrace::getregset::<regset::NT_PRSTATUS>(self.thread).ok()?;
        // Register numbers of "DWARF for the Arm 64-bit Architecture", section 4.1.
        let mut known = all.regs.to_vec();
        known.push(all.sp);
        Some(Registers::new(&known, all.pc))
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let detach = || ptrace::detach(self.thread, None).is_ok();
        // A thread can only be detached once it has stopped, which may take a while on a busy
        // machine.
        if detach() || self.wait(LONG_GRACE) && detach() || self.thread == self.process {
            return;
        }
        // A traced thread that has ended must be reaped by its tracer. Until then, the process does
        // not end for its parent.
        let thread = self.thread;
        thread::spawn(move || {
            while let Ok(WaitStatus::PtraceEvent(..) | WaitStatus::Stopped(..))
            | Err(Errno::EINTR) = waitpid(thread, Some(WaitPidFlag::__WALL))
            {}
        });
    }
}

/// Number of the stack pointer in call frame information.
const STACK_POINTER: usize = if cfg!(target_arch = "x86_64") { 7 } else { 31 };

/// Number of the column with the return address. It need not be a real register.
const RETURN_ADDRESS: usize = if cfg!(target_arch = "x86_64") { 16 } else { 30 };

/// Registers of a frame, by their numbers in call frame information.
#[derive(Clone, Copy)]
struct Registers {
    known: [Option<u64>; 33],
    /// Address of the current instruction.
    instruction: u64,
}

impl Registers {
    fn new(known: &[u64], instruction: u64) -> Self {
        let mut registers = Registers { known: [None; 33], instruction };
        for (register, value) in registers.known.iter_mut().zip(known) {
            *register = Some(*value);
        }
        registers
    }

    fn get(&self, register: gimli::Register) -> Option<u64> {
        *self.known.get(usize::from(register.0))?
    }

    /// Returns the registers of the caller.
    fn of_caller(&self, row: &modules::UnwindRow, memory: &File) -> Option<Self> {
        let frame = match row.cfa() {
            gimli::CfaRule::RegisterAndOffset { register, offset } => {
                self.get(*register)?.checked_add_signed(*offset)?
            }
            gimli::CfaRule::Expression(_) => return None,
        };
        let mut caller = *self;
        for (register, rule) in row.registers() {
            let value = match rule {
                gimli::RegisterRule::SameValue => continue,
                gimli::RegisterRule::Offset(offset) => {
                    Some(read(memory, frame.checked_add_signed(*offset)?)?)
                }
                gimli::RegisterRule::ValOffset(offset) => frame.checked_add_signed(*offset),
                gimli::RegisterRule::Register(other) => self.get(*other),
                _ => None,
            };
            *caller.known.get_mut(usize::from(register.0))? = value;
        }
        caller.known[STACK_POINTER] = Some(frame);
        caller.instruction = caller.known[RETURN_ADDRESS].filter(|address| *address > 0)?;
        // A frame that does not move up the stack would loop forever.
        (frame > self.known[STACK_POINTER]? || caller.instruction != self.instruction)
            .then_some(caller)
    }
}

/// Returns the addresses in the program on the stack of a thread with these registers.
fn unwind(mut registers: Registers, modules: &Modules, memory: &File) -> AddressStack {
    let mut stack = AddressStack::new();
    for depth in 0..MAX_FRAMES {
        // A return address is after its call. Looking up the byte before it finds the call itself.
        let next = if depth == 0 { registers.instruction + 1 } else { registers.instruction };
        stack.extend(modules.in_program(next));
        let row = modules.row(next - 1);
        let caller = row.and_then(|row| registers.of_caller(&row, memory));
        let Some(caller) = caller else { break };
        registers = caller;
    }
    stack
}

fn read(memory: &File, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    memory.read_exact_at(&mut bytes, address).ok()?;
    Some(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn of_the_threads_that_wait_the_first_one_is_last() {
        let mut threads = [(true, 7), (true, 8), (false, 9), (true, 10)];
        threads.sort_unstable_by_key(|thread| rank(7, *thread));
        assert_eq!(threads.iter().map(|(_, thread)| *thread).collect::<Vec<_>>(), [9, 8, 10, 7]);
    }

    /// The program of the test below: two threads.
    #[test]
    #[ignore = "another test starts it as a program"]
    fn sleeps() {
        thread::sleep(Duration::from_secs(1000));
    }

    #[test]
    fn a_process_that_is_killed_while_a_thread_of_it_is_stopped_ends() {
        let program = std::env::current_exe().unwrap();
        let name = "campaign::process::stacks::tests::sleeps";
        let mut child = Command::new(program)
            .args(["--exact", name, "--ignored"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let process = Pid::from_raw(child.id().cast_signed());
        let other = loop {
            let other = threads(process).map(|(_, thread)| Pid::from_raw(thread));
            if let Some(other) = other.into_iter().find(|thread| *thread != process) {
                break other;
            }
            thread::sleep(Duration::from_millis(1));
        };
        let stopped = Stopped::stop(process, other).unwrap();
        child.kill().unwrap();
        // The thread has ended, and cannot be detached.
        drop(stopped);
        let end = child.wait().unwrap();
        assert_eq!(end.signal(), Some(9));
    }
}
