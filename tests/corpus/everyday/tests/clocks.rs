//! Timers, repetitions and time limits. No test expects to be early enough, only not too early.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

mod token_bucket {
    use super::*;

    const BURST: u32 = 2;
    const PERIOD: Duration = ms(4);

    struct Bucket(Mutex<(u32, Instant)>);

    impl Bucket {
        fn try_take(&self) -> bool {
            let mut state = self.0.lock().unwrap();
            let periods = (Instant::now() - state.1).as_nanos() / PERIOD.as_nanos();
            let whole = u32::try_from(periods).unwrap();
            state.0 = BURST.min(state.0.saturating_add(whole));
            state.1 += PERIOD * whole;
            let is_free = state.0 > 0;
            state.0 -= u32::from(is_free);
            is_free
        }
    }

    #[test]
    fn right() {
        let start = Instant::now();
        let bucket = Bucket(Mutex::new((BURST, start)));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..3 {
                        while !bucket.try_take() {
                            thread::sleep(ms(1));
                        }
                    }
                });
            }
        });
        // Nine permits were taken, two of them at once. The others took one period each.
        assert!(start.elapsed() >= PERIOD * 7);
    }
}

mod debounce {
    use super::*;

    #[test]
    fn right() {
        let (events, received) = mpsc::channel();
        let fired = Arc::new(Mutex::new(Vec::new()));
        let debouncer = {
            let fired = Arc::clone(&fired);
            thread::spawn(move || {
                while let Ok(mut last) = received.recv() {
                    let is_open = loop {
                        match received.recv_timeout(ms(5)) {
                            Ok(event) => last = event,
                            Err(mpsc::RecvTimeoutError::Timeout) => break true,
                            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
                        }
                    };
                    fired.lock().unwrap().push(last);
                    if !is_open {
                        return;
                    }
                }
            })
        };
        for event in 0..6 {
            events.send(event).unwrap();
            thread::sleep(ms(if event == 2 { 20 } else { 1 }));
        }
        drop(events);
        debouncer.join().unwrap();
        let fired = fired.lock().unwrap();
        assert!(fired.is_sorted() && fired.len() <= 6);
        assert_eq!(fired.last(), Some(&5));
    }
}

mod retry_with_backoff {
    use super::*;

    fn retry<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<(T, u32)> {
        (0..5).find_map(|number| {
            let done = attempt();
            if done.is_none() {
                thread::sleep(ms(1) * 2_u32.pow(number));
            }
            done.map(|done| (done, number))
        })
    }

    #[test]
    fn right() {
        let failures = AtomicUsize::new(0);
        thread::scope(|scope| {
            for fails in 0..4_u32 {
                let failures = &failures;
                scope.spawn(move || {
                    let (start, mut left) = (Instant::now(), fails);
                    let (at, number) = retry(|| {
                        let is_over = left == 0;
                        left = left.saturating_sub(1);
                        failures.fetch_add(usize::from(!is_over), SeqCst);
                        is_over.then(Instant::now)
                    })
                    .unwrap();
                    assert_eq!(number, fails);
                    assert!(at - start >= ms(1) * (2_u32.pow(fails) - 1));
                });
            }
        });
        assert_eq!(failures.load(SeqCst), 6);
    }
}

mod watchdog {
    use super::*;

    #[test]
    fn right() {
        let start = Instant::now();
        let last = Arc::new(Mutex::new(start));
        let (barks, heard) = mpsc::channel();
        let dog = {
            let last = Arc::clone(&last);
            thread::spawn(move || {
                loop {
                    let quiet = last.lock().unwrap().elapsed();
                    if quiet >= ms(15) {
                        barks.send(quiet).unwrap();
                        return;
                    }
                    thread::sleep(ms(15) - quiet);
                }
            })
        };
        for _ in 0..4 {
            *last.lock().unwrap() = Instant::now();
            thread::sleep(ms(3));
        }
        // The watchdog barks in the end. It barks sooner only if this thread was really late.
        assert!(heard.recv().unwrap() >= ms(15));
        assert!(start.elapsed() >= ms(15));
        dog.join().unwrap();
    }
}

mod heartbeat {
    use super::*;

