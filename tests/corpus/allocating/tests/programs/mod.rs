//! Correct programs whose threads pass memory to each other, by what starts the threads.

use std::collections::HashMap;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// Returns texts of several sizes.
fn words(number: usize) -> Vec<String> {
    (0..number).map(|word| "x".repeat(word * word)).collect()
}

fn length(words: &[String]) -> usize {
    words.iter().map(String::len).sum()
}

#[test]
fn threads_send_memory() {
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..3)
        .map(|thread| {
            let sender = sender.clone();
            thread::spawn(move || {
                for number in 0..8 {
                    sender.send(words(thread + number)).unwrap();
                }
            })
        })
        .collect();
    drop(sender);
    assert_eq!(receiver.iter().count(), 24);
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn threads_share_a_map() {
    let shared = Arc::new((Mutex::new(HashMap::new()), Condvar::new()));
    let threads: Vec<_> = (0..3)
        .map(|thread| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (map, changed) = &*shared;
                for number in 0..6 {
                    map.lock().unwrap().insert((thread, number), words(number));
                    changed.notify_one();
                    thread::yield_now();
                }
            })
        })
        .collect();
    let (map, changed) = &*shared;
    let map = changed.wait_while(map.lock().unwrap(), |map| map.len() < 18);
    assert_eq!(
        map.unwrap()
            .values()
            .map(|words| length(words))
            .sum::<usize>(),
        3 * 50
    );
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_pool_of_futures() {
    use futures::task::SpawnExt;
    let pool = futures::executor::ThreadPool::builder()
        .pool_size(3)
        .create()
        .unwrap();
    let handles: Vec<_> = (0..8)
        .map(|number| {
            pool.spawn_with_handle(async move { length(&words(number)) })
                .unwrap()
        })
        .collect();
    let lengths = futures::executor::block_on(futures::future::join_all(handles));
    assert_eq!(lengths.iter().sum::<usize>(), 196);
}

#[test]
fn rayon_maps() {
    use rayon::prelude::*;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(3)
        .build()
        .unwrap();
    let sum: usize = pool.install(|| {
        let words = (0..20).into_par_iter().map(words);
        words.map(|words| length(&words)).sum()
    });
    assert_eq!(sum, (0..20).map(|n| length(&words(n))).sum());
}

#[test]
fn tokio_tasks() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let sum = runtime.block_on(async {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(2);
        for number in 0..6 {
            let sender = sender.clone();
            tokio::spawn(async move {
                tokio::time::sleep(std::time::Duration::from_millis(number as u64)).await;
                sender.send(words(number)).await.unwrap();
            });
        }
        drop(sender);
        let of_file = tokio::fs::read("Cargo.toml").await.unwrap();
        assert!(!of_file.is_empty());
        let mut sum = 0;
        while let Some(words) = receiver.recv().await {
            sum += length(&words);
        }
        sum
    });
    assert_eq!(sum, 50);
}

#[test]
fn crossbeam_hands_over() {
    let (sender, receiver) = crossbeam::channel::bounded(2);
    let queue = crossbeam::queue::SegQueue::new();
    let sum = crossbeam::thread::scope(|scope| {
        for thread in 0..3 {
            let (sender, queue) = (sender.clone(), &queue);
            scope.spawn(move |_| {
                for number in 0..6 {
                    queue.push(words(number));
                    sender.send(words(thread)).unwrap();
                }
            });
        }
        drop(sender);
        receiver.iter().map(|words| length(&words)).sum::<usize>()
    });
    assert_eq!(sum.unwrap(), 6);
    assert_eq!(queue.len(), 18);
}
