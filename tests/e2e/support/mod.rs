//! Parts that all tests use: copies of projects, calls of git and of the binary, and checks of
//! documents.

mod document;
mod fixture;
mod git;
mod nondex;
mod validator;

pub(crate) use document::{blocks, expect_block, expect_diagnostics, outline};
pub(crate) use fixture::{Fixture, repository};
pub(crate) use git::{commit, committed, edit, git, git_at_noon};
pub(crate) use nondex::{Nondex, ONE_FINDING, Output, cache, cargo, judged, plain_command, test};
pub(crate) use validator::validate;
