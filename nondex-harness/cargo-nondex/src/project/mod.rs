//! Builds a user's project and lists its test binaries and their tests.

pub mod address_seeds;
pub mod addresses;
mod archive;
mod arguments;
pub mod around;
mod atomics;
pub mod blocks;
pub mod build;
mod built;
mod cargo;
mod checkout;
mod companions;
mod config;
mod coverage;
mod doc_place;
pub mod doctest;
mod drawn;
mod dwarf;
mod entry;
mod folder;
mod foundation;
mod graph;
mod inherited;
mod instrumentation;
pub mod intercept;
mod listing;
mod locks;
mod made;
mod named;
mod os_text;
mod outdated;
pub mod plan;
mod platform;
mod preload;
mod rebuilt;
pub mod runtime;
mod rustix;
mod scratch;
mod started;
mod std_order;
pub mod suite;
pub mod symbols;
mod toolchain;

pub use archive::{extract, is_name_of_archive, pack, plan as plan_of_archive};
pub use around::Around;
pub use build::build;
pub use built::Project;
pub use checkout::Checkout;
pub use doc_place::DocPlace;
pub use drawn::Drawn;
pub use foundation::{metadata, packages_outside};
pub use graph::reached;
pub use intercept::{RUN, Surroundings};
pub use listing::{ONE_THREAD, harness_of};
pub use plan::{BuildPlan, Doctests, Folders, Mode, NameFilters, Varied};
pub use preload::EntropyLibrary;
pub use rebuilt::{Rebuilds, Variation};
pub use runtime::cache_dir;
pub use scratch::Scratch;
pub use suite::{Doctest, Harness, Moved, Suite, TestBinary, TestCase, binary_id, find, gone};
pub use symbols::Symbols;

use std::ffi::OsString;
use std::process::ExitCode;

/// Handles a call by cargo, rustdoc or a compiler and returns the exit code. Returns `None` for any
/// other start.
pub fn intercept() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let result =
        doctest::keep::intercept(&arguments).or_else(|| intercept::intercept(&arguments))?;
    Some(result.unwrap_or_else(|message| {
        anstream::eprintln!("cargo-nondex: {message}");
        ExitCode::FAILURE
    }))
}
