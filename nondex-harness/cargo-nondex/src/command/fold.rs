//! Folds long lines at the width of a terminal, which would break them in the middle of a word.

use std::fmt::Write;

/// Width of the first word of a status line, as in cargo, and the space after it.
const STATUS: usize = 13;

/// Minimum number of columns for folded text. Text with fewer columns is left to the terminal.
const MIN_COLUMNS: usize = 24;

/// Minimum number of columns for a label beside its carets. With fewer, it is below them.
const MIN_LABEL: usize = 40;

/// Escape sequence that ends all styles.
const RESET: &str = "\u{1b}[0m";

/// Notes that stay whole: a command to copy, and a table.
const WHOLE: [&str; 2] = ["reproduce", "interleaving"];

/// Folds the lines of styled text that are longer than `width`, between words. Continued lines are
/// indented like the text that they continue. Lines of source, and commands to copy, stay whole. A
/// longer word, such as the name of a test, is shortened in the middle, unless it is a path.
pub(super) fn fold(text: &str, width: usize) -> String {
    text.split_inclusive('\n').map(|line| folded(line, width)).collect()
}

/// Where a line may be folded.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    /// First column of the text that is folded.
    start: usize,
    /// Beginning of continued lines.
    indent: String,
    /// Whether the text begins on a line of its own.
    is_below: bool,
}

/// Text that is being folded.
#[derive(Debug, Default)]
struct Folded {
    text: String,
    /// Escape sequences since the last reset.
    style: String,
    /// Number of characters in the current line.
    column: usize,
}

impl Folded {
    /// Adds a character and the escape sequences before it.
    fn push(&mut self, escapes: &str, c: char) {
        self.style.push_str(escapes);
        if escapes.ends_with(RESET) {
            self.style.clear();
        }
        self.text.push_str(escapes);
        self.text.push(c);
        self.column += 1;
    }

    /// Begins a new line in the same style. Its indentation has no style.
    fn break_line(&mut self, indent: &str) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        let reset = if self.style.is_empty() { "" } else { RESET };
        let _ = write!(self.text, "{reset}\n{indent}{}", self.style);
        self.column = indent.chars().count();
    }
}

fn folded(line: &str, width: usize) -> String {
    let content = line.trim_end_matches('\n');
    let (chars, tail) = styled(content);
    let plain: Vec<char> = chars.iter().map(|(_, c)| *c).collect();
    let shape = (plain.len() > width).then(|| shape(&plain, width)).flatten();
    let Some(Shape { start, indent, is_below }) = shape else {
        return line.to_owned();
    };
    let mut folded = Folded::default();
    let (before, text) = chars.split_at(start);
    before.iter().for_each(|(escapes, c)| folded.push(escapes, *c));
    if is_below {
        folded.break_line(&indent);
    }
    for word in text.split_inclusive(|(_, c)| *c == ' ') {
        let length = word.iter().filter(|(_, c)| *c != ' ').count();
        if folded.column + length > width && folded.column > indent.chars().count() {
            folded.break_line(&indent);
        }
        let room = width.saturating_sub(folded.column).max(MIN_COLUMNS);
        let is_path = word.iter().any(|(_, c)| *c == '/');
        let left_out = if length > room && !is_path { length + 1 - room } else { 0 };
        let first = (length - left_out) / 2;
        for (index, (escapes, c)) in word.iter().enumerate() {
            if index == first && left_out > 0 {
                folded.push("", '…');
            }
            if !(first..first + left_out).contains(&index) {
                folded.push(escapes, *c);
            }
        }
    }
    folded.text + &tail + &line[content.len()..]
}

/// Returns where a line may be folded, or `None` if it stays whole.
fn shape(line: &[char], width: usize) -> Option<Shape> {
    let text: String = line.iter().collect();
    let spaces = |columns: usize| " ".repeat(columns);
    let trimmed = text.trim_start();
    let blank = line.len() - trimmed.chars().count();
    let at = |start: usize, indent: String| Shape { start, indent, is_below: false };
    if let Some((label, _)) = trimmed.strip_prefix("= ").and_then(|note| note.split_once(": ")) {
        let start = blank + label.chars().count() + 4;
        let is_whole = WHOLE.contains(&label) || start + MIN_COLUMNS > width;
        return (!is_whole).then(|| at(start, spaces(start)));
    }
    let is_headline = ["error", "warning", "note"].into_iter().any(|severity| {
        let rest = text.strip_prefix(severity);
        rest.is_some_and(|rest| rest.starts_with(['[', ':']))
    });
    if is_headline {
        return Some(at(0, spaces(4)));
    }
    if let Some(annotation) = trimmed.strip_prefix("| ").filter(|_| blank > 0) {
        return label(annotation, blank + 2, width);
    }
    let first: String = line.iter().take(STATUS - 1).collect();
    let word = first.trim_start();
    let is_word = word.chars().all(|c| c.is_alphanumeric() || c == '-');
    let is_status = is_word && line.get(STATUS - 1) == Some(&' ') && line.get(STATUS) != Some(&' ');
    is_status.then(|| at(STATUS, spaces(STATUS)))
}

