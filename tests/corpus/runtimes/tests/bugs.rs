//! `bug` fails in some schedule or after some delay. Its twin `right` never does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

mod parking_lot_lost_update {
    use super::*;
    use parking_lot::Mutex;

    fn add(at_once: bool) {
        let count = Arc::new(Mutex::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let count = Arc::clone(&count);
                std::thread::spawn(move || {
                    if at_once {
                        *count.lock() += 1;
                    } else {
                        let seen = *count.lock();
                        *count.lock() = seen + 1;
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*count.lock(), 2);
    }

    #[test]
    fn bug() {
        add(false);
    }

    #[test]
    fn right() {
        add(true);
    }
}

mod parking_lot_deadlock {
    use parking_lot::Mutex;

    fn take_both(same_order: bool) {
        let locks = [Mutex::new(0), Mutex::new(0)];
        std::thread::scope(|scope| {
            for (first, second) in [(0, 1), if same_order { (0, 1) } else { (1, 0) }] {
                let locks = &locks;
                scope.spawn(move || {
                    let mut first = locks[first].lock();
                    *first += 1;
                    *locks[second].lock() += 1;
                });
            }
        });
    }

    #[test]
    fn bug() {
        take_both(false);
    }

    #[test]
    fn right() {
        take_both(true);
    }
}

mod parking_lot_missed_notification {
    use super::*;
    use parking_lot::{Condvar, Mutex};
    use std::sync::atomic::AtomicBool;

    fn wait(locks: bool) {
        let (lock, condition, is_ready) = (Mutex::new(()), Condvar::new(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let guard = locks.then(|| lock.lock());
                is_ready.store(true, SeqCst);
                drop(guard);
                condition.notify_one();
            });
            let mut guard = lock.lock();
            while !is_ready.load(SeqCst) {
                condition.wait(&mut guard);
            }
        });
    }

    #[test]
    fn bug() {
        wait(false);
    }

    #[test]
    fn right() {
        wait(true);
    }
}

mod crossbeam_order {
    fn receive(sorts: bool) {
        let (sender, receiver) = crossbeam::channel::unbounded();
        for name in ["a", "b"] {
            let sender = sender.clone();
            std::thread::spawn(move || sender.send(name).unwrap());
        }
        drop(sender);
        let mut names: Vec<_> = receiver.iter().collect();
        if sorts {
            names.sort_unstable();
        }
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn bug() {
        receive(false);
    }

    #[test]
    fn right() {
        receive(true);
    }
}

mod flume_order {
    fn receive(sorts: bool) {
        let (sender, receiver) = flume::bounded(1);
        for name in ["a", "b"] {
            let sender = sender.clone();
            std::thread::spawn(move || sender.send(name).unwrap());
        }
        drop(sender);
        let mut names: Vec<_> = receiver.iter().collect();
        if sorts {
            names.sort_unstable();
        }
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn bug() {
        receive(false);
    }

    #[test]
    fn right() {
        receive(true);
    }
}

mod rayon_order {
    use rayon::prelude::*;
    use std::sync::Mutex;

    fn collect(sorts: bool) {
        let seen = Mutex::new(Vec::new());
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        pool.install(|| {
            (0..4)
                .into_par_iter()
                .for_each(|number| seen.lock().unwrap().push(number))
        });
        let mut seen = seen.into_inner().unwrap();
        if sorts {
            seen.sort_unstable();
        }
        assert_eq!(seen, [0, 1, 2, 3]);
    }

    // With several workers, stealing affects canonical order. One worker's result is expected.
    #[test]
    fn bug() {
        collect(false);
    }

    #[test]
    fn right() {
        collect(true);
    }
}

mod rayon_lost_update {
    use super::*;
    use rayon::prelude::*;

    fn add(at_once: bool) {
        let count = AtomicUsize::new(0);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(2)
            .build()
            .unwrap();
        pool.install(|| {
            (0..8).into_par_iter().for_each(|_| {
                if at_once {
                    count.fetch_add(1, SeqCst);
                } else {
                    let seen = count.load(SeqCst);
                    count.store(seen + 1, SeqCst);
                }
            });
        });
        assert_eq!(count.load(SeqCst), 8);
    }

    #[test]
    fn bug() {
        add(false);
    }

    #[test]
    fn right() {
        add(true);
    }
}

mod tokio_order {
    use std::sync::{Arc, Mutex};

    async fn run(sorts: bool) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let seen = Arc::clone(&seen);
                tokio::spawn(async move { seen.lock().unwrap().push(number) })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let mut seen = seen.lock().unwrap().clone();
        if sorts {
            seen.sort_unstable();
        }
        seen.iter()
            .zip(seen.iter().skip(1))
            .for_each(|(a, b)| assert!(a < b, "{seen:?}"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn bug() {
        run(false).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn right() {
        run(true).await;
    }
}

mod tokio_lost_update {
    use super::*;

    async fn run(at_once: bool) {
        let count = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let count = Arc::clone(&count);
                tokio::spawn(async move {
                    if at_once {
                        count.fetch_add(1, SeqCst);
                    } else {
                        let seen = count.load(SeqCst);
                        count.store(seen + 1, SeqCst);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(count.load(SeqCst), 2);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn bug() {
        run(false).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn right() {
        run(true).await;
    }
}

mod tokio_timeout_60 {
    use super::*;

    async fn run(limit: Duration) {
        let work = tokio::spawn(tokio::time::sleep(ms(20)));
        tokio::time::timeout(limit, work)
            .await
            .expect("in time")
            .unwrap();
    }

    #[tokio::test]
    async fn bug() {
        run(ms(80)).await;
    }

    #[tokio::test]
    async fn right() {
        run(ms(100_000_000)).await;
    }
}

mod tokio_blocking_order {
    use super::*;

    async fn run(awaits: bool) {
        let done = Arc::new(AtomicUsize::new(0));
        let its = Arc::clone(&done);
        let blocking = tokio::task::spawn_blocking(move || its.store(1, SeqCst));
        if awaits {
            blocking.await.unwrap();
        } else {
            tokio::time::sleep(ms(10)).await;
        }
        assert_eq!(done.load(SeqCst), 1);
    }

    #[tokio::test]
    async fn bug() {
        run(false).await;
    }

    #[tokio::test]
    async fn right() {
        run(true).await;
    }
}

mod smol_timeout_60 {
    use super::*;

    fn run(limit: Duration) {
        smol::block_on(async {
            let work = async {
                smol::Timer::after(ms(20)).await;
                true
            };
            let late = async {
                smol::Timer::after(limit).await;
                false
            };
            assert!(smol::future::or(work, late).await, "too late");
        });
    }

    #[test]
    fn bug() {
        run(ms(80));
    }

    #[test]
    fn right() {
        run(ms(100_000_000));
    }
}

mod async_channel_order {
    fn run(sorts: bool) {
        let (sender, receiver) = async_channel::bounded(4);
        for name in ["a", "b"] {
            let sender = sender.clone();
            std::thread::spawn(move || smol::block_on(sender.send(name)).unwrap());
        }
        drop(sender);
        let mut names = Vec::new();
        while let Ok(name) = smol::block_on(receiver.recv()) {
            names.push(name);
        }
        if sorts {
            names.sort_unstable();
        }
        assert_eq!(names, ["a", "b"]);
    }

    #[test]
    fn bug() {
        run(false);
    }

    #[test]
    fn right() {
        run(true);
    }
}
