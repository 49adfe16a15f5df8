//! Markdown pages, and the parts of them that tests check.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the package is in the repository")
}

/// Page in Markdown.
#[derive(Debug)]
pub(crate) struct Page {
    /// Path in the repository.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Part of a page between two headings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a>(&'a str);

impl Page {
    /// Reads the page at this path in the repository.
    pub(crate) fn open(name: &str) -> Self {
        let path = repository().join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Page { name: name.to_owned(), text }
    }

    /// Reads a page of the book.
    pub(crate) fn of_book(name: &str) -> Self {
        Self::open(&format!("docs/src/{name}.md"))
    }

    /// Reads every page for users and contributors: README, CONTRIBUTING, the book, and those of
    /// the examples.
    pub(crate) fn all() -> Vec<Self> {
        let mut names = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
        for folder in ["docs/src", "examples"] {
            let mut found = Vec::new();
            collect(&repository().join(folder), &mut found);
            let found = found.iter().map(|path| {
                let path = path.strip_prefix(repository()).expect("it is inside");
                path.to_str().expect("its name is text").to_owned()
            });
            names.extend(found);
        }
        names.iter().map(|name| Self::open(name)).collect()
    }

    /// Returns the part below a heading, up to the next one of the second level.
    #[track_caller]
    pub(crate) fn section(&self, heading: &str) -> Section<'_> {
        let marker = format!("\n## {heading}\n");
        let Some(start) = self.text.find(&marker) else {
            panic!("{} has no section `{heading}`", self.name)
        };
        let section = &self.text[start + marker.len()..];
        Section(&section[..section.find("\n## ").unwrap_or(section.len())])
    }

    /// Returns the whole page as one section.
    pub(crate) fn whole(&self) -> Section<'_> {
        Section(&self.text)
    }

    /// Asserts that the part between `<!-- generated: name -->` and `<!-- end -->` is `expected`.
    /// With `INSTA_UPDATE=always`, the page is rewritten instead.
    #[track_caller]
    pub(crate) fn expect_generated(&self, name: &str, expected: &str) {
        let begin = format!("<!-- generated: {name} -->\n");
        let start = self.text.find(&begin).expect("the page has the mark") + begin.len();
        let end = start + self.text[start..].find("<!-- end -->").expect("it has an end");
        let expected = format!("\n{}\n\n", expected.trim());
        if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
            let text = [&self.text[..start], &expected, &self.text[end..]].concat();
            fs::write(repository().join(&self.name), text).unwrap();
        } else {
            assert_eq!(
                &self.text[start..end],
                expected,
                "INSTA_UPDATE=always rewrites {}",
                self.name
            );
        }
    }

    /// Returns the number of words outside of generated parts. Signs without letters or digits,
    /// such as those of a table, do not count.
    pub(crate) fn written_words(&self) -> usize {
        let mut is_generated = false;
        let mut count = 0;
        for line in self.text.lines() {
            if line.starts_with("<!--") {
                is_generated = line.starts_with("<!-- generated:");
            } else if !is_generated {
                let words = line.split_whitespace();
                count += words.filter(|word| word.contains(char::is_alphanumeric)).count();
            }
        }
        count
    }

    /// Returns the code spans outside of code blocks.
    pub(crate) fn spans(&self) -> impl Iterator<Item = &str> {
        self.prose().flat_map(|line| line.split('`').skip(1).step_by(2))
    }

    /// Returns the lines outside of code blocks.
    pub(crate) fn prose(&self) -> impl Iterator<Item = &str> {
        self.lines_with_language().filter_map(|(language, line)| language.is_none().then_some(line))
    }

    /// Returns the code blocks in a language.
    pub(crate) fn blocks(&self, wanted: &str) -> Vec<String> {
        let mut blocks = Vec::new();
        let mut inside = false;
        for (language, line) in self.lines_with_language() {
            if language != Some(wanted) {
                inside = false;
            } else if inside && !line.starts_with("```") {
                let block: &mut String = blocks.last_mut().expect("it began");
                *block += line;
                *block += "\n";
            } else if !inside {
                inside = true;
                blocks.push(String::new());
            }
        }
        blocks
    }

    /// Returns the commands after a prompt that begin with `start`.
    pub(crate) fn commands<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a str> {
        self.text
            .lines()
            .filter_map(|line| line.strip_prefix("$ "))
            .filter(move |command| command.starts_with(start))
    }

    /// Returns each line with the language of its code block. The opening fence belongs to the
    /// block, the closing fence does not.
    fn lines_with_language(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        let mut language = None;
        self.text.lines().map(move |line| {
            if let Some(rest) = line.trim_start().strip_prefix("```") {
                language = language.is_none().then_some(rest);
            }
            (language, line)
        })
    }
}

impl Section<'_> {
    /// Returns the cells of its tables, row by row, without headers and without backquotes.
    pub(crate) fn table(self) -> Vec<Vec<String>> {
        self.0
            .lines()
            .filter(|line| line.starts_with('|'))
            .skip(2)
            .map(|line| {
                let cells = line.trim_matches('|').split(" | ");
                cells.map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
            })
            .collect()
    }

    /// Returns the first cells of its tables.
    pub(crate) fn first_column(self) -> Vec<String> {
        let rows = self.table().into_iter();
        rows.filter_map(|row| row.into_iter().next()).collect()
    }
}

/// Collects the pages below a folder, sorted by name.
fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                collect(&path, pages);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}
