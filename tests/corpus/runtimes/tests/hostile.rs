//! Programs that must pass in every schedule.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn echo() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = [0; 4];
        stream.read_exact(&mut text).await.unwrap();
        stream.write_all(&text).await.unwrap();
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"ping").await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "ping");
    server.await.unwrap();
}

#[tokio::test]
async fn passes_with_tcp() {
    echo().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn passes_with_tcp_on_three_workers() {
    echo().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn passes_with_a_thousand_tasks() {
    let sum = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..1000)
        .map(|number| {
            let sum = Arc::clone(&sum);
            tokio::spawn(async move {
                tokio::task::yield_now().await;
                sum.fetch_add(number, SeqCst)
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(sum.load(SeqCst), 499_500);
}

#[tokio::test(start_paused = true)]
async fn passes_with_paused_time() {
    let start = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert_eq!(start.elapsed(), Duration::from_secs(3600));
}

#[tokio::test(flavor = "multi_thread")]
async fn passes_with_a_sleep_of_three_seconds() {
    let start = Instant::now();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(start.elapsed() >= Duration::from_secs(3));
}

#[tokio::test]
async fn passes_with_an_interval() {
    let mut interval = tokio::time::interval(Duration::from_millis(5));
    let start = Instant::now();
    for _ in 0..5 {
        interval.tick().await;
    }
    assert!(start.elapsed() >= Duration::from_millis(20));
}

#[tokio::test]
async fn passes_with_files_and_blocking_tasks() {
    let path = std::env::temp_dir().join("runtimes-file");
    tokio::fs::write(&path, b"text").await.unwrap();
    let text = tokio::fs::read(&path).await.unwrap();
    assert_eq!(text, b"text");
    let sum = tokio::task::spawn_blocking(|| {
        std::thread::sleep(Duration::from_millis(3));
        3
    });
    assert_eq!(sum.await.unwrap(), 3);
}

#[tokio::test]
async fn passes_with_a_child() {
    let output = tokio::process::Command::new("sh")
        .args(["-c", "sleep 0.05; echo said"])
        .output()
        .await
        .unwrap();
    assert_eq!(output.stdout, b"said\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn passes_with_select_and_channels() {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
    let (stop, mut stopped) = tokio::sync::oneshot::channel();
    let sending = tokio::spawn(async move {
        for number in 0..20 {
            sender.send(number).await.unwrap();
        }
        stop.send(()).unwrap();
    });
    let (mut sum, mut is_stopped) = (0, false);
    loop {
        tokio::select! {
            number = receiver.recv() => match number {
                Some(number) => sum += number,
                None => break,
            },
            _ = &mut stopped, if !is_stopped => is_stopped = true,
        }
    }
    sending.await.unwrap();
    assert_eq!(sum, 190);
}

#[test]
fn passes_with_rayon() {
    use rayon::prelude::*;
    assert_eq!(
        (0..10_000_u64)
            .into_par_iter()
            .map(|number| number * 2)
            .sum::<u64>(),
        99_990_000
    );
    let mut numbers: Vec<u32> = (0..5000).rev().collect();
    numbers.par_sort();
    assert!(numbers.is_sorted());
    let (a, b) = rayon::join(|| 1, || 2);
    assert_eq!(a + b, 3);
}

#[test]
fn passes_with_crossbeam() {
    let (sender, receiver) = crossbeam::channel::bounded(0);
    let after = crossbeam::channel::after(Duration::from_millis(20));
    crossbeam::scope(|scope| {
        scope.spawn(|_| {
            std::thread::sleep(Duration::from_millis(1));
            let _ = sender.send(1);
        });
        crossbeam::select! {
            recv(receiver) -> number => assert_eq!(number, Ok(1)),
            recv(after) -> _ => drop(receiver),
        }
    })
    .unwrap();
    let queue = crossbeam::queue::SegQueue::new();
    crossbeam::scope(|scope| {
        for number in 0..4 {
            let queue = &queue;
            scope.spawn(move |_| (0..100).for_each(|_| queue.push(number)));
        }
    })
    .unwrap();
    assert_eq!(std::iter::from_fn(|| queue.pop()).count(), 400);
}

#[test]
fn passes_with_parking_lot() {
    let lock = parking_lot::RwLock::new(0);
    let condition = (parking_lot::Mutex::new(false), parking_lot::Condvar::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..20).for_each(|_| *lock.write() += 1));
            scope.spawn(|| (0..20).for_each(|_| assert!(*lock.read() <= 60)));
        }
        scope.spawn(|| {
            *condition.0.lock() = true;
            condition.1.notify_all();
        });
        let mut ready = condition.0.lock();
        while !*ready {
            condition.1.wait_for(&mut ready, Duration::from_millis(1));
        }
    });
    assert_eq!(*lock.read(), 60);
}

#[test]
fn passes_with_smol() {
    smol::block_on(async {
        let start = Instant::now();
        let task = smol::spawn(async {
            smol::Timer::after(Duration::from_millis(500)).await;
            7
        });
        let blocking = smol::unblock(|| 8);
        assert_eq!(task.await + blocking.await, 15);
        assert!(start.elapsed() >= Duration::from_millis(500));
    });
}

#[test]
fn passes_with_flume_and_futures() {
    let (sender, receiver) = flume::bounded(2);
    let sending =
        std::thread::spawn(move || (0..50).for_each(|number| sender.send(number).unwrap()));
    let numbers: Vec<u32> = futures::executor::block_on(async {
        let mut numbers = Vec::new();
        while let Ok(number) = receiver.recv_async().await {
            numbers.push(number);
        }
        numbers
    });
    sending.join().unwrap();
    assert_eq!(numbers, (0..50).collect::<Vec<_>>());
}
