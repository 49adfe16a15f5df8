//! Tasks of tokio and smol, and the channels, locks and pools of other crates.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

mod loop_of_commands_and_ticks {
    use super::*;
    use tokio::sync::{mpsc, oneshot};

    async fn serve(mut commands: mpsc::Receiver<(u32, oneshot::Sender<u32>)>) -> (u32, u32) {
        let mut interval = tokio::time::interval(ms(3));
        let (mut sum, mut ticks) = (0, 0);
        loop {
            tokio::select! {
                command = commands.recv() => match command {
                    Some((number, reply)) => {
                        sum += number;
                        reply.send(sum).unwrap();
                    }
                    None => return (sum, ticks),
                },
                _ = interval.tick() => ticks += 1,
            }
        }
    }

    async fn ask() {
        let start = Instant::now();
        let (commands, received) = mpsc::channel(2);
        let server = tokio::spawn(serve(received));
        for number in 1..=3 {
            let (reply, answer) = oneshot::channel();
            commands.send((number, reply)).await.unwrap();
            assert_eq!(answer.await.unwrap(), number * (number + 1) / 2);
            tokio::time::sleep(ms(4)).await;
        }
        drop(commands);
        let (sum, ticks) = server.await.unwrap();
        assert_eq!(sum, 6);
        // The first tick is immediate.
        assert!(start.elapsed() >= ms(3) * ticks.saturating_sub(1));
    }

    #[tokio::test]
    async fn right() {
        ask().await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn with_workers_right() {
        ask().await;
    }
}

mod watch_and_broadcast {
    use tokio::sync::{broadcast, watch};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn right() {
        let (state, mut seen) = watch::channel(0);
        let (events, mut received) = broadcast::channel(2);
        let watcher = tokio::spawn(async move {
            let mut last = 0;
            while seen.changed().await.is_ok() {
                let now = *seen.borrow_and_update();
                assert!(now >= last);
                last = now;
            }
            last
        });
        let listener = tokio::spawn(async move {
            let (mut heard, mut missed) = (0, 0);
            loop {
                match received.recv().await {
                    Ok(_) => heard += 1,
                    Err(broadcast::error::RecvError::Lagged(count)) => missed += count,
                    Err(broadcast::error::RecvError::Closed) => return heard + missed,
                }
            }
        });
        for value in 1..=6 {
            state.send(value).unwrap();
            events.send(value).unwrap();
            tokio::task::yield_now().await;
        }
        drop((state, events));
        assert_eq!(watcher.await.unwrap(), 6);
        assert_eq!(listener.await.unwrap(), 6);
    }
}

mod so_many_at_a_time {
    use super::*;
    use tokio::sync::Semaphore;
    use tokio::task::JoinSet;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn right() {
        let (permits, running) = (Arc::new(Semaphore::new(2)), Arc::new(AtomicUsize::new(0)));
        let mut tasks = JoinSet::new();
        for number in 0..5_usize {
            let (permits, running) = (Arc::clone(&permits), Arc::clone(&running));
            tasks.spawn(async move {
                let _permit = permits.acquire().await.unwrap();
                assert!(running.fetch_add(1, SeqCst) < 2);
                tokio::time::sleep(ms(2)).await;
                running.fetch_sub(1, SeqCst);
                number
            });
        }
        let mut done = tasks.join_all().await;
        done.sort_unstable();
        assert_eq!(done, [0, 1, 2, 3, 4]);
    }
}

mod shutdown_of_tasks {
    use super::*;
    use tokio::sync::{mpsc, watch};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn right() {
        let (stop, stopped) = watch::channel(false);
        let (alive, mut ended) = mpsc::channel::<()>(1);
        let rounds = Arc::new(AtomicUsize::new(0));
        for _ in 0..3 {
            let (mut stopped, alive, rounds) =
                (stopped.clone(), alive.clone(), Arc::clone(&rounds));
            tokio::spawn(async move {
                while tokio::time::timeout(ms(3), stopped.wait_for(|stop| *stop))
                    .await
                    .is_err()
                {
                    rounds.fetch_add(1, SeqCst);
                }
                drop(alive);
            });
        }
        drop(alive);
        tokio::time::sleep(ms(8)).await;
        stop.send(true).unwrap();
        assert_eq!(ended.recv().await, None);
        let after = rounds.load(SeqCst);
        tokio::time::sleep(ms(8)).await;
        assert_eq!(rounds.load(SeqCst), after);
    }
}

mod echo_over_sockets {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::task::JoinSet;

    #[tokio::test]
    async fn right() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            for _ in 0..3 {
                let (mut stream, _) = listener.accept().await.unwrap();
                connections.spawn(async move {
                    let (mut from, mut to) = stream.split();
                    tokio::io::copy(&mut from, &mut to).await.unwrap()
                });
            }
            connections.join_all().await.into_iter().sum::<u64>()
        });
        let mut clients = JoinSet::new();
        for number in 0..3_u8 {
            clients.spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(&[number; 4]).await.unwrap();
                stream.shutdown().await.unwrap();
                let mut echo = Vec::new();
                stream.read_to_end(&mut echo).await.unwrap();
                assert_eq!(echo, [number; 4]);
            });
        }
        clients.join_all().await;
        assert_eq!(server.await.unwrap(), 12);
    }
}

mod retry_with_timeouts {
    use super::*;