/// Returns where the label of a source line is folded: below itself, or below the carets if there
/// is too little room beside them. `gutter` is the number of columns before `annotation`.
fn label(annotation: &str, gutter: usize, width: usize) -> Option<Shape> {
    let marks = annotation.len() - annotation.trim_start_matches([' ', '^', '-', '|']).len();
    let first = annotation.len() - annotation.trim_start().len();
    // Marks are ASCII, so bytes are columns.
    let (caret, text) = (gutter + first, gutter + marks);
    let indent = |column: usize| {
        let bar = " ".repeat(gutter - 2);
        format!("{bar}| {}", " ".repeat(column - gutter))
    };
    if text + MIN_LABEL <= width {
        Some(Shape { start: text, indent: indent(text), is_below: false })
    } else if caret + MIN_COLUMNS <= width && marks < annotation.len() {
        Some(Shape { start: text, indent: indent(caret), is_below: true })
    } else {
        None
    }
}

/// Splits styled text into characters, each with the escape sequences before it, and the escape
/// sequences at the end.
fn styled(line: &str) -> (Vec<(String, char)>, String) {
    let mut chars = Vec::new();
    let mut escapes = String::new();
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            escapes.push(c);
            for c in rest.by_ref() {
                escapes.push(c);
                if c.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            chars.push((std::mem::take(&mut escapes), c));
        }
    }
    (chars, escapes)
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn notes_headlines_and_labels_are_folded_between_words_and_commands_stay_whole() {
        let text = "\
error[ND]: `shop$tests::counts` relies on when its threads run at src/a.rs
  --> src/lib.rs:2:1
   |
 2 |     let a_source_line_that_is_long = counter.load(Ordering::SeqCst);
   |     ^^^^ the first thread that the test starts waits here
   |     ------------------------------ the second one does
   |
   = help: join the thread, or wait for its message before reading it
   = reproduce: cargo nondex replay 'shop$tests::counts' --seed 9

     Summary [  11.003s] 13 tests: 4 stable, 2 ID (2 causes)
             7 of 85 models reached, 14 choice points in 613 runs
";
        let expected = "\
error[ND]: `shop$tests::counts` relies on when its
    threads run at src/a.rs
  --> src/lib.rs:2:1
   |
 2 |     let a_source_line_that_is_long = counter.load(Ordering::SeqCst);
   |     ^^^^ the first thread that the test starts
   |          waits here
   |     ------------------------------
   |     the second one does
   |
   = help: join the thread, or wait for its message
           before reading it
   = reproduce: cargo nondex replay 'shop$tests::counts' --seed 9

     Summary [  11.003s] 13 tests: 4 stable, 2 ID (2
             causes)
             7 of 85 models reached, 14 choice points
             in 613 runs
";
        assert_eq!(fold(text, 54), expected);
        assert_eq!(fold(text, 90), text);
    }

    #[test]
    fn a_name_that_is_longer_than_the_terminal_is_shortened_in_the_middle() {
        let name = format!("zoo$first_{}_last", "x".repeat(100));
        let text = format!("error[ID]: `{name}` relies on an order\n");
        let folded = fold(&text, 40);
        assert!(folded.lines().all(|line| line.chars().count() <= 40), "{folded}");
        assert!(folded.contains("`zoo$first_xx") && folded.contains("…"), "{folded}");
        assert!(folded.contains("xx_last`\n    relies on an order\n"), "{folded}");
        let path = format!("      Report /home/{}/report.json\n", "x".repeat(50));
        assert!(fold(&path, 40).ends_with(path.trim_start_matches(' ').split_at(7).1));
    }

    #[test]
    fn styles_are_kept_and_do_not_count_as_columns() {
        let red = "\u{1b}[31m";
        let text = format!("{red}error[ID]\u{1b}[0m: {red}one two three\u{1b}[0m\n");
        assert_eq!(fold(&text, 24), text);
        let folded = fold(&text, 20);
        assert_eq!(strip_str(&folded).to_string(), "error[ID]: one two\n    three\n");
        assert!(folded.contains(&format!("\u{1b}[0m\n    {red}three")), "{folded:?}");
        assert!(folded.ends_with("\u{1b}[0m\n"), "{folded:?}");
    }
}
