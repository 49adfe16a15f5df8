//! Archives of built tests, which another machine can run without sources or a compiler.
//!
//! An archive is a `tar` file, written and read by the program `tar`. It has a
//! [manifest](manifest) and, below `target`, the files that the tests need from the target
//! directory. It may also have the files of the workspace, below `workspace`. Paths in the manifest
//! are those of the machine that packed the archive. They are [replaced](roots) when it is used.

mod environment;
mod libraries;
mod manifest;
mod pack;
mod paths;
mod roots;
mod tar;
mod unpack;

pub use pack::pack;
pub use tar::is_name_of_archive;
pub use unpack::{extract, plan};

pub(super) use unpack::{around, metadata, project};
