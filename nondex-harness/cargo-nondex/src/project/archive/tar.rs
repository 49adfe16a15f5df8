//! Runs `tar` and the program that compresses an archive.

use std::process::{Command, Output, Stdio};

use camino::Utf8Path;

use crate::error::{Error, OrSetup, Result};
use crate::file;

/// Suffixes of archive names, each with the program that compresses. Most of the content is debug
/// information, which higher compression levels hardly make smaller.
const FORMATS: [(&str, Option<&str>); 4] = [
    (".tar.zst", Some("zstd -T0")),
    (".tar.gz", Some("gzip -1")),
    (".tgz", Some("gzip -1")),
    (".tar", None),
];

/// Checks that an archive can be written to a file of this name.
///
/// # Errors
/// Returns a message with the expected suffixes.
pub fn is_name_of_archive(file: &Utf8Path) -> Result<(), String> {
    format_of(file).map(drop)
}

/// Returns the program that compresses an archive of this name, or `None` for a plain `tar` file.
///
/// # Errors
/// Returns a message with the expected suffixes.
fn format_of(file: &Utf8Path) -> Result<Option<&'static str>, String> {
    let found = FORMATS.into_iter().find(|(end, _)| file.as_str().ends_with(end));
    found.map(|(_, program)| program).ok_or_else(|| {
        let ends: Vec<&str> = FORMATS.iter().map(|(end, _)| *end).collect();
        format!("expected a name that ends in one of {}", ends.join(", "))
    })
}

/// Packs the members, which are paths below `folder`. A member may be below a symbolic link.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub(super) fn create(file: &Utf8Path, folder: &Utf8Path, members: &[String]) -> Result<()> {
    let program = format_of(file).map_err(Error::usage)?;
    // A list in a file, because the command line has a maximum length.
    let list = folder.join("members");
    file::write(&list, &members.join("\0"))?;
    let mut command = Command::new("tar");
    // Without `--force-local`, `tar` takes the text before a colon in a name for a remote host.
    command.args(["--create", "--file", file.as_str(), "--force-local"]);
    command.args(program.map(|program| format!("--use-compress-program={program}")));
    command.args(["--directory", folder.as_str(), "--null", "--no-unquote"]);
    command.args(["--files-from", list.as_str()]);
    run(command, &format!("failed to write `{file}`")).map(drop)
}

/// Extracts the files below `member` into `folder`, and removes `member` from their paths.
///
/// # Errors
/// Returns an error if the archive cannot be read, or the folder cannot be written.
pub(super) fn extract(file: &Utf8Path, member: &str, folder: &Utf8Path) -> Result<()> {
    file::create_folder(folder)?;
    let parts = Utf8Path::new(member).components().count();
    let mut command = Command::new("tar");
    command.args(["--extract", "--file", file.as_str(), "--force-local"]);
    command.args(["--directory", folder.as_str(), "--no-same-owner"]);
    command.args([&format!("--strip-components={parts}"), member]);
    run(command, &format!("failed to extract `{file}`")).map(drop)
}

/// Returns the text of a member.
///
/// # Errors
/// Returns an error if the archive cannot be read, or has no such member.
pub(super) fn text(file: &Utf8Path, member: &str) -> Result<String> {
    let mut command = Command::new("tar");
    command.args(["--extract", "--file", file.as_str(), "--force-local"]);
    // `tar` stops at the first occurrence, and does not read the rest of the file.
    command.args(["--to-stdout", "--occurrence=1", member]);
    let expected = "expected an archive of `cargo nondex archive`";
    let output = run(command, &format!("failed to read `{file}`, {expected}"))?;
    String::from_utf8(output.stdout)
        .map_err(|_| Error::setup(format!("`{file}` is not an archive")))
}

/// Runs `tar`.
///
/// # Errors
/// Returns an error whose message begins with `failed` if `tar` fails.
fn run(mut command: Command, failed: &str) -> Result<Output> {
    command.stdin(Stdio::null());
    let output =
        command.output().or_setup(format_args!("{failed}: the program `tar` cannot be run"))?;
    if output.status.success() {
        return Ok(output);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    // gzip begins its messages with an empty line.
    let first = stderr.lines().find(|line| !line.trim().is_empty());
    let why = first.map_or_else(|| format!("`tar` failed: {}", output.status), str::to_owned);
    Err(Error::setup(format!("{failed}: {why}")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use camino::Utf8PathBuf;

    use super::*;

    #[test]
    fn what_is_packed_is_extracted_below_another_folder() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        let packed = root.join("packed");
        fs::create_dir_all(root.join("real/inner")).unwrap();
        fs::create_dir(&packed).unwrap();
        std::os::unix::fs::symlink(root.join("real"), packed.join("target")).unwrap();
        let odd = "inner/-C a\nline\\n";
        fs::write(root.join("real").join(odd), "content").unwrap();
        fs::write(packed.join("first.json"), "{}").unwrap();
        for name in ["it.tar", "it:1.tar.gz"] {
            let file: Utf8PathBuf = root.join(name);
            let members = ["first.json".to_owned(), format!("target/{odd}")];
            create(&file, &packed, &members).unwrap();
            assert_eq!(text(&file, "first.json").unwrap(), "{}");
            let out = root.join(format!("of {name}"));
            extract(&file, "target/inner", &out).unwrap();
            let found = fs::read_to_string(out.join(odd.trim_start_matches("inner/")));
            assert_eq!(found.unwrap(), "content");
            let error = text(&file, "other").unwrap_err().to_string();
            assert!(error.contains("other: Not found in archive"), "{error}");
            assert!(error.contains("expected an archive of `cargo nondex archive`"), "{error}");
        }
    }

    #[test]
    fn an_archive_that_is_cut_off_is_refused_with_a_reason() {
        let temporary = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(temporary.path()).unwrap();
        fs::write(root.join("first"), "content").unwrap();
        let file = root.join("it.tar.gz");
        create(&file, root, &["first".to_owned()]).unwrap();
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        let error = text(&file, "first").unwrap_err().to_string();
        assert!(!error.trim_end().ends_with(':'), "{error}");
    }

    #[test]
    fn the_name_decides_how_it_is_compressed() {
        assert_eq!(format_of("a.tar.zst".into()), Ok(Some("zstd -T0")));
        assert_eq!(format_of("a.tar".into()), Ok(None));
        let refused = is_name_of_archive("a.zip".into()).unwrap_err();
        assert!(refused.contains(".tar.gz"), "{refused}");
    }
}
