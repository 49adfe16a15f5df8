//! A page in Markdown, and what tests look for in it.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the package is in the repository")
}

/// One page.
#[derive(Debug)]
pub(crate) struct Page {
    /// Its path in the repository.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A part of a page between two headings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'a>(&'a str);

impl Page {
    /// The page at this path in the repository.
    pub(crate) fn open(name: &str) -> Self {
        let path = repository().join(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Page { name: name.to_owned(), text }
    }

    /// A page of the book.
    pub(crate) fn of_book(name: &str) -> Self {
        Self::open(&format!("docs/src/{name}.md"))
    }

    /// Every page that users and contributors read: README, CONTRIBUTING, the book, and the
    /// examples' own.
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

    /// What stands below a heading, up to the next one of the second level.
    #[track_caller]
    pub(crate) fn section(&self, heading: &str) -> Section<'_> {
        let marker = format!("\n## {heading}\n");
        let Some(start) = self.text.find(&marker) else {
            panic!("{} has no section `{heading}`", self.name)
        };
        let section = &self.text[start + marker.len()..];
        Section(&section[..section.find("\n## ").unwrap_or(section.len())])
    }

    /// The whole page as one section.
    pub(crate) fn whole(&self) -> Section<'_> {
        Section(&self.text)
    }

    /// Asserts that what stands between `<!-- generated: name -->` and `<!-- end -->` is
    /// `expected`. With `INSTA_UPDATE=always` the page is rewritten instead.
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

    /// The number of words outside of generated parts. A sign, such as those that make a table, is
    /// none.
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

    /// The code spans outside of blocks of code.
    pub(crate) fn spans(&self) -> impl Iterator<Item = &str> {
        self.prose().flat_map(|line| line.split('`').skip(1).step_by(2))
    }

    /// The lines outside of blocks of code.
    pub(crate) fn prose(&self) -> impl Iterator<Item = &str> {
        self.lines_with_language().filter_map(|(language, line)| language.is_none().then_some(line))
    }

    /// The blocks of code in a language.
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

    /// The commands after a prompt in blocks of code that start so.
    pub(crate) fn commands<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a str> {
        self.text
            .lines()
            .filter_map(|line| line.strip_prefix("$ "))
            .filter(move |command| command.starts_with(start))
    }

    /// Each line with the language of the block it is in; the fence that opens a block is in it,
    /// the one that ends it is not.
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
    /// The cells of its tables, a row each, without the headers and without the marks of code.
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

    /// The first cells of its tables.
    pub(crate) fn first_column(self) -> Vec<String> {
        let rows = self.table().into_iter();
        rows.filter_map(|row| row.into_iter().next()).collect()
    }
}

/// The pages below a folder, in the order of their names.
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
