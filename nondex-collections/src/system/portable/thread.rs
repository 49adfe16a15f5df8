//! Threads that inherit the test that they work for, because shims start them.
//!
//! There is no scheduler, and time is real. A thread may still start late, and its sleeps and waits
//! may last longer, as on a busy machine. This is so at every level, because longer delays would
//! take real time.

use ::std::fmt;
use ::std::io;
use ::std::thread::{JoinHandle, ScopedJoinHandle};
use ::std::time::Duration;

use nondex_core::choice::hold;
use nondex_core::context::inherit;
use nondex_core::{Caller, Level, Model, model};

use crate::caller::caller;

/// Mirrors [`::std::thread::sleep`], prolonged as the run decides.
#[track_caller]
pub fn sleep(length: Duration) {
    ::std::thread::sleep(length.saturating_add(late(&model::THREAD_SLEEP, caller())));
}

/// Mirrors [`::std::thread::park_timeout`], with a limit prolonged as the run decides.
#[track_caller]
pub fn park_timeout(limit: Duration) {
    let late = late(&model::CONDVAR_WAIT_TIMEOUT, caller());
    ::std::thread::park_timeout(limit.saturating_add(late));
}

/// Returns the delay of a thread.
fn late(model: &'static Model, caller: Caller) -> Duration {
    Duration::from_nanos(hold(model, caller, None, hold::longest(Level::Std), &[]).unwrap_or(0))
}

/// Mirrors [`::std::thread::spawn`].
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    ::std::thread::spawn(inheriting(f))
}

/// Wraps `f` so that it runs as part of the current test, with a delay that the run decides.
#[track_caller]
fn inheriting<F: FnOnce() -> T, T>(f: F) -> impl FnOnce() -> T {
    let inherited = inherit();
    let caller = caller();
    move || {
        inherited.enter();
        let late = late(&model::THREAD_SPAWN, caller);
        if !late.is_zero() {
            ::std::thread::sleep(late);
        }
        f()
    }
}

/// Mirror of [`::std::thread::Builder`].
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    inner: ::std::thread::Builder,
}

impl Builder {
    /// Mirrors [`::std::thread::Builder::new`].
    #[expect(clippy::new_without_default, reason = "std's has none")]
    pub fn new() -> Builder {
        Builder { inner: ::std::thread::Builder::new() }
    }

    /// Mirrors [`::std::thread::Builder::name`].
    pub fn name(self, name: String) -> Builder {
        Builder { inner: self.inner.name(name) }
    }

    /// Mirrors [`::std::thread::Builder::stack_size`].
    pub fn stack_size(self, size: usize) -> Builder {
        Builder { inner: self.inner.stack_size(size) }
    }

    /// Mirrors [`::std::thread::Builder::spawn`].
    ///
    /// # Errors
    /// Returns the errors of std's method.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.inner.spawn(inheriting(f))
    }

    /// Mirrors [`::std::thread::Builder::spawn_unchecked`].
    ///
    /// # Safety
    /// The thread must be joined before anything that it borrows is dropped, as with std's method.
    ///
    /// # Errors
    /// Returns the errors of std's method.
    #[expect(unsafe_code, reason = "std's method is unsafe, and so is its mirror")]
    #[track_caller]
    pub unsafe fn spawn_unchecked<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        // SAFETY: the caller upholds the contract of std's method.
        unsafe { self.inner.spawn_unchecked(inheriting(f)) }
    }

    /// Mirrors [`::std::thread::Builder::spawn_scoped`].
    ///
    /// # Errors
    /// Returns the errors of std's method.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.inner.spawn_scoped(&scope.inner, inheriting(f))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Mirror of [`::std::thread::Scope`].
#[repr(transparent)]
pub struct Scope<'scope, 'env: 'scope> {
    inner: ::std::thread::Scope<'scope, 'env>,
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// Mirrors [`::std::thread::scope`].
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    ::std::thread::scope(|inner| f(Scope::over(inner)))
}

impl<'scope, 'env> Scope<'scope, 'env> {
    #[expect(
        unsafe_code,
        reason = "the wrapper must live as long as std's scope, which only a cast of the \
            reference does"
    )]
    fn over(inner: &'scope ::std::thread::Scope<'scope, 'env>) -> &'scope Self {
        // SAFETY: `Scope` is `repr(transparent)` over the referent, so both references have one
        // layout and validity.
        unsafe { &*::std::ptr::from_ref(inner).cast() }
    }

    /// Mirrors [`::std::thread::Scope::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.inner.spawn(inheriting(f))
    }
}

#[cfg(test)]
mod tests {
    use nondex_core::context::{Context, enter};
    use nondex_core::{Event, RunSpec, decide};

    use super::*;

    /// Makes a choice on this thread.
    fn choose() {
        let model = &model::HASH_MAP_ITER;
        decide(model, model.family, Caller::here(), 3, |_| 0);
    }

    #[test]
    fn whoever_begins_or_sleeps_may_be_late_where_the_seed_says_so_and_only_there() {
        for (spec, is_late) in
            [(RunSpec::clean("t"), false), (RunSpec::new("t", Level::Full, 3), true)]
        {
            let context = Context::new(spec);
            let test = enter(&context, "t");
            sleep(Duration::from_micros(1));
            park_timeout(Duration::from_micros(1));
            spawn(|| ()).join().unwrap();
            drop(test);
            let events = context.take_events();
            let points = events.iter().filter_map(|event| match event {
                Event::Points { points, .. } => Some(points),
                _ => None,
            });
            let mut apis: Vec<_> = points.flatten().map(|point| &point.site.api).collect();
            apis.sort_unstable();
            let all = [&model::CONDVAR_WAIT_TIMEOUT, &model::THREAD_SLEEP, &model::THREAD_SPAWN];
            assert_eq!(apis, all.map(|model| model.api));
            let test = enter(&context, "t");
            let drawn = late(&model::THREAD_SLEEP, Caller::here());
            drop(test);
            assert_eq!(!drawn.is_zero(), is_late);
            assert!(drawn <= Duration::from_nanos(hold::longest(Level::Std)));
        }
    }

    #[test]
    fn each_thread_has_a_parent_and_a_path_of_its_own() {
        let context = Context::new(RunSpec::clean("t"));
        let test = enter(&context, "t");
        spawn(|| spawn(choose).join()).join().unwrap().unwrap();
        let builder = Builder::new().name("named".to_owned());
        builder.spawn(choose).unwrap().join().unwrap();
        scope(|scope| scope.spawn(choose).join()).unwrap();
        drop(test);
        let events = context.take_events();
        let mut paths: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                Event::Points { points, .. } => Some(points[0].thread.as_str()),
                _ => None,
            })
            .collect();
        paths.sort_unstable();
        // Where `pthread_create` is interposed, it has counted the starts a second time.
        assert!(paths.is_sorted_by(|a, b| a < b), "{paths:?}");
        let generations = paths.iter().map(|path| path.split('.').count());
        assert_eq!(generations.collect::<Vec<_>>(), [2, 3, 2, 2], "{paths:?}");
    }
}
