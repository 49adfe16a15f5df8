//! Pools, caches and tables that threads share.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, OnceLock, RwLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

const fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

mod object_pool {
    use super::*;

    #[derive(Default)]
    struct Pool {
        free: Mutex<Vec<Vec<u8>>>,
        returned: Condvar,
    }

    struct Lent<'a>(&'a Pool, Option<Vec<u8>>);

    impl Pool {
        fn take(&self) -> Lent<'_> {
            let free = self.free.lock().unwrap();
            let object = self
                .returned
                .wait_while(free, |free| free.is_empty())
                .unwrap()
                .pop();
            Lent(self, object)
        }
    }

    impl Drop for Lent<'_> {
        fn drop(&mut self) {
            let mut object = self.1.take().unwrap();
            object.clear();
            self.0.free.lock().unwrap().push(object);
            self.0.returned.notify_one();
        }
    }

    #[test]
    fn right() {
        let pool = Pool::default();
        pool.free.lock().unwrap().extend([Vec::new(), Vec::new()]);
        let lent = AtomicUsize::new(0);
        thread::scope(|scope| {
            for number in 0..4 {
                let (pool, lent) = (&pool, &lent);
                scope.spawn(move || {
                    for _ in 0..3 {
                        let mut object = pool.take();
                        assert!(lent.fetch_add(1, SeqCst) < 2);
                        assert!(object.1.as_ref().unwrap().is_empty());
                        object.1.as_mut().unwrap().push(number);
                        thread::yield_now();
                        assert_eq!(object.1.as_deref(), Some(&[number][..]));
                        lent.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
        assert_eq!(pool.free.lock().unwrap().len(), 2);
    }
}

mod connection_pool_with_a_limit {
    use super::*;

    struct Pool {
        open: Mutex<(usize, Vec<usize>)>,
        returned: Condvar,
        most: usize,
    }

    impl Pool {
        /// Returns a connection, or the time waited if that reached the limit.
        fn get(&self, limit: Duration) -> Result<usize, Duration> {
            let start = Instant::now();
            let mut open = self.open.lock().unwrap();
            loop {
                if let Some(idle) = open.1.pop() {
                    return Ok(idle);
                }
                if open.0 < self.most {
                    open.0 += 1;
                    return Ok(open.0);
                }
                let Some(left) = limit
                    .checked_sub(start.elapsed())
                    .filter(|left| !left.is_zero())
                else {
                    return Err(start.elapsed());
                };
                open = self.returned.wait_timeout(open, left).unwrap().0;
            }
        }

        fn put(&self, connection: usize) {
            self.open.lock().unwrap().1.push(connection);
            self.returned.notify_one();
        }
    }

    #[test]
    fn right() {
        let pool = Pool {
            open: Mutex::default(),
            returned: Condvar::new(),
            most: 2,
        };
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let connection = loop {
                        match pool.get(ms(5)) {
                            Ok(connection) => break connection,
                            Err(waited) => assert!(waited >= ms(5)),
                        }
                    };
                    assert!((1..=2).contains(&connection));
                    thread::sleep(ms(8));
                    pool.put(connection);
                });
            }
        });
        let (opened, mut idle) = pool.open.into_inner().unwrap();
        idle.sort_unstable();
        assert_eq!(idle, (1..=opened).collect::<Vec<_>>());
    }
}

mod buffers_of_each_thread {
    use super::*;
    use std::cell::RefCell;

    static SHARED: Mutex<Vec<Box<[u8]>>> = Mutex::new(Vec::new());
    static MADE: AtomicUsize = AtomicUsize::new(0);

    struct Own(Vec<Box<[u8]>>);

    impl Drop for Own {
        fn drop(&mut self) {
            SHARED.lock().unwrap().append(&mut self.0);
        }
    }

    thread_local!(static OWN: RefCell<Own> = const { RefCell::new(Own(Vec::new())) });

    fn buffer() -> Box<[u8]> {
        let own = OWN.with_borrow_mut(|own| own.0.pop());
        own.or_else(|| SHARED.lock().unwrap().pop())
            .unwrap_or_else(|| {
                MADE.fetch_add(1, SeqCst);
                vec![0; 16].into()
            })
    }

