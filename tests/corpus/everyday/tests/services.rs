//! Servers and workers, and their messages.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread;
use std::time::Duration;

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

mod actor_with_a_mailbox {
    use super::*;

    enum Message {
        Add(u64),
        Ask(mpsc::Sender<u64>),
    }

    #[test]
    fn right() {
        let (mailbox, messages) = mpsc::channel();
        let actor = thread::spawn(move || {
            let mut sum = 0;
            for message in messages {
                match message {
                    Message::Add(number) => sum += number,
                    Message::Ask(reply) => reply.send(sum).unwrap(),
                }
            }
            sum
        });
        let clients: Vec<_> = (1..4)
            .map(|number| {
                let mailbox = mailbox.clone();
                thread::spawn(move || {
                    mailbox.send(Message::Add(number)).unwrap();
                    let (reply, answer) = mpsc::channel();
                    mailbox.send(Message::Ask(reply)).unwrap();
                    assert!((number..=6).contains(&answer.recv().unwrap()));
                })
            })
            .collect();
        drop(mailbox);
        for client in clients {
            client.join().unwrap();
        }
        assert_eq!(actor.join().unwrap(), 6);
    }
}

mod shutdown_that_drains {
    use super::*;

    #[test]
    fn right() {
        let (jobs, queue) = mpsc::channel();
        let (queue, done) = (Arc::new(Mutex::new(queue)), Arc::new(AtomicUsize::new(0)));
        let workers: Vec<_> = (0..3)
            .map(|_| {
                let (queue, done) = (Arc::clone(&queue), Arc::clone(&done));
                thread::spawn(move || {
                    loop {
                        let job: Result<usize, _> = queue.lock().unwrap().recv();
                        let Ok(job) = job else { return };
                        thread::sleep(ms(1));
                        done.fetch_add(job, SeqCst);
                    }
                })
            })
            .collect();
        for job in 1..=8 {
            jobs.send(job).unwrap();
        }
        drop(jobs);
        for worker in workers {
            worker.join().unwrap();
        }
        assert_eq!(done.load(SeqCst), 36);
    }
}

mod shutdown_that_is_asked_for {
    use super::*;

    #[test]
    fn right() {
        let state = (Mutex::new((false, 0)), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut guard = state.0.lock().unwrap();
                    while !guard.0 {
                        guard.1 += 1;
                        guard = state.1.wait_timeout(guard, ms(3)).unwrap().0;
                    }
                });
            }
            thread::sleep(ms(10));
            state.0.lock().unwrap().0 = true;
            state.1.notify_all();
        });
        assert!(state.0.lock().unwrap().0);
    }
}

mod a_thread_for_each_connection {
    use super::*;

    #[test]
    fn right() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let server = {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                let mut connections = Vec::new();
                for stream in listener.incoming() {
                    if stop.load(SeqCst) {
                        break;
                    }
                    connections.push(thread::spawn(move || {
                        let mut stream = stream.unwrap();
                        let mut lines = 0;
                        for line in BufReader::new(stream.try_clone().unwrap()).lines() {
                            writeln!(stream, "{}", line.unwrap().to_uppercase()).unwrap();
                            lines += 1;
                        }
                        lines
                    }));
                }
                connections
                    .into_iter()
                    .map(|connection| connection.join().unwrap())
                    .sum::<usize>()
            })
        };
        let clients: Vec<_> = ["red", "green", "blue"]
            .map(|word| {
                thread::spawn(move || {
                    let mut stream = TcpStream::connect(address).unwrap();
                    let mut answers = BufReader::new(stream.try_clone().unwrap());
                    for _ in 0..2 {
                        writeln!(stream, "{word}").unwrap();
                        let mut answer = String::new();
                        answers.read_line(&mut answer).unwrap();
                        assert_eq!(answer.trim_end(), word.to_uppercase());
                    }
                })
            })
            .into();
        for client in clients {
            client.join().unwrap();
        }
        stop.store(true, SeqCst);
        TcpStream::connect(address).unwrap();
        assert_eq!(server.join().unwrap(), 6);
    }
}

mod request_with_a_timeout {
    use super::*;
    use std::io::{ErrorKind, Read};

    #[test]
    fn right() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (answer, told) = mpsc::channel::<()>();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // Silent until a message tells it to answer.
            told.recv().unwrap();
            stream.write_all(b"here").unwrap();
        });
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(ms(10))).unwrap();
        let error = stream.read(&mut [0; 4]).unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::WouldBlock | ErrorKind::TimedOut
        ));
        stream.set_read_timeout(None).unwrap();
        answer.send(()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert_eq!(text, "here");
        server.join().unwrap();
    }
}

mod progress_bar {
    use super::*;

    #[test]
    fn right() {
        let done = AtomicUsize::new(0);
        let shown = thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        thread::sleep(ms(2));
                        done.fetch_add(1, SeqCst);
                    }
                });
            }
            let bar = scope.spawn(|| {
                let mut shown = Vec::new();
                loop {
                    let percent = done.load(SeqCst) * 10;
                    shown.push(percent);
                    if percent == 100 {
                        return shown;
                    }
                    thread::sleep(ms(3));
                }
            });
            bar.join().unwrap()
        });
        assert!(shown.is_sorted());
        assert_eq!(shown.last(), Some(&100));
    }
}

mod log_that_is_flushed {
    use super::*;

    enum Entry {
        Line(String),
        Flush(mpsc::Sender<usize>),
    }

    #[test]
    fn right() {
        let path = std::env::temp_dir().join(format!("everyday-{}.log", std::process::id()));
        let (log, entries) = mpsc::sync_channel(2);
        let writer = {
            let path = path.clone();
            thread::spawn(move || {
                let (mut file, mut buffer, mut written) =
                    (std::fs::File::create(path).unwrap(), String::new(), 0);
                loop {
                    let entry = entries.recv_timeout(ms(4));
                    let is_open = !matches!(entry, Err(mpsc::RecvTimeoutError::Disconnected));
                    if let Ok(Entry::Line(line)) = &entry {
                        buffer += line;
                        written += 1;
                    }
                    if buffer.len() > 40 || !matches!(entry, Ok(Entry::Line(_))) {
                        file.write_all(buffer.as_bytes()).unwrap();
                        buffer.clear();
                    }
                    if let Ok(Entry::Flush(reply)) = entry {
                        reply.send(written).unwrap();
                    }
                    if !is_open {
                        return;
                    }
                }
            })
        };
        thread::scope(|scope| {
            for name in ["a", "b"] {
                let log = log.clone();
                scope.spawn(move || {
                    for number in 0..4 {
                        log.send(Entry::Line(format!("{name} {number}\n"))).unwrap();
                        thread::sleep(ms(3));
                    }
                });
            }
        });
        let (reply, flushed) = mpsc::channel();
        log.send(Entry::Flush(reply)).unwrap();
        assert_eq!(flushed.recv().unwrap(), 8);
        let text = std::fs::read_to_string(&path).unwrap();
        for name in ["a", "b"] {
            let own: Vec<_> = text.lines().filter(|line| line.starts_with(name)).collect();
            assert_eq!(
                own,
                (0..4)
                    .map(|number| format!("{name} {number}"))
                    .collect::<Vec<_>>()
            );
        }
        drop(log);
        writer.join().unwrap();
        std::fs::remove_file(path).unwrap();
    }
}
