//! One line of source with carets under a place, as rustc draws it.

use std::fmt::Write;

use camino::Utf8Path;

use super::{GUTTER, View};

/// How many columns a tab takes, as in rustc.
const TAB: &str = "    ";

/// Draws ` --> file:line:column`, and the line with carets and `label` where the file can be read.
pub(super) fn render(
    text: &mut String,
    (file, line, column): (&str, u32, Option<u32>),
    label: &str,
    view: &View<'_>,
) {
    let margin = line.to_string().len();
    let place = column.map_or_else(
        || format!("{file}:{line}"),
        |column| format!("{file}:{line}:{column}"),
    );
    let _ = writeln!(text, "{:margin$}{GUTTER}-->{GUTTER:#} {place}", "");
    let bar = format!("{:margin$} {GUTTER}|{GUTTER:#}", "");
    let Some(source) = read_line(view.workspace_root, file, line) else {
        let _ = writeln!(text, "{bar}");
        let _ = writeln!(text, "{:margin$} {GUTTER}={GUTTER:#} {label}", "");
        return;
    };
    let (start, width) = span(&source, column);
    let shown = source.replace('\t', TAB);
    let indent = columns(source.chars().take(start));
    let carets = "^".repeat(columns(source.chars().skip(start).take(width)).max(1));
    let _ = writeln!(text, "{bar}");
    let _ = writeln!(text, "{GUTTER}{line} |{GUTTER:#} {}", shown.trim_end());
    let style = anstyle::AnsiColor::Red.on_default().bold();
    let _ = writeln!(text, "{bar} {:indent$}{style}{carets} {label}{style:#}", "");
    let _ = writeln!(text, "{bar}");
}

/// The line of a file of the workspace, if it can be read.
fn read_line(root: &Utf8Path, file: &str, line: u32) -> Option<String> {
    let text = std::fs::read_to_string(root.join(file)).ok()?;
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    text.lines().nth(index).map(str::to_owned)
}

/// Start and width in characters of what a column points at: a path or method name; without a column the whole line.
fn span(source: &str, column: Option<u32>) -> (usize, usize) {
    let chars: Vec<char> = source.chars().collect();
    let start = column.and_then(|column| usize::try_from(column).ok()?.checked_sub(1));
    let Some(start) = start.filter(|&start| start < chars.len()) else {
        let start = chars.iter().take_while(|c| c.is_whitespace()).count();
        return (start, source.trim().chars().count());
    };
    let borrowed = chars[start..].iter().take_while(|c| **c == '&').count();
    let name = chars[start + borrowed..]
        .iter()
        .take_while(|c| c.is_alphanumeric() || **c == '_' || **c == ':');
    (start, borrowed + name.count())
}

/// The width of characters on a terminal, with tabs as they are drawn.
fn columns(chars: impl Iterator<Item = char>) -> usize {
    chars.map(|c| if c == '\t' { TAB.len() } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carets_cover_the_name_that_the_column_points_at() {
        for (source, column, expected) in [
            ("    for k in map.keys() {", Some(18), (17, 4)),
            ("  let d = std::fs::read_dir(p)?;", Some(11), (10, 17)),
            ("for x in &map {", Some(10), (9, 4)),
            ("  whole line  ", None, (2, 10)),
            ("short", Some(99), (0, 5)),
            ("  (x)", Some(3), (2, 0)),
            ("", Some(1), (0, 0)),
        ] {
            assert_eq!(span(source, column), expected, "{source}");
        }
    }
}
