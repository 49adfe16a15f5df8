//! Threads that agree on values, phases and an end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

mod broadcast {
    use super::*;

    #[derive(Default)]
    struct Bus(RwLock<Vec<mpsc::Sender<u32>>>);

    impl Bus {
        fn subscribe(&self) -> mpsc::Receiver<u32> {
            let (sender, receiver) = mpsc::channel();
            self.0.write().unwrap().push(sender);
            receiver
        }

        fn publish(&self, value: u32) {
            for subscriber in &*self.0.read().unwrap() {
                let _ = subscriber.send(value);
            }
        }
    }

    #[test]
    fn right() {
        let bus = Bus::default();
        let early = bus.subscribe();
        thread::scope(|scope| {
            let late = scope.spawn(|| bus.subscribe());
            for value in 0..5 {
                bus.publish(value);
            }
            let late = late.join().unwrap();
            bus.publish(5);
            // A late subscriber has the last messages, without a gap.
            let seen: Vec<_> = late.try_iter().collect();
            assert_eq!(
                seen,
                (6 - u32::try_from(seen.len()).unwrap()..6).collect::<Vec<_>>()
            );
            assert!(!seen.is_empty());
        });
        drop(bus);
        assert_eq!(early.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    }
}

mod the_latest_value {
    use super::*;

    #[test]
    fn right() {
        let (value, changed) = (Mutex::new((0, false)), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut seen = 0;
                    loop {
                        let guard = changed
                            .wait_while(value.lock().unwrap(), |value| value.0 == seen && !value.1)
                            .unwrap();
                        let (now, is_closed) = *guard;
                        assert!(now >= seen);
                        if is_closed {
                            assert_eq!(now, 4);
                            return;
                        }
                        seen = now;
                    }
                });
            }
            for version in 1..=4 {
                *value.lock().unwrap() = (version, version == 4);
                changed.notify_all();
            }
        });
    }
}

mod start_together {
    use super::*;

    #[test]
    fn right() {
        let (barrier, phases) = (Barrier::new(3), [const { AtomicUsize::new(0) }; 3]);
        let leaders = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for phase in &phases {
                        let start = Instant::now();
                        phase.fetch_add(1, SeqCst);
                        leaders.fetch_add(usize::from(barrier.wait().is_leader()), SeqCst);
                        assert_eq!(phase.load(SeqCst), 3);
                        assert!(Instant::now() >= start);
                    }
                });
            }
        });
        assert_eq!(leaders.load(SeqCst), 3);
    }
}

mod results_in_order {
    use super::*;

    #[test]
    fn right() {
        let numbers: Vec<u64> = (0..12).collect();
        let sums: Vec<u64> = thread::scope(|scope| {
            let parts: Vec<_> = numbers
                .chunks(4)
                .map(|chunk| {
                    scope.spawn(move || {
                        thread::sleep(ms(chunk[0]));
                        chunk.iter().sum::<u64>()
                    })
                })
                .collect();
            parts.into_iter().map(|part| part.join().unwrap()).collect()
        });
        assert_eq!(sums, [6, 22, 38]);
    }
}

mod stages_of_a_pipeline {
    use super::*;

    #[test]
    fn right() {
        let (numbers, odd) = mpsc::sync_channel(1);
        let (squares, squared) = mpsc::sync_channel(0);
        thread::scope(|scope| {
            scope.spawn(move || {
                (0..10)
                    .filter(|number| number % 2 == 1)
                    .for_each(|number| numbers.send(number).unwrap())
            });
            scope.spawn(move || {
                odd.iter()
                    .for_each(|number: u32| squares.send(number * number).unwrap())
            });
            assert_eq!(squared.iter().collect::<Vec<_>>(), [1, 9, 25, 49, 81]);
        });
    }
}

mod cancelled_with_its_children {
    use super::*;

    #[derive(Clone, Default)]
    struct Token(Arc<AtomicBool>, Option<Arc<Token>>);

    impl Token {
        fn child(&self) -> Self {
            Self(Arc::default(), Some(Arc::new(self.clone())))
        }

        fn is_cancelled(&self) -> bool {
            self.0.load(SeqCst) || self.1.as_ref().is_some_and(|parent| parent.is_cancelled())
        }
    }

    #[test]
    fn right() {
        let all = Token::default();
        let (one, other) = (all.child(), all.child());
        thread::scope(|scope| {
            let wait = |token: Token| {
                move || {
                    while !token.is_cancelled() {
                        thread::sleep(ms(2));
                    }
                }
            };
            let first = scope.spawn(wait(one.clone()));
            let second = scope.spawn(wait(other.clone()));
            one.0.store(true, SeqCst);
            first.join().unwrap();
            assert!(!second.is_finished() && !other.is_cancelled());
            all.0.store(true, SeqCst);
            second.join().unwrap();
        });
    }
}

mod one_leader {
    use super::*;

    #[test]
    fn right() {
        let leader = AtomicUsize::new(0);
        let believe = thread::scope(|scope| {
            let threads: Vec<_> = (1..=4)
                .map(|name| {
                    let leader = &leader;
                    scope.spawn(move || {
                        leader
                            .compare_exchange(0, name, SeqCst, SeqCst)
                            .is_ok()
                            .then_some(name)
                    })
                })
                .collect();
            threads
                .into_iter()
                .filter_map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        });
        assert_eq!(believe, [leader.load(SeqCst)]);
    }
}
