//! Implementation of each command.

mod actions;
mod archive;
mod bisect;
mod check;
mod checkout;
mod classify;
mod clean;
pub mod configuration;
mod confirm;
mod console;
mod coverage;
mod deflake;
mod effects;
mod events;
mod explain;
mod file_observer;
mod files;
mod first;
mod fold;
mod history;
mod init;
mod interrupt;
mod known;
mod list;
mod mcp;
mod models;
mod network;
mod order;
mod outcome;
mod pages;
mod past;
mod progress;
mod replay;
mod report;
mod run;
mod selection;
mod session;
mod setup;
mod test;
mod topics;
mod watch;
mod with;

use std::ffi::OsString;

use crate::campaign::process::guardian;
use crate::cli::{Command, MessageFormat, OutputArgs};
use crate::error::{Error, Result};
use crate::exit_code::ExitCode;
use crate::project::RUN;
use crate::report::stream::{Event, RunFinished, RunStarted};
use configuration::{Asked, Refusal};
use console::Console;

/// Parses the arguments of the process, with its name first, and executes the command. Returns the
/// exit code.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    if args.get(1).is_some_and(|arg| arg == guardian::GUARDIAN) {
        guardian::guard(std::io::stdin().lock());
        return ExitCode::Ok;
    }
    if args.get(1).is_some_and(|arg| arg == RUN) {
        match with::run(&args[2..]) {
            // The code of the test process is passed on. It may have any value.
            Ok(code) => std::process::exit(code),
            Err(message) => {
                anstream::eprintln!("cargo-nondex: {message}");
                return ExitCode::Setup;
            }
        }
    }
    if let Some(text) = topics::asked(&args) {
        let written = Console::new(&OutputArgs::default()).product(&text);
        return written.map_or_else(|error| error.code(), |()| ExitCode::Ok);
    }
    let asked = match configuration::understand(args, std::env::vars_os()) {
        Ok(asked) => asked,
        Err(Refusal::Setup(error)) => {
            Console::new(&OutputArgs::default()).error(&error.to_string());
            return error.code();
        }
        Err(Refusal::Usage(error)) => {
            // A write error is ignored: there is no other stream to report it to.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::Usage } else { ExitCode::Ok };
        }
    };
    let console = Console::new(&asked.output);
    for warning in &asked.warnings {
        console.warning(warning);
    }
    let started = Event::RunStarted(RunStarted::new(&asked.line));
    let ended = console.event(&started).and_then(|()| execute(&asked, &console));
    match ended {
        Ok(code) => code,
        Err(error) => {
            console.error(&error.to_string());
            let finished =
                RunFinished { error: Some(error.to_string()), ..RunFinished::new(error.code()) };
            // If this event cannot be written either, the exit code still shows the error.
            let _ = console.event(&Event::RunFinished(Box::new(finished)));
            error.code()
        }
    }
}

/// Executes the command.
fn execute(asked: &Asked, console: &Console) -> Result<ExitCode> {
    if console.format == MessageFormat::JsonLines && !asked.command.runs_tests() {
        return Err(Error::usage(
            "`--message-format json-lines` is for commands that run and judge tests, such as \
             `run`, `test`, `check` and `order`",
        ));
    }
    match &asked.command {
        Command::Run(args) => run::run(args, asked, console),
        Command::Test(args) => test::test(args, asked, console),
        // The code of the other command is passed on. It may have any value.
        Command::With(args) => std::process::exit(with::with(args, console)?),
        Command::Check(args) => check::check(args, asked, console),
        Command::Classify(args) => classify::classify(args, asked, console),
        Command::Order(args) => order::order(args, asked, console),
        Command::Replay(args) => replay::replay(args, console),
        Command::Explain(args) => explain::explain(args, &asked.line, console),
        Command::Report(args) => report::report(args, &asked.line, console),
        Command::Confirm(args) => confirm::confirm(args, asked, console),
        Command::Deflake(args) => deflake::deflake(args, asked, console),
        Command::Bisect(args) => bisect::bisect(args, console),
        Command::Known(args) => known::known(args, console),
        Command::Init(args) => init::init(args, console),
        Command::Archive(args) => archive::archive(args, console),
        Command::List(args) => list::list(args, asked, console),
        Command::Network(args) => network::network(args, &asked.line, console),
        Command::Mcp(args) => mcp::mcp(args),
        Command::Models(args) => models::models(args, console),
        Command::Clean(args) => clean::clean(args, console),
        Command::Completions(args) => pages::completions(args.shell, console),
        Command::Man => pages::man(console),
        Command::Schema(args) => pages::schema(args.of, console),
    }
}
