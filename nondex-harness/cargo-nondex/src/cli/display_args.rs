//! nextest's display options. They are accepted, so that the same command line works with both
//! tools.

use clap::Args;

/// Options of `cargo nextest run` that have no effect on the output of this tool.
#[derive(Args, Clone, Debug)]
pub struct DisplayArgs {
    #[arg(long, hide = true, value_name = "LEVEL")]
    status_level: Option<String>,
    #[arg(long, hide = true, value_name = "LEVEL")]
    final_status_level: Option<String>,
    #[arg(long, hide = true, value_name = "WHEN")]
    failure_output: Option<String>,
    #[arg(long, hide = true, value_name = "WHEN")]
    success_output: Option<String>,
    #[arg(long, hide = true, value_name = "HOW")]
    show_progress: Option<String>,
    #[arg(long, hide = true)]
    hide_progress_bar: bool,
    #[arg(long, hide = true)]
    no_output_indent: bool,
    #[arg(long, hide = true)]
    no_input_handler: bool,
    #[arg(long, hide = true)]
    no_pager: bool,
}

impl DisplayArgs {
    /// Returns the names of the given options, which have no effect.
    pub fn passed_over(&self) -> Vec<&'static str> {
        let options = [
            (self.status_level.is_some(), "--status-level"),
            (self.final_status_level.is_some(), "--final-status-level"),
            (self.failure_output.is_some(), "--failure-output"),
            (self.success_output.is_some(), "--success-output"),
            (self.show_progress.is_some(), "--show-progress"),
            (self.hide_progress_bar, "--hide-progress-bar"),
            (self.no_output_indent, "--no-output-indent"),
            (self.no_input_handler, "--no-input-handler"),
            (self.no_pager, "--no-pager"),
        ];
        options.into_iter().filter(|(is_given, _)| *is_given).map(|(_, name)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches as _};

    use super::*;

    #[test]
    fn what_nextest_is_told_to_show_is_taken_and_named() {
        let command = DisplayArgs::augment_args(Command::new("test"));
        let passed_over = |words: &[&str]| {
            let matches = command.clone().try_get_matches_from(words).unwrap();
            DisplayArgs::from_arg_matches(&matches).unwrap().passed_over()
        };
        assert_eq!(passed_over(&["test"]), [""; 0]);
        assert_eq!(
            passed_over(&["test", "--no-pager", "--failure-output", "final", "--status-level=all"]),
            ["--status-level", "--failure-output", "--no-pager"]
        );
    }
}
