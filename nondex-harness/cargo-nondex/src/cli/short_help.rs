//! Shortens the help text of `-h` to one screen with the most used options. `--help` shows all.

use clap::Command;

/// Number of options above which a command has a separate short help text.
const MANY: usize = 25;

/// Most used options of such commands.
const SHOWN: [&str; 23] = [
    "seeds",
    "seed",
    "levels",
    "orders",
    "base",
    "verify",
    "real_threads",
    "thorough",
    "strict",
    "timeout",
    "max_time",
    "network",
    "filters",
    "exact",
    "skip",
    "ignored",
    "filtersets",
    "partition",
    "changed",
    "packages",
    "workspace",
    "junit",
    "verbose",
];

/// Returns the command and its subcommands with short help texts of at most one screen.
pub(super) fn with_short_help(command: Command) -> Command {
    let has_many = command.get_arguments().count() > MANY;
    let command = command.mut_subcommands(with_short_help);
    if has_many {
        command.mut_args(|argument| {
            let is_shown = SHOWN.contains(&argument.get_id().as_str())
                || argument.is_positional()
                || argument.get_id() == "help";
            argument.hide_short_help(!is_shown)
        })
    } else {
        command
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::CommandLine;

    #[test]
    fn the_short_help_of_every_command_is_one_screen() {
        let mut command = with_short_help(CommandLine::command());
        command.build();
        let mut all = vec![command.clone()];
        all.extend(command.get_subcommands().cloned());
        for mut command in all {
            let lines = command.render_help().to_string().lines().count();
            // The help of the top-level command also lists all commands.
            let most = if command.has_subcommands() { 85 } else { 60 };
            assert!(lines <= most, "{}: {lines} lines", command.get_name());
        }
    }

    #[test]
    fn every_option_that_is_shown_is_one() {
        let command = CommandLine::command();
        let commands = std::iter::once(&command).chain(command.get_subcommands());
        let ids = commands.flat_map(|command| command.get_arguments().map(clap::Arg::get_id));
        let ids: Vec<&str> = ids.map(clap::Id::as_str).collect();
        for name in SHOWN {
            assert!(ids.contains(&name), "{name}");
        }
    }
}