    #[test]
    fn right() {
        let (beats, received) = mpsc::sync_channel(1);
        let heart = thread::spawn(move || {
            for beat in 0..4 {
                if beats.send(beat).is_err() {
                    return;
                }
                thread::sleep(ms(4));
            }
            // Alive, but silent.
            thread::sleep(ms(30));
        });
        let (mut next, mut last) = (0, Instant::now());
        let silence = loop {
            match received.recv_timeout(ms(12)) {
                Ok(beat) => {
                    assert_eq!(beat, next);
                    next += 1;
                    last = Instant::now();
                }
                Err(_) => break last.elapsed(),
            }
        };
        drop(received);
        heart.join().unwrap();
        assert!(silence >= ms(12) || next == 4);
    }
}

mod ticker_that_is_stopped {
    use super::*;

    #[test]
    fn right() {
        let (stop, stopped) = mpsc::channel::<()>();
        let (ticks, ticked) = mpsc::channel();
        let start = Instant::now();
        let ticker = thread::spawn(move || {
            while let Err(mpsc::RecvTimeoutError::Timeout) = stopped.recv_timeout(ms(4)) {
                ticks.send(start.elapsed()).unwrap();
            }
        });
        for tick in 1..=3 {
            assert!(ticked.recv().unwrap() >= ms(4) * tick);
        }
        drop(stop);
        ticker.join().unwrap();
        assert!(ticked.iter().all(|at| at >= ms(16)));
    }
}

mod timer_queue {
    use super::*;

    #[derive(Default)]
    struct Timers {
        queue: Mutex<(BinaryHeap<Reverse<(Instant, u32)>>, bool)>,
        changed: Condvar,
    }

    impl Timers {
        fn run(&self, fired: &Mutex<Vec<(Instant, Instant, u32)>>) {
            let mut queue = self.queue.lock().unwrap();
            loop {
                let now = Instant::now();
                match queue.0.peek() {
                    Some(&Reverse((at, name))) if at <= now => {
                        queue.0.pop();
                        fired.lock().unwrap().push((at, now, name));
                    }
                    Some(&Reverse((at, _))) => {
                        queue = self.changed.wait_timeout(queue, at - now).unwrap().0
                    }
                    None if queue.1 => return,
                    None => queue = self.changed.wait(queue).unwrap(),
                }
            }
        }
    }

    #[test]
    fn right() {
        let (timers, fired) = (Timers::default(), Mutex::default());
        thread::scope(|scope| {
            scope.spawn(|| timers.run(&fired));
            for name in 0..3 {
                let timers = &timers;
                scope.spawn(move || {
                    for delay in [9, 3, 6] {
                        timers
                            .queue
                            .lock()
                            .unwrap()
                            .0
                            .push(Reverse((Instant::now() + ms(delay), name)));
                        timers.changed.notify_one();
                    }
                });
            }
            thread::sleep(ms(5));
            timers.queue.lock().unwrap().1 = true;
            timers.changed.notify_one();
        });
        let fired = fired.into_inner().unwrap();
        assert!(fired.iter().all(|(at, now, _)| now >= at));
        assert!(fired.len() <= 9);
        // A late thread may not have queued its timer. All queued timers have fired.
        assert!(timers.queue.into_inner().unwrap().0.len() + fired.len() == 9);
    }
}

mod what_is_left_of_a_deadline {
    use super::*;

    #[test]
    fn right() {
        let (value, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            let waiters: Vec<_> = [2, 20]
                .map(|limit| {
                    let (value, changed) = (&value, &changed);
                    scope.spawn(move || {
                        let start = Instant::now();
                        let value = value.lock().unwrap();
                        let (value, result) = changed
                            .wait_timeout_while(value, ms(limit), |value| *value < 3)
                            .unwrap();
                        assert_eq!(result.timed_out(), *value < 3);
                        assert!(*value == 3 || start.elapsed() >= ms(limit));
                    })
                })
                .into();
            for _ in 0..3 {
                thread::sleep(ms(3));
                *value.lock().unwrap() += 1;
                changed.notify_all();
            }
            for waiter in waiters {
                waiter.join().unwrap();
            }
        });
    }
}

mod throttle {
    use super::*;

    #[test]
    fn right() {
        let last = Mutex::new(None::<Instant>);
        let accepted = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..4 {
                        let mut last = last.lock().unwrap();
                        let now = Instant::now();
                        if last.is_none_or(|last| now - last >= ms(5)) {
                            *last = Some(now);
                            accepted.lock().unwrap().push(now);
                        }
                        drop(last);
                        thread::sleep(ms(2));
                    }
                });
            }
        });
        let accepted = accepted.into_inner().unwrap();
        assert!(!accepted.is_empty());
        assert!(accepted.windows(2).all(|pair| pair[1] - pair[0] >= ms(5)));
    }
}
