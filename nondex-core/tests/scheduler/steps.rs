//! The operations of simulated threads, step by step. Between two steps, other threads may run.

use nondex_core::scheduler::{Operation, Woken};

use super::kernel::{Kernel, Object, address};
use super::outside::On;
use super::program::Op;

impl Kernel<'_> {
    /// Makes one step of the running thread.
    pub(super) fn step(&mut self, task: usize) {
        let (body, at) = (self.tasks[task].body, self.tasks[task].at);
        let Some(op) = self.program[body].get(at).copied() else {
            self.end_thread(task);
            return;
        };
        match (op, self.tasks[task].step) {
            (Op::Lock(_), 0) => self.first(task, Operation::PthreadLock),
            (Op::Lock(lock), step) => self.lock(task, lock, step),
            (Op::Unlock(lock) | Op::Wait(lock, _), 0) if self.owners[lock] != Some(task) => {
                self.advance(task);
            }
            (Op::Unlock(_) | Op::Wait(..), 0) => self.first(task, Operation::PthreadWake),
            (Op::Unlock(lock), _) => {
                self.advance(task);
                self.unlock(task, lock);
            }
            (Op::Wait(number, limit), step) => self.wait(task, number, limit, step),
            (Op::NotifyOne(_) | Op::NotifyAll(_) | Op::Requeue(_) | Op::Release(_), 0) => {
                self.first(task, Operation::FutexWake);
            }
            (Op::NotifyOne(number), _) => self.notify(task, number, 1),
            (Op::NotifyAll(number), _) => self.notify(task, number, usize::MAX),
            (Op::Requeue(number), _) => {
                self.advance(task);
                self.conditions[number] += 1;
                self.requeue(address(Object::Condition, number), address(Object::Lock, number));
            }
            (Op::Acquire(_), 0) => self.first(task, Operation::PthreadLock),
            (Op::Acquire(number), step) => self.acquire(task, number, step),
            (Op::Release(number), _) => {
                self.advance(task);
                self.permits[number] += 1;
                self.wake(task, address(Object::Semaphore, number), 1);
            }
            (Op::Yield, 0) => self.first(task, Operation::Yield),
            (Op::Add(_) | Op::Load(_) | Op::SetFlag(_) | Op::Spin(_), step) => {
                self.access(task, op, step);
            }
            (Op::Spawn(_) | Op::Join(_), step) => self.life(task, op, step),
            (Op::Clock, 0) => self.first(task, Operation::Clock),
            (Op::Clock, _) => {
                self.advance(task);
                self.read_clock();
            }
            (Op::Read(..) | Op::Write(_), step) => self.transfer(task, op, step),
            (Op::Sleep(_), 0) => self.first(task, Operation::Sleep),
            (Op::Sleep(time), 1) => {
                self.machine.set_operation(self.tasks[task].id, Operation::Sleep);
                self.tasks[task].step = 2;
                let limit = self.set_limit(task, Some(time));
                self.block(task, On::Time, limit);
            }
            (Op::Child(..) | Op::WaitForChildren | Op::Call(_) | Op::Unseen(_), step) => {
                self.go_outside(task, op, step);
            }
            (Op::Yield | Op::Sleep(_), _) => self.advance(task),
        }
    }

    /// Marks an operation before its first step.
    fn first(&mut self, task: usize, operation: Operation) {
        self.tasks[task].step = 1;
        self.begin(task, operation);
    }

    /// Goes to the next operation.
    fn advance(&mut self, task: usize) {
        self.tasks[task].at += 1;
        self.tasks[task].step = 0;
    }

    /// Waits at an address, after the thread has found that it must.
    fn wait_at(&mut self, task: usize, place: usize, waits_again: bool) {
        let id = self.tasks[task].id;
        self.tasks[task].waits_again = waits_again;
        self.machine.set_waits_again(id, waits_again);
        self.machine.wait_at(id, Operation::Pthread, place, u32::MAX);
        self.block(task, On::Address(place), None);
    }

    fn lock(&mut self, task: usize, lock: usize, step: usize) {
        if self.owners[lock].is_none() {
            self.owners[lock] = Some(task);
            self.advance(task);
            return;
        }
        self.tasks[task].step = 2;
        self.wait_at(task, address(Object::Lock, lock), step == 2);
    }

    fn unlock(&mut self, task: usize, lock: usize) {
        self.owners[lock] = None;
        self.wake(task, address(Object::Lock, lock), 1);
    }

    fn acquire(&mut self, task: usize, number: usize, step: usize) {
        if self.permits[number] > 0 {
            self.permits[number] -= 1;
            self.advance(task);
            return;
        }
        self.tasks[task].step = 2;
        self.wait_at(task, address(Object::Semaphore, number), step == 2);
    }

    /// Waits for a condition as std does: by a count of notifications that it compares when it
    /// begins to wait.
    fn wait(&mut self, task: usize, number: usize, limit: Option<u64>, step: usize) {
        match step {
            1 => {
                self.tasks[task].seen = self.conditions[number];
                self.tasks[task].step = 2;
                self.unlock(task, number);
            }
            2 => {
                self.tasks[task].step = 3;
                self.begin(task, Operation::FutexWait);
            }
            3 => {
                self.tasks[task].step = 4;
                if self.conditions[number] != self.tasks[task].seen {
                    return;
                }
                let place = address(Object::Condition, number);
                let id = self.tasks[task].id;
                self.tasks[task].waits_again = false;
                self.machine.set_waits_again(id, false);
                self.machine.wait_at(id, Operation::FutexWait, place, u32::MAX);
                let limit = self.set_limit(task, limit);
                self.block(task, On::Address(place), limit);
            }
            4 => {
                self.tasks[task].step = 5;
                self.begin(task, Operation::PthreadLock);
            }
            step => {
                if self.owners[number].is_none() {
                    self.owners[number] = Some(task);
                    self.advance(task);
                    return;
                }
                self.tasks[task].step = 6;
                self.wait_at(task, address(Object::Lock, number), step == 6);
            }
        }
    }

    fn notify(&mut self, task: usize, number: usize, count: usize) {
        self.advance(task);
        self.conditions[number] += 1;
        self.wake(task, address(Object::Condition, number), count);
    }

    /// Does an atomic operation.
    fn access(&mut self, task: usize, op: Op, step: usize) {
        if step == 0 {
            self.first(task, Operation::Atomic);
            return;
        }
        let looks = &self.outside.looks[self.tasks[task].id.index()];
        match op {
            Op::Add(number) => {
                looks.end();
                self.course.memory[number] += 1;
            }
            Op::SetFlag(number) => {
                looks.end();
                self.flags[number] = true;
            }
            Op::Load(number) => {
                self.course.read.push((task, self.course.memory[number]));
            }
            Op::Spin(number) if !self.flags[number] => {
                self.tasks[task].step = 0;
                if looks.look_at(number + 1) {
                    self.reschedule(task, 0, true, false);
                }
                return;
            }
            _ => {}
        }
        self.advance(task);
    }

    /// Starts a thread, or waits for the end of one.
    fn life(&mut self, task: usize, op: Op, step: usize) {
        let id = self.tasks[task].id;
        match (op, step) {
            (Op::Spawn(body), 0) => {
                let started = self.add(body);
                self.tasks[task].started.push(started);
                self.machine.make_ready(self.tasks[started].id, Woken::Done);
                self.first(task, Operation::Spawn);
            }
            (Op::Join(_), 0) => self.first(task, Operation::Join),
            (Op::Join(number), 1) => {
                let joined = self.tasks[task].started.get(number).copied();
                let joined = joined.filter(|joined| !self.tasks[*joined].has_ended);
                let Some(joined) = joined else {
                    self.advance(task);
                    return;
                };
                self.tasks[task].step = 2;
                self.machine.join(id, self.tasks[joined].id);
                self.block(task, On::Join(joined), None);
            }
            _ => self.advance(task),
        }
    }

    /// Reads from a descriptor, or writes to it.
    fn transfer(&mut self, task: usize, op: Op, step: usize) {
        match (op, step) {
            (Op::Write(_), 0) => self.first(task, Operation::Write),
            (Op::Write(descriptor), _) => {
                self.outside.messages[descriptor] += 1;
                self.advance(task);
            }
            (_, 0) => self.first(task, Operation::Read),
            (Op::Read(descriptor, _), _) if self.outside.messages[descriptor] > 0 => {
                self.outside.messages[descriptor] -= 1;
                self.advance(task);
            }
            (Op::Read(..), 2) if self.tasks[task].woken == Woken::Time => self.advance(task),
            (Op::Read(descriptor, limit), _) => {
                self.tasks[task].step = 2;
                self.machine.wait_by_polling(self.tasks[task].id, Operation::Read, None);
                let limit = self.set_limit(task, limit);
                self.block(task, On::Read(descriptor), limit);
            }
            _ => self.advance(task),
        }
    }

    /// Does something that lives in real time.
    fn go_outside(&mut self, task: usize, op: Op, step: usize) {
        match (op, step) {
            (Op::Unseen(time), _) => {
                self.advance(task);
                self.sleep_unseen(task, time);
            }
            (Op::Child(..) | Op::WaitForChildren, 0) => self.first(task, Operation::Child),
            (Op::Call(_), 0) => self.first(task, Operation::Connect),
            (Op::Child(time, descriptor), _) => {
                self.advance(task);
                self.start_child(time, descriptor);
            }
            (Op::WaitForChildren, 1) => {
                let Some(end) = self.outside.children.iter().map(|(end, _)| *end).max() else {
                    self.advance(task);
                    return;
                };
                self.tasks[task].step = 2;
                self.leave(task, Operation::Child, end);
            }
            (Op::WaitForChildren, _) => {
                self.advance(task);
                self.end_children();
            }
            (Op::Call(time), 1) => {
                self.tasks[task].step = 2;
                self.leave(task, Operation::Connect, self.outside.real + time);
            }
            _ => self.advance(task),
        }
    }
}
