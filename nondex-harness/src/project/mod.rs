//! From a user's project to its built test binaries and their tests.

pub mod build;
mod cargo;
mod config;
mod doc_place;
mod doctest;
pub mod intercept;
mod listing;
pub mod plan;
mod platform;
mod preload;
pub mod runtime;
mod rustix;
mod std_order;
pub mod suite;
mod toolchain;

pub use build::{Project, build, metadata};
pub use doc_place::DocPlace;
pub use intercept::intercept;
pub use plan::{BuildPlan, Doctests, Mode, Names};
pub use preload::EntropyLibrary;
pub use runtime::cache_dir;
pub use suite::{Doctest, Harness, Suite, TestBinary, TestCase};
