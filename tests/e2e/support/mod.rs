//! What the tests have in common: a copy of a project, and one call of the binary.

mod fixture;
mod nondex;

pub(crate) use fixture::Fixture;
pub(crate) use nondex::{Nondex, Output, cache, cargo, plain_command, test};
