//! Builds the book in `docs/` into `target/book`, and checks that every link in it, and in the
//! other pages of the repository, leads somewhere. It does not use the network.

mod links;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use links::Site;
use mdbook_driver::MDBook;

/// Pages outside the book, apart from those of the examples.
const OTHERS: [&str; 3] = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];

fn main() -> ExitCode {
    links::assert_that_wrong_links_are_found();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("it is in docs");
    match check(repository) {
        Ok(problems) if problems.is_empty() => {
            println!("target/book/index.html");
            ExitCode::SUCCESS
        }
        Ok(problems) => {
            for problem in problems {
                eprintln!("error: {problem}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the book, and checks all pages. Returns the problems, one per line.
fn check(repository: &Path) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let docs = repository.join("docs");
    let book = MDBook::load(&docs)?;
    book.build()?;
    let mut site = Site::new(repository, &repository.join("target/book"))?;

    let summary = fs::read_to_string(docs.join("src/SUMMARY.md"))?;
    for page in pages(&docs.join("src"))? {
        let name = page
            .strip_prefix(docs.join("src"))?
            .to_str()
            .unwrap_or_default();
        if name != "SUMMARY.md" && !summary.contains(&format!("]({name})")) {
            site.problems
                .push(format!("docs/src/{name} is not in SUMMARY.md"));
        }
    }
    site.check_book();
    for name in OTHERS {
        site.check_markdown(&repository.join(name))?;
    }
    for page in pages(&repository.join("examples"))? {
        site.check_markdown(&page)?;
    }
    Ok(site.problems)
}

/// Returns the Markdown pages below a folder, sorted. Skips build folders.
fn pages(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            if !path.ends_with("target") {
                pages.extend(self::pages(&path)?);
            }
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(pages)
}
