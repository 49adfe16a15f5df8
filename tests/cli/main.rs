//! The command line as users see it: options, filters, exit codes and output of the binary.

mod command_line;
mod config;
mod filterset;
mod github;
mod gitlab;
mod html;
mod junit;
mod markdown;
mod problems;
mod report;
mod sample;
mod sarif;
mod schema;
mod skip_list;
#[path = "../e2e/support/validator.rs"]
mod validator;
