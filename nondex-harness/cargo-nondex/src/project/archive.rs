//! Built tests in a file, so that another machine runs them without sources or a compiler.
//!
//! An archive is a `tar` file, written and read by the program of that name. It has a
//! [manifest](manifest), the files that the tests need of the target directory below `target`, and
//! the files of the workspace below `workspace`. Paths are those of the machine that packed it.
//! They are [changed](roots) when the archive is used.

mod environment;
mod libraries;
mod manifest;
mod pack;
mod paths;
mod roots;
mod tar;
mod unpack;

pub use pack::Packing;
pub use tar::is_name_of_archive;
pub use unpack::{extract, plan};

pub(super) use unpack::{around, metadata, project};
