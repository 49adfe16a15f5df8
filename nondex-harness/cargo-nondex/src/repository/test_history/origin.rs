//! What a function that a commit brought was before it.

use super::super::functions::{Function, functions};
use super::super::git::Git;
use super::place::{Place, SAME_NAME};
use crate::error::Result;

/// How alike two bodies are at least that are one function under two names: the tests of a file are
/// often alike.
const OTHER_NAME: f64 = 0.8;

/// A body with fewer tokens is no evidence about a function whose name is another.
const MIN_TOKENS: usize = 8;

/// Where a function that is new here in the second of two commits was in the first, its parent.
pub(super) fn before(
    here: &Place,
    git: &Git,
    (before, after): (&str, &str),
    function: Option<&Function>,
) -> Result<Option<Place>> {
    let changed = changed_files(git, before, after)?;
    let was = |file: &str| {
        let (old, _) = changed.iter().find(|(_, new)| new == file)?;
        (!old.is_empty()).then(|| old.clone())
    };
    if let Some(file) = was(&here.file) {
        let same = here.clone().in_file(file);
        if same.find(git, before).is_some() {
            return Ok(Some(same));
        }
    }
    let Some(function) = function else { return Ok(None) };
    // Both sides by the name that a file has afterwards.
    let [mut olds, mut news] = [Vec::new(), Vec::new()];
    for (old, new) in &changed {
        let key = if new.is_empty() { old } else { new };
        for (all, commit, file) in [(&mut olds, before, old), (&mut news, after, new)] {
            let text = git.text(commit, file).filter(|_| !file.is_empty());
            let of_file = functions(&text.unwrap_or_default()).unwrap_or_default();
            all.extend(of_file.into_iter().map(|function| (key.clone(), function)));
        }
    }
    let own = (here.file.clone(), function.clone());
    Ok(origin(&own, &olds, &news).map(|place| match was(&place.file) {
        Some(file) => place.in_file(file),
        None => place,
    }))
}

/// The name that the function of a test had in a file with the text `before`, of which the text is
/// `now` another one.
pub(super) fn former_name(before: &str, now: &str, test: &str) -> Option<String> {
    let own = Place::first("", now, test)?.find_in(now)??;
    let all = |text| {
        let all = functions(text).unwrap_or_default();
        all.into_iter().map(|function| (String::new(), function)).collect::<Vec<_>>()
    };
    origin(&(String::new(), own), &all(before), &all(now)).map(|place| place.name)
}

/// Which of the functions of a commit, `olds`, one of its child was that is new there, among all
/// functions of the files that the child changed.
fn origin(
    own: &(String, Function),
    olds: &[(String, Function)],
    news: &[(String, Function)],
) -> Option<Place> {
    let is_same_place = |a: &(String, Function), b: &(String, Function)| {
        a.0 == b.0 && a.1.name == b.1.name && a.1.modules == b.1.modules
    };
    // How much speaks for two being one.
    let score = |old: &(String, Function), new: &(String, Function)| {
        let likeness = old.1.likeness(&new.1);
        let has_same_name = old.1.name == new.1.name;
        let needed = if has_same_name { SAME_NAME } else { OTHER_NAME };
        let is_enough = has_same_name || old.1.len() >= MIN_TOKENS;
        match is_same_place(old, new) {
            true if likeness >= SAME_NAME => Some(likeness + 2.0),
            _ if likeness >= needed && is_enough => {
                Some(likeness + f64::from(u8::from(has_same_name)))
            }
            _ => None,
        }
    };
    let best = olds.iter().filter_map(|old| {
        let own_score = score(old, own)?;
        let is_taken = news.iter().filter(|new| !is_same_place(new, own)).any(|new| {
            // One that was there before comes from itself.
            let is_free =
                is_same_place(old, new) || !olds.iter().any(|old| is_same_place(old, new));
            is_free && score(old, new).is_some_and(|score| score > own_score)
        });
        (!is_taken).then_some((own_score, old))
    });
    let (_, (file, function)) = best.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let all = olds.iter().filter(|(other, _)| other == file).map(|(_, function)| function);
    Some(Place::of(file, function, all))
}

/// The Rust sources that differ between two commits, as they are called in each; empty where there
/// is none.
fn changed_files(git: &Git, before: &str, after: &str) -> Result<Vec<(String, String)>> {
    let text = git.read(&[
        "diff",
        "--no-color",
        "--no-ext-diff",
        "--find-renames",
        "--name-status",
        "-z",
        before,
        after,
        "--",
        ":(top,glob)**/*.rs",
    ])?;
    let mut parts = text.split('\0');
    let mut changed = Vec::new();
    while let Some(status) = parts.next().filter(|status| !status.is_empty()) {
        let mut file = || parts.next().unwrap_or_default().to_owned();
        changed.push(match status.as_bytes()[0] {
            b'A' => (String::new(), file()),
            b'D' => (file(), String::new()),
            b'R' | b'C' => (file(), file()),
            _ => {
                let file = file();
                (file.clone(), file)
            }
        });
    }
    Ok(changed)
}
