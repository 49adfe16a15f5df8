//! Where links lead.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

/// What the repository's own files are called on the web; the rest is a kind of view, a branch and
/// a path.
const REPOSITORY: &str = "https://github.com/cargo-nondex/cargo-nondex";

/// Pages that repeat others, or are no pages.
const REPEATED: [&str; 3] = ["print.html", "toc.html", "404.html"];

/// The book as it was built, and the repository around it.
#[derive(Debug, Default)]
pub struct Site {
    repository: PathBuf,
    book: PathBuf,
    /// The pages of the book, each with its anchors and its links.
    pages: BTreeMap<PathBuf, Html>,
    /// What was found to be wrong.
    pub problems: Vec<String>,
}

#[derive(Debug, Default)]
struct Html {
    anchors: BTreeSet<String>,
    links: BTreeSet<String>,
}

impl Site {
    /// Reads the book.
    pub fn new(repository: &Path, book: &Path) -> io::Result<Self> {
        let mut site = Site {
            repository: repository.to_owned(),
            book: book.to_owned(),
            ..Site::default()
        };
        site.read(book)?;
        Ok(site)
    }

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

    /// Checks the links of a page outside of the book, in Markdown.
    pub fn check_markdown(&mut self, path: &Path) -> io::Result<()> {
        for link in markdown_links(&fs::read_to_string(path)?) {
            self.problems.extend(self.problem(path, &link));
        }
        Ok(())
    }

    /// What is wrong with a link on the page at `path`.
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
        // A page of the book in Markdown has the anchors that it has in the book.
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
    fn parse(text: &str) -> Self {
        Html {
            anchors: values(text, " id=\"").collect(),
            links: values(text, " href=\"")
                .chain(values(text, " src=\""))
                .collect(),
        }
    }
}

/// The values of an attribute, which the renderer always quotes.
fn values<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = String> + 'a {
    let found = text.match_indices(start);
    found.filter_map(move |(at, _)| {
        let value = text[at + start.len()..].split('"').next()?;
        Some(value.replace("&amp;", "&"))
    })
}

/// The targets of links in Markdown, outside of blocks of code.
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

/// A path without `..`.
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

/// A check that finds nothing is only worth something if it would find what is wrong.
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
