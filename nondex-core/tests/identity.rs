//! Identities of threads, processes and forked children: each is named by its parent and by the
//! number of its start there.

use std::thread;

use nondex_core::context::{
    Context, after_fork_in_child, before_fork, enter, inherit, is_forked_beside_threads, name_child,
};
use nondex_core::{Caller, Event, RunSpec, decide, model};

/// Makes a choice on this thread.
fn choose() {
    let model = &model::HASH_MAP_ITER;
    decide(model, model.family, Caller::here(), 3, |_| 0);
}

/// Returns the identity of a program that starts now, without the id of this process.
fn child() -> String {
    let mut buffer = [0; 256];
    let len = name_child(&mut buffer).unwrap();
    let text = std::str::from_utf8(&buffer[..len]).unwrap();
    let (root, path) = text.split_once(':').unwrap();
    assert_eq!(root, std::process::id().to_string());
    path.to_owned()
}

/// Returns the threads whose counts were written, with their numbers of choices.
fn counts(context: &Context) -> Vec<(String, u64)> {
    let events = context.take_events();
    let points = events.into_iter().filter_map(|event| match event {
        Event::Points { points, .. } => Some(points),
        _ => None,
    });
    points.flatten().map(|point| (point.thread, point.count)).collect()
}

#[test]
fn programs_are_numbered_by_the_thread_that_starts_them() {
    let context = Context::new(RunSpec::clean("t"));
    let _test = enter(&context, "t");
    let of_thread = |inherited: nondex_core::context::Inherited| {
        thread::spawn(move || {
            inherited.enter();
            [child(), child()]
        })
    };
    let threads = [inherit(), inherit()].map(of_thread);
    assert_eq!([child(), child()], ["0/0", "0/1"]);
    let [first, second] = threads.map(|thread| thread.join().unwrap());
    assert_eq!(first, ["0.0/0", "0.0/1"]);
    assert_eq!(second, ["0.1/0", "0.1/1"]);
}

#[test]
fn a_forked_child_goes_on_as_itself_and_does_not_write_what_its_parent_did() {
    let context = Context::new(RunSpec::clean("t"));
    let test = enter(&context, "t");
    choose();
    choose();
    // The fork does not change the identities in the parent.
    before_fork();
    assert_eq!(child(), "0/1");
    // This process now acts as the child of the next fork.
    before_fork();
    after_fork_in_child();
    assert!(!is_forked_beside_threads());
    assert_eq!(child(), "0/2/0");
    choose();
    assert_eq!(child(), "0/2/1");
    // It now acts as that child's own child, which starts a thread first.
    before_fork();
    after_fork_in_child();
    let inherited = inherit();
    thread::spawn(move || {
        inherited.enter();
        choose();
    })
    .join()
    .unwrap();
    drop(test);
    assert_eq!(counts(&context), [("0/2/2.0".to_owned(), 1)]);
}

#[test]
fn a_child_that_was_forked_beside_threads_is_known() {
    let context = Context::new(RunSpec::clean("t"));
    let _test = enter(&context, "t");
    drop(inherit());
    before_fork();
    after_fork_in_child();
    assert!(is_forked_beside_threads());
}

#[test]
fn a_path_that_is_too_long_is_a_hash() {
    let context = Context::new(RunSpec::clean("t"));
    let _test = enter(&context, "t");
    for _ in 0..200 {
        before_fork();
        after_fork_in_child();
        choose();
    }
    let (first, second) = (child(), child());
    assert_eq!((first.len(), second.len()), (16, 16));
    assert_ne!(first, second);
}

#[test]
fn outside_a_test_nobody_is_named() {
    assert_eq!(name_child(&mut [0; 256]), None);
}
