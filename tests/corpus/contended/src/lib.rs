//! Programs that only do operations the scheduler observes, for `tests/corpus/costs`.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, RwLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Runs `work` in four threads.
fn in_four_threads(work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(&work);
        }
    });
}

#[test]
fn computing() {
    let sum = (0..30_000_000_u64).fold(0, |sum, number| black_box(sum + number % 7));
    assert!(sum > 0);
}

#[test]
fn lock_of_one_thread() {
    let count = Mutex::new(0_u64);
    for _ in 0..1_000_000 {
        *count.lock().unwrap() += 1;
    }
}

#[test]
fn contended_lock() {
    let count = Mutex::new(0_u64);
    in_four_threads(|| {
        for _ in 0..100_000 {
            *count.lock().unwrap() += 1;
        }
    });
    assert_eq!(count.into_inner().unwrap(), 400_000);
}

#[test]
fn contended_lock_that_is_held() {
    let sums = Mutex::new(vec![0_u64; 64]);
    in_four_threads(|| {
        for number in 0..20_000 {
            for sum in sums.lock().unwrap().iter_mut() {
                *sum = black_box(*sum + number);
            }
        }
    });
}

#[test]
fn contended_reads() {
    let table = RwLock::new(vec![1_u64; 16]);
    in_four_threads(|| {
        for number in 0..50_000_usize {
            black_box(table.read().unwrap()[number % 16]);
            if number % 1_000 == 0 {
                table.write().unwrap()[number % 16] += 1;
            }
        }
    });
}

#[test]
fn counter_of_four_threads() {
    let count = AtomicU64::new(0);
    in_four_threads(|| {
        for _ in 0..250_000 {
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    assert_eq!(count.into_inner(), 1_000_000);
}

#[test]
fn messages_there_and_back() {
    let (to, there) = mpsc::channel();
    let (from, back) = mpsc::channel();
    let echo = thread::spawn(move || there.iter().for_each(|number: u64| from.send(number).unwrap()));
    for number in 0..20_000 {
        to.send(number).unwrap();
        assert_eq!(back.recv().unwrap(), number);
    }
    drop(to);
    echo.join().unwrap();
}

#[test]
fn condition_of_two_threads() {
    let (turn, changed) = (Mutex::new(0_u64), Condvar::new());
    let play = |own: u64| {
        let mut turn = turn.lock().unwrap();
        while *turn < 20_000 {
            if *turn % 2 == own {
                *turn += 1;
                changed.notify_one();
            } else {
                turn = changed.wait(turn).unwrap();
            }
        }
        changed.notify_one();
    };
    thread::scope(|scope| {
        scope.spawn(|| play(0));
        scope.spawn(|| play(1));
    });
}

#[test]
fn clock_readings() {
    let start = Instant::now();
    for _ in 0..200_000 {
        assert!(Instant::now() >= start);
    }
}

#[test]
fn sleeps() {
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(10));
    }
}
