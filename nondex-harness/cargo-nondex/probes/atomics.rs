//! Every atomic operation once, and whether it does what it should: compiled with the pass that
//! makes each a call.

use std::sync::atomic::{
    AtomicBool, AtomicI16, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering,
    compiler_fence, fence,
};

macro_rules! check {
    ($type:ident) => {
        let value = $type::new(6);
        assert_eq!(value.load(Ordering::Acquire), 6);
        value.store(12, Ordering::Release);
        assert_eq!(value.swap(10, Ordering::AcqRel), 12);
        assert_eq!(value.fetch_add(4, Ordering::Relaxed), 10);
        assert_eq!(value.fetch_sub(2, Ordering::SeqCst), 14);
        assert_eq!(value.fetch_and(6, Ordering::SeqCst), 12);
        assert_eq!(value.fetch_or(3, Ordering::SeqCst), 4);
        assert_eq!(value.fetch_xor(1, Ordering::SeqCst), 7);
        assert_eq!(value.fetch_nand(2, Ordering::SeqCst), 6);
        assert_eq!(value.load(Ordering::SeqCst), !2);
        let same = value.compare_exchange(!2, 5, Ordering::SeqCst, Ordering::Relaxed);
        assert_eq!(same, Ok(!2));
        let other = value.compare_exchange(!2, 9, Ordering::SeqCst, Ordering::Acquire);
        assert_eq!(other, Err(5));
        assert_eq!(value.fetch_max(8, Ordering::SeqCst), 5);
        assert_eq!(value.into_inner(), 8);
    };
}

fn main() {
    check!(AtomicU8);
    check!(AtomicI16);
    check!(AtomicU32);
    check!(AtomicI64);
    check!(AtomicUsize);
    let flag = AtomicBool::new(true);
    assert!(flag.fetch_and(false, Ordering::SeqCst));
    assert!(!flag.fetch_nand(false, Ordering::SeqCst));
    assert!(flag.load(Ordering::SeqCst));
    let mut at = 0;
    let place = AtomicPtr::new(&raw mut at);
    assert_eq!(place.swap(std::ptr::null_mut(), Ordering::SeqCst), &raw mut at);
    fence(Ordering::SeqCst);
    compiler_fence(Ordering::SeqCst);
    let shared = std::sync::Mutex::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| *shared.lock().unwrap() += 1);
        }
    });
    assert_eq!(shared.into_inner().unwrap(), 2);
}
