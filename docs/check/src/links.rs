//! Checks that links lead somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// Prefix of the web addresses of the repository's own files. A kind of view, a branch and a path
/// follow.
const REPOSITORY: &str = "https://github.com/cargo-nondex/cargo-nondex";

/// Files of the book that repeat other pages, or are no pages.
const REPEATED: [&str; 3] = ["print.html", "toc.html", "404.html"];

/// Built book, and the repository.
#[derive(Debug, Default)]
pub struct Site {
    repository: PathBuf,
    book: PathBuf,
    /// Pages of the book, by path.
    pages: BTreeMap<PathBuf, Html>,
    /// Problems that were found.
    pub problems: Vec<String>,
}

/// Page of the book.
#[derive(Debug, Default)]
struct Html {
    anchors: BTreeSet<String>,
    links: BTreeSet<String>,
}

impl Site {
    /// Reads the pages of the book.
    ///
    /// # Errors
    /// Returns an error if a folder or a page cannot be read.
    pub fn new(repository: &Path, book: &Path) -> io::Result<Self> {
        let mut site = Site {
            repository: repository.to_owned(),
            book: book.to_owned(),
            ..Site::default()
        };
        site.read(book)?;
        Ok(site)
    }

    /// Reads the pages below a folder.
    fn read(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                self.read(&path)?;
            } else if path
                .extension()
                .is_some_and(|extension| extension == "html")
            {
                let page = Html::parse(&fs::read_to_string(&path)?);
                self.pages.insert(path, page);
            }
        }
        Ok(())
    }

    /// Checks the links of all pages of the book.
    pub fn check_book(&mut self) {
        let mut problems = Vec::new();
        for (path, page) in &self.pages {
            if REPEATED.iter().any(|name| path.ends_with(name)) {
                continue;
            }
            for link in &page.links {
                problems.extend(self.problem(path, link));
            }
        }
        self.problems.extend(problems);
    }

    /// Checks the links of a Markdown page outside the book.
    ///
    /// # Errors
    /// Returns an error if the page cannot be read.
    pub fn check_markdown(&mut self, path: &Path) -> io::Result<()> {
        for link in markdown_links(&fs::read_to_string(path)?) {
            self.problems.extend(self.problem(path, &link));
        }
        Ok(())
    }

    /// Returns the problem with a link on the page at `path`, if there is one.
    fn problem(&self, path: &Path, link: &str) -> Option<String> {
        let problem = |why: &str| {
            let path = path.strip_prefix(&self.repository).unwrap_or(path);
            Some(format!("{}: `{link}` {why}", path.display()))
        };
        if let Some(own) = link.strip_prefix(REPOSITORY) {
            // `/blob/main/README.md`, or the repository itself.
            let file = own.splitn(4, '/').nth(3).unwrap_or_default();
            let exists = self.repository.join(file).exists();
            return if exists {
                None
            } else {
                problem("is not in the repository")
            };
        }
        if link.starts_with("https://") {
            return None;
        }
        if link.contains(':') {
            return problem("is neither relative nor https");
        }
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = match file {
            "" => path.to_owned(),
            _ => normal(&path.parent().unwrap_or(path).join(file)),
        };
        if !target.exists() {
            return problem("leads nowhere");
        }
        if anchor.is_empty() {
            return None;
        }
        // The anchors of a Markdown page of the book are in the built page.
        let source = self.repository.join("docs/src");
        let built = match target.strip_prefix(source) {
            Ok(name) => self.book.join(name).with_extension("html"),
            Err(_) => target,
        };
        match self.pages.get(&built) {
            Some(page) if page.anchors.contains(anchor) => None,
            _ => problem("has no such anchor"),
        }
    }
}

impl Html {
    /// Finds the anchors and links in the text of a page.
    fn parse(text: &str) -> Self {
        Html {
            anchors: values(text, " id=\"").collect(),
            links: values(text, " href=\"")
                .chain(values(text, " src=\""))
                .collect(),
        }
    }
}

/// Returns the values of an attribute, which the renderer always quotes.
fn values<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = String> + 'a {
    text.match_indices(start).filter_map(move |(at, _)| {
        let value = text[at + start.len()..].split('"').next()?;
        Some(value.replace("&amp;", "&"))
    })
}

/// Returns the targets of links in Markdown, except those in code blocks.
fn markdown_links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            links.extend(line[at + 2..].split(')').next().map(str::to_owned));
        }
    }
    links
}

/// Returns a path without `.` and `..`. Does not resolve symbolic links.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => _ = normal.pop(),
            Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

/// Checks that this program finds wrong links. Otherwise a run without problems proves nothing.
///
/// # Panics
/// Panics if it does not find them.
pub fn assert_that_wrong_links_are_found() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = repository.join("Cargo.toml");
    let html = r##"<h2 id="here">…</h2> <a href="#here">…</a> <a href="#there">…</a>
            <a href="src/main.rs">…</a>
        <a href="src/lib.rs">…</a> <a href="http://example.com">…</a>
        <a href="https://example.com">…</a>"##;
    let site = Site {
        repository: repository.to_owned(),
        pages: [(page.clone(), Html::parse(html))].into(),
        ..Site::default()
    };
    let own = ["/blob/main/src/main.rs", "/blob/main/src/lib.rs"]
        .map(|path| format!("{REPOSITORY}{path}"));
    let links = site.pages[&page].links.iter().chain(&own);
    let found: Vec<&String> = links
        .filter(|link| site.problem(&page, link).is_some())
        .collect();
    assert_eq!(
        found,
        ["#there", "http://example.com", "src/lib.rs", &own[1]]
    );
}