    #[test]
    fn right() {
        let threads: Vec<_> = (0..3)
            .map(|_| {
                thread::spawn(|| {
                    for _ in 0..3 {
                        let two = [buffer(), buffer()];
                        OWN.with_borrow_mut(|own| own.0.extend(two));
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        let made = MADE.load(SeqCst);
        assert!((2..=6).contains(&made));
        assert_eq!(SHARED.lock().unwrap().len(), made);
    }
}

mod recently_used_with_an_evictor {
    use super::*;

    #[derive(Default)]
    struct Cache {
        values: HashMap<u32, u32>,
        order: VecDeque<u32>,
    }

    impl Cache {
        fn touch(&mut self, key: u32) {
            self.order.retain(|&other| other != key);
            self.order.push_back(key);
        }

        fn get(&mut self, key: u32) -> u32 {
            self.touch(key);
            *self.values.entry(key).or_insert_with(|| key * key)
        }
    }

    #[test]
    fn right() {
        let cache = Arc::new(Mutex::new(Cache::default()));
        let (full, wake) = mpsc::channel();
        let evictor = {
            let cache = Arc::clone(&cache);
            thread::spawn(move || {
                while wake.recv().is_ok() {
                    let mut cache = cache.lock().unwrap();
                    while cache.values.len() > 3 {
                        let oldest = cache.order.pop_front().unwrap();
                        cache.values.remove(&oldest);
                    }
                }
            })
        };
        thread::scope(|scope| {
            for first in 0..3 {
                let (cache, full) = (&cache, full.clone());
                scope.spawn(move || {
                    for key in first..first + 5 {
                        let mut cache = cache.lock().unwrap();
                        assert_eq!(cache.get(key), key * key);
                        if cache.values.len() > 3 {
                            full.send(()).unwrap();
                        }
                    }
                });
            }
        });
        drop(full);
        evictor.join().unwrap();
        let cache = cache.lock().unwrap();
        assert!(cache.values.len() <= 3);
        assert_eq!(cache.values.len(), cache.order.len());
    }
}

mod entries_that_expire {
    use super::*;

    type Entries = Mutex<BTreeMap<u32, Instant>>;

    /// Returns the times of an entry that has not expired: its own, and that of the lookup.
    fn get(entries: &Entries, key: u32) -> Option<(Instant, Instant)> {
        let entries = entries.lock().unwrap();
        let now = Instant::now();
        entries
            .get(&key)
            .filter(|&&until| until > now)
            .map(|&until| (until, now))
    }

    #[test]
    fn right() {
        let (entries, stop) = (
            Arc::new(Entries::default()),
            Arc::new(AtomicBool::new(false)),
        );
        let janitor = {
            let (entries, stop) = (Arc::clone(&entries), Arc::clone(&stop));
            thread::spawn(move || {
                while !stop.load(SeqCst) {
                    let now = Instant::now();
                    entries.lock().unwrap().retain(|_, until| *until > now);
                    thread::park_timeout(ms(3));
                }
            })
        };
        for key in 0..4 {
            let inserted = Instant::now();
            entries.lock().unwrap().insert(key, inserted + ms(10));
            if let Some((until, now)) = get(&entries, key) {
                assert!(now < until && until == inserted + ms(10));
            }
            thread::sleep(ms(4));
        }
        thread::sleep(ms(10));
        for key in 0..4 {
            assert_eq!(get(&entries, key), None);
        }
        stop.store(true, SeqCst);
        janitor.thread().unpark();
        janitor.join().unwrap();
    }
}

mod one_load_for_all {
    use super::*;

    #[derive(Default)]
    struct Group {
        calls: Mutex<HashMap<&'static str, Arc<OnceLock<usize>>>>,
        loads: AtomicUsize,
    }

    impl Group {
        fn get(&self, key: &'static str) -> usize {
            let call = Arc::clone(self.calls.lock().unwrap().entry(key).or_default());
            *call.get_or_init(|| {
                thread::sleep(ms(5));
                self.loads.fetch_add(1, SeqCst);
                key.len()
            })
        }
    }

    #[test]
    fn right() {
        let group = Group::default();
        thread::scope(|scope| {
            for key in ["one", "three", "one", "three", "one"] {
                let group = &group;
                scope.spawn(move || assert_eq!(group.get(key), key.len()));
            }
        });
        assert_eq!(group.loads.load(SeqCst), 2);
    }
}

mod settings_that_are_read_again {
    use super::*;

    struct Settings {
        version: usize,
        text: String,
    }

    #[test]
    fn right() {
        let settings = |version| {
            Arc::new(Settings {
                version,
                text: format!("version {version}"),
            })
        };
        let current = RwLock::new(settings(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut last = 0;
                    while last < 4 {
                        let seen = Arc::clone(&current.read().unwrap());
                        assert_eq!(seen.text, format!("version {}", seen.version));
                        assert!(seen.version >= last);
                        last = seen.version;
                        thread::sleep(ms(1));
                    }
                });
            }
            for version in 1..=4 {
                thread::sleep(ms(2));
                *current.write().unwrap() = settings(version);
            }
        });
    }
}

mod handles_with_generations {
    use super::*;

    #[derive(Default)]
    struct Slots(Mutex<Vec<(usize, Option<usize>)>>);

    impl Slots {
        fn insert(&self, value: usize) -> (usize, usize) {
            let mut slots = self.0.lock().unwrap();
            if let Some(index) = slots.iter().position(|(_, value)| value.is_none()) {
                slots[index].0 += 1;
                slots[index].1 = Some(value);
                return (index, slots[index].0);
            }
            slots.push((0, Some(value)));
            (slots.len() - 1, 0)
        }

        fn remove(&self, (index, generation): (usize, usize)) -> Option<usize> {
            self.0
                .lock()
                .unwrap()
                .get_mut(index)
                .filter(|slot| slot.0 == generation)?
                .1
                .take()
        }
    }

    #[test]
    fn right() {
        let slots = Slots::default();
        thread::scope(|scope| {
            for value in 0..3 {
                let slots = &slots;
                scope.spawn(move || {
                    for _ in 0..3 {
                        let handle = slots.insert(value);
                        thread::yield_now();
                        assert_eq!(slots.remove(handle), Some(value));
                        assert_eq!(slots.remove(handle), None);
                    }
                });
            }
        });
        assert!(slots.0.into_inner().unwrap().len() <= 3);
    }
}
