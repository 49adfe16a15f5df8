//! Parser of a difference as git shows it, without context lines.

use std::collections::BTreeSet;

use super::{Changes, FileChange};

impl Changes {
    /// Parses a difference that git shows with `--unified=0` and `--no-prefix`.
    pub(super) fn of_diff(text: &str) -> Self {
        let mut changes = Changes::default();
        let mut before = "";
        let mut file = FileChange::default();
        // Number of lines of the hunk that are still to come. Such a line may look like a header.
        let mut left = 0;
        let mut hunk = Hunk::default();
        let mut change = &mut file;
        for line in text.lines() {
            if left > 0 && line.starts_with(['+', '-']) {
                left -= 1;
                hunk.add(line);
                if left == 0 {
                    change.deletions.extend(hunk.deletions());
                }
            } else if let Some(path) = line.strip_prefix("--- ") {
                before = path;
            } else if let Some(path) = line.strip_prefix("+++ ") {
                let path = if path == "/dev/null" { before } else { path };
                // git ends a path that contains spaces with a tab.
                let path = unquoted(path.trim_end_matches('\t'));
                change = changes.files.entry(path).or_default();
            } else if let Some(ranges) = line.strip_prefix("@@ -") {
                let mut parts = ranges.split(' ');
                let [old, new] = [parts.next(), parts.next()]
                    .map(|part| range(part.unwrap_or_default().trim_start_matches('+')));
                left = old.1 + new.1;
                let lines = new.0..new.0 + new.1;
                if old.1 != new.1 {
                    // For an empty range, git names the line before it.
                    let after = new.0 + new.1.max(1);
                    change.moved = change.moved.or(Some(after));
                }
                change.lines.extend(lines);
                hunk = Hunk { new, ..Hunk::default() };
            }
        }
        changes
    }
}

/// Lines that replace others.
#[derive(Debug, Default)]
struct Hunk {
    /// First new line and the number of new lines. If there are none, the line before.
    new: (u32, u32),
    /// Number of old lines with code, not counting blank lines and comments.
    before: u32,
    /// Number of new lines with code.
    after: u32,
}

impl Hunk {
    /// Counts a line, which begins with its sign.
    fn add(&mut self, line: &str) {
        let text = line[1..].trim();
        let is_code = !text.is_empty() && !text.starts_with("//");
        match line.as_bytes()[0] {
            b'-' if is_code => self.before += 1,
            b'-' => {}
            _ => self.after += u32::from(is_code),
        }
    }

    /// Returns the lines after which code was deleted, if the hunk has less code than before. These
    /// are the line before the new lines, and the last of them.
    fn deletions(&self) -> BTreeSet<u32> {
        let (first, count) = self.new;
        match (self.after < self.before, count) {
            (false, _) => BTreeSet::new(),
            (true, 0) => BTreeSet::from([first]),
            (true, _) => BTreeSet::from([first.saturating_sub(1), first + count - 1]),
        }
    }
}

/// Parses a path as git shows it. git puts a path with special characters into quotation marks.
fn unquoted(path: &str) -> String {
    let quoted = path.strip_prefix('"').and_then(|path| path.strip_suffix('"'));
    let Some(quoted) = quoted else { return path.to_owned() };
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match (byte, rest.clone().next()) {
            (b'\\', Some(b'0'..=b'3')) => {
                let digits = rest.by_ref().take(3).map(|digit| digit.wrapping_sub(b'0'));
                digits.fold(0_u8, |number, digit| (number << 3) | (digit & 7))
            }
            (b'\\', Some(sign)) => {
                rest.next();
                match sign {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    sign => sign,
                }
            }
            (byte, _) => byte,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Parses the first line and the number of lines in `7,2` or `7`.
fn range(text: &str) -> (u32, u32) {
    let (first, count) = text.split_once(',').unwrap_or((text, "1"));
    (first.parse().unwrap_or(0), count.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git src/lib.rs src/lib.rs\nindex 1..2 100644\n--- src/lib.rs\n\
        +++ src/lib.rs\n@@ -3 +3,2 @@ fn a() {\n-old\n+new\n+++ b\n@@ -9,2 +10,0 @@\n--- gone\n\
        -gone\n@@ -20,0 +20 @@\n+last\ndiff --git gone.rs gone.rs\n--- gone.rs\n+++ /dev/null\n\
        @@ -1 +0,0 @@\n-x\n";

    #[test]
    fn changed_lines_are_those_of_the_file_afterwards() {
        let changes = Changes::of_diff(DIFF);
        let set = |lines: &[u32]| lines.iter().copied().collect::<BTreeSet<u32>>();
        let expected = [
            ("gone.rs", set(&[]), set(&[0]), Some(1)),
            ("src/lib.rs", set(&[3, 4, 20]), set(&[10]), Some(5)),
        ];
        let found = changes.files.iter().map(|(file, change)| {
            let FileChange { lines, deletions, moved } = change.clone();
            (file.as_str(), lines, deletions, moved)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(changes.nearest("src/lib.rs", 9), Some(4));
        assert_eq!(changes.nearest("gone.rs", 9), None);
    }

    #[test]
    fn paths_are_what_they_are_without_quotation_marks() {
        for (path, expected) in [
            ("a/b.rs", "a/b.rs"),
            (r#""a\tb\"c\\.rs""#, "a\tb\"c\\.rs"),
            (r#""\303\244.rs""#, "ä.rs"),
            (r#""\344.rs""#, "\u{fffd}.rs"),
        ] {
            assert_eq!(unquoted(path), expected);
        }
    }

    #[test]
    fn what_is_commented_out_is_gone() {
        let deletions = |hunk: &str| {
            let changes = Changes::of_diff(&format!("--- a.rs\n+++ a.rs\n{hunk}"));
            changes.files["a.rs"].deletions.clone()
        };
        for (hunk, expected) in [
            ("@@ -5 +5 @@\n-    a();\n+    // a();\n", &[4, 5][..]),
            ("@@ -5 +5 @@\n-    a();\n+\n", &[4, 5]),
            ("@@ -5,2 +5 @@\n-    a();\n-    b();\n+    c();\n", &[4, 5]),
            ("@@ -5 +5 @@\n-    a();\n+    b();\n", &[]),
            ("@@ -5 +5,2 @@\n-    // a\n+    // b\n+\n", &[]),
            ("@@ -5,2 +4,0 @@\n-    a();\n-    b();\n", &[4]),
        ] {
            let expected: BTreeSet<u32> = expected.iter().copied().collect();
            assert_eq!(deletions(hunk), expected, "{hunk}");
        }
    }
}