    #[tokio::test]
    async fn right() {
        let start = Instant::now();
        let attempts = AtomicUsize::new(0);
        let value = loop {
            let number = attempts.fetch_add(1, SeqCst);
            let work = async {
                if number < 2 {
                    std::future::pending::<()>().await;
                }
                number
            };
            match tokio::time::timeout(ms(5), work).await {
                Ok(value) => break value,
                Err(_) => tokio::time::sleep(ms(2)).await,
            }
        };
        assert_eq!(value, 2);
        assert!(start.elapsed() >= ms(14));
    }
}

mod notified_before_it_waits {
    use super::*;
    use tokio::sync::Notify;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn right() {
        let (ready, queue) = (
            Arc::new(Notify::new()),
            Arc::new(std::sync::Mutex::new(Vec::new())),
        );
        let consumer = {
            let (ready, queue) = (Arc::clone(&ready), Arc::clone(&queue));
            tokio::spawn(async move {
                let mut seen = Vec::new();
                while seen.len() < 4 {
                    ready.notified().await;
                    seen.append(&mut queue.lock().unwrap());
                }
                seen
            })
        };
        for value in 0..4 {
            queue.lock().unwrap().push(value);
            ready.notify_one();
        }
        assert_eq!(consumer.await.unwrap(), [0, 1, 2, 3]);
    }
}

mod timers_of_smol {
    use super::*;
    use smol::{Timer, channel, future};

    #[test]
    fn right() {
        smol::block_on(async {
            let (sender, receiver) = channel::bounded(1);
            let start = Instant::now();
            let producer = smol::spawn(async move {
                for value in 0..3 {
                    Timer::after(ms(3)).await;
                    sender.send((value, start.elapsed())).await.unwrap();
                }
            });
            let mut next = 0;
            loop {
                let message = future::or(async { Some(receiver.recv().await) }, async {
                    Timer::after(ms(4)).await;
                    None
                });
                match message.await {
                    Some(Ok((value, at))) => {
                        assert_eq!(value, next);
                        next += 1;
                        assert!(at >= ms(3) * next);
                    }
                    Some(Err(_)) => break,
                    None => {}
                }
            }
            assert_eq!(next, 3);
            producer.await;
        });
    }
}

mod select_over_channels {
    use super::*;
    use crossbeam::channel::{bounded, select, tick};

    #[test]
    fn right() {
        let (work, jobs) = bounded(1);
        let (stop, stopped) = bounded::<()>(0);
        let start = Instant::now();
        let worker = thread::spawn(move || {
            let ticks = tick(ms(3));
            let (mut sum, mut beats) = (0, Vec::new());
            loop {
                select! {
                    recv(jobs) -> job => match job {
                        Ok(job) => sum += job,
                        Err(_) => break,
                    },
                    recv(ticks) -> _ => beats.push(start.elapsed()),
                }
            }
            drop(stopped);
            (sum, beats)
        });
        for job in 1..=4 {
            work.send(job).unwrap();
            thread::sleep(ms(2));
        }
        drop(work);
        assert!(stop.send(()).is_err());
        let (sum, beats) = worker.join().unwrap();
        assert_eq!(sum, 10);
        assert!(beats.iter().all(|beat| *beat >= ms(3)) && beats.is_sorted());
    }
}

mod replies_over_flume {
    use super::*;

    #[test]
    fn right() {
        let (requests, received) = flume::bounded::<(u32, flume::Sender<u32>)>(1);
        thread::scope(|scope| {
            for _ in 0..2 {
                let received = received.clone();
                scope.spawn(move || {
                    received
                        .iter()
                        .for_each(|(number, reply)| reply.send(number * 2).unwrap())
                });
            }
            drop(received);
            for number in 0..3 {
                let requests = requests.clone();
                scope.spawn(move || {
                    let (reply, answer) = flume::bounded(1);
                    requests.send((number, reply)).unwrap();
                    assert_eq!(answer.recv().unwrap(), number * 2);
                });
            }
            drop(requests);
        });
    }
}

mod turns_with_parking_lot {
    use parking_lot::{Condvar, Mutex};
    use std::thread;

    #[test]
    fn right() {
        let (turn, changed) = (Mutex::new((0, Vec::new())), Condvar::new());
        thread::scope(|scope| {
            for player in 0..2 {
                let (turn, changed) = (&turn, &changed);
                scope.spawn(move || {
                    for _ in 0..4 {
                        let mut guard = turn.lock();
                        changed.wait_while(&mut guard, |turn| turn.0 != player);
                        guard.0 = 1 - player;
                        guard.1.push(player);
                        changed.notify_one();
                    }
                });
            }
        });
        assert_eq!(turn.into_inner().1, [0, 1, 0, 1, 0, 1, 0, 1]);
    }
}

mod parts_with_rayon {
    use super::*;
    use rayon::prelude::*;

    #[test]
    fn right() {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .unwrap();
        let seen = AtomicUsize::new(0);
        let squares: Vec<usize> = pool.install(|| {
            (0..20_usize)
                .into_par_iter()
                .map(|number| {
                    seen.fetch_add(1, SeqCst);
                    number * number
                })
                .collect()
        });
        assert_eq!(seen.load(SeqCst), 20);
        assert!(
            squares
                .iter()
                .enumerate()
                .all(|(index, square)| *square == index * index)
        );
    }
}
