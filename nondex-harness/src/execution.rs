//! Runs one test on this thread, within the context of the run, and records its outcome.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use nondex_core::Failure;
use nondex_core::context::{self, Context, system};
use nondex_core::protocol::site::portable_path;

use super::bencher::Bencher;
use super::descriptor::{TestDesc, TestFn};
use super::network::{Remark, Watch};
use super::panics;
use super::sharing;
use super::verdict::{Thrown, Verdict, judge, message_of};

/// Result of a test on its thread.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Verdict on the test.
    pub(crate) verdict: Verdict,
    /// Reason why the failure is excused; the verdict is then that the test was ignored.
    pub(crate) excuse: Option<String>,
}

/// Runs a test on this thread.
pub(crate) fn run_test(desc: &TestDesc, function: TestFn) -> Ended {
    let context = context::global();
    // Before and after the test, this thread runs the harness.
    let _pause = context::pause();
    let name = desc.name.as_slice();
    let network = context.and_then(Watch::start);
    let entered = context.map(|context| {
        panics::watch(context, name);
        context::enter(context, name)
    });
    let thrown = sharing::watched(context.map(Arc::as_ref), name, || call(function));
    context::note_covered(|object| system::system().is_some_and(|system| system.covered(object)));
    let mut verdict = judge(desc, thrown.as_deref());
    let mut message = String::new();
    if let (Some(context), Some(entered)) = (context, entered) {
        let failure = explain(desc, &verdict, thrown.as_deref(), panics::unwatch());
        if let Some(failure) = &failure {
            message.clone_from(&failure.message);
        }
        entered.end(context, name, failure, !verdict.is_failure());
    }
    let remark = if cfg!(feature = "sanitise") && verdict.is_failure() {
        network.and_then(|network| network.remark(name, &message))
    } else {
        None
    };
    let excuse = match remark {
        Some(Remark::Excuse(reason)) => {
            verdict = Verdict::Ignored;
            Some(reason)
        }
        Some(Remark::Uncertain(text)) => {
            eprintln!("note: test `{name}` {text}");
            None
        }
        None => None,
    };
    // The payload may panic when it is dropped, too.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(thrown)));
    Ended { verdict, excuse }
}

/// Calls a test function, or a benchmark's, once.
fn call(function: TestFn) -> Thrown {
    let mut bencher = Bencher::default();
    let result = catch_unwind(AssertUnwindSafe(|| match function {
        TestFn::StaticTestFn(f) => __rust_begin_short_backtrace(f),
        TestFn::DynTestFn(f) => __rust_begin_short_backtrace(f),
        TestFn::StaticBenchFn(f) => __rust_begin_short_backtrace(|| f(&mut bencher)),
        TestFn::DynBenchFn(f) => __rust_begin_short_backtrace(|| f(&mut bencher)),
    }));
    match result {
        Ok(Ok(())) => None,
        Ok(Err(message)) => Some(Box::new(message)),
        Err(thrown) => Some(thrown),
    }
}

/// Serves as the frame at which std ends short backtraces: std recognises its name.
#[inline(never)]
fn __rust_begin_short_backtrace<T>(f: impl FnOnce() -> T) -> T {
    // Prevents a tail call, which would remove the frame.
    std::hint::black_box(f())
}

/// Returns the failure of a test with its message. Its place is that of `last_panic`, if this is
/// what failed the test. A test that did not panic as it should has its own place.
fn explain(
    desc: &TestDesc,
    verdict: &Verdict,
    thrown: Option<&(dyn std::any::Any + Send)>,
    last_panic: Option<Failure>,
) -> Option<Failure> {
    let thrown = thrown.map(|thrown| message_of(thrown).unwrap_or("Box<dyn Any>"));
    let message = match verdict {
        Verdict::Ok | Verdict::Ignored => return None,
        Verdict::Failed => thrown.unwrap_or_default().to_owned(),
        Verdict::FailedBecause(message) => message.clone(),
    };
    let place = match thrown {
        // The place is unknown if the panic was resumed from another thread, or if the test
        // returned an error.
        Some(thrown) => {
            last_panic.filter(|panic| panic.message == thrown).map(|panic| (panic.file, panic.line))
        }
        None if desc.source_file.is_empty() => None,
        None => Some((
            Some(portable_path(desc.source_file).to_owned()),
            u32::try_from(desc.start_line).ok(),
        )),
    };
    let (file, line) = place.unwrap_or_default();
    Some(Failure { message, file, line })
}

/// Returns the context of this process, if any, after installing the panic hook for it.
pub(crate) fn prepare() -> Option<&'static Arc<Context>> {
    let context = context::global();
    if context.is_some() {
        panics::install_hook();
    }
    context
}
