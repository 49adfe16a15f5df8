//! Programs like those of `tests/fixtures/threads`, over published runtimes, locks and channels.
