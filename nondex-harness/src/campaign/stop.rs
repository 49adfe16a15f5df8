//! The flag that ends a campaign early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Once set, running tests are killed, no other is started, and the report says that it is partial.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag. Takes effect within a fraction of a second.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it is set.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for `signal_hook::flag::register`.
    #[must_use]
    pub fn handle(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
