//! Where a test comes from: the commit that introduced it, and what it was called on the way.
//!
//! Git's pickaxe names the commits that changed lines of a file with the name of the test in them. Where the function came into being in its file,
//! those that went away in the same commit are compared with it: one of the same name, in another file or module, or one that reads almost the same, is
//! what it was before.

use super::functions::{Function, functions};
use super::git::Git;
use crate::error::Result;

/// How many moves and changes of the name are followed.
const MAX_MOVES: usize = 20;

/// How alike two bodies are at least that are one function in two places, of the same name.
const SAME_NAME: f64 = 0.5;

/// And of two names: the tests of a file are often alike.
const OTHER_NAME: f64 = 0.8;

/// A body with fewer tokens says nothing about a function whose name is another.
const MIN_TOKENS: usize = 8;

/// Where a test comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The commit that introduced it; `None` when its source cannot be found.
    pub introduced: Option<String>,
    /// The names of its function, the youngest first.
    pub names: Vec<String>,
    /// The files that it was in, the youngest first.
    pub files: Vec<String>,
}

/// The lineage of a test with this path, such as `module::tests::case`, in `file`, a path from the root of the repository, as they are at `commit`.
///
/// A test that was away for some time, and came back much as it was, was introduced the first time. One whose own name no function has is
/// written by a macro: it is as old as its name in the file.
///
/// # Errors
/// When git cannot say.
pub fn lineage(git: &Git, commit: &str, file: &str, test: &str) -> Result<Lineage> {
    let mut place = git
        .text(commit, file)
        .and_then(|text| Place::first(file, &text, test));
    let own = place.as_ref().map(|place| place.name.clone());
    let mut found = Lineage {
        introduced: None,
        names: own.into_iter().collect(),
        files: vec![file.to_owned()],
    };
    let mut commit = commit.to_owned();
    for _ in 0..MAX_MOVES {
        let Some(here) = place.take() else {
            break;
        };
        let Some((introduced, function)) = here.introduced(git, &commit)? else {
            break;
        };
        for parent in git.parents(&introduced)? {
            let before = here.before(git, (&parent, &introduced), function.as_ref())?;
            if let Some(before) = before {
                if !found.names.contains(&before.name) {
                    found.names.push(before.name.clone());
                }
                if !found.files.contains(&before.file) {
                    found.files.push(before.file.clone());
                }
                place = Some(before);
                commit = parent;
                break;
            }
        }
        found.introduced = Some(introduced);
    }
    Ok(found)
}

/// Where a function is in a commit.
#[derive(Clone, Debug)]
struct Place {
    file: String,
    modules: Vec<String>,
    name: String,
    /// The modules of the file that have another function of this name.
    others: Vec<Vec<String>>,
    /// Whether it is in the arguments of a macro that writes it, as a word.
    is_word: bool,
}

/// What a commit has at a place: the function, or none of it where the file cannot be split into tokens.
type Found = Option<Function>;

impl Place {
    /// That of one of all the functions of a file.
    fn of<'f>(
        file: &str,
        function: &Function,
        all: impl IntoIterator<Item = &'f Function>,
    ) -> Self {
        let same = all
            .into_iter()
            .filter(|other| other.name == function.name && other.modules != function.modules);
        Place {
            file: file.to_owned(),
            modules: function.modules.clone(),
            name: function.name.clone(),
            others: same.map(|other| other.modules.clone()).collect(),
            is_word: false,
        }
    }

    /// The function of a test: that with its name whose modules end its path, or else one that the macro writes.
    fn first(file: &str, text: &str, test: &str) -> Option<Self> {
        let segments: Vec<&str> = test.split("::").collect();
        let all = functions(text).unwrap_or_default();
        let written = segments.iter().enumerate().rev().find_map(|(last, name)| {
            let same = all.iter().filter(|function| function.name == *name);
            same.max_by_key(|function| {
                let around = segments[..last].iter().rev();
                let pairs = function.modules.iter().rev().zip(around);
                let common = pairs.take_while(|(module, segment)| module == *segment);
                (common.count(), std::cmp::Reverse(function.modules.len()))
            })
        });
        let name = segments.last()?;
        match written {
            Some(function) => Some(Place::of(file, function, &all)),
            None => has_word(text, name).then(|| Place {
                file: file.to_owned(),
                modules: Vec::new(),
                name: (*name).to_owned(),
                others: Vec::new(),
                is_word: true,
            }),
        }
    }

    /// What a commit has here.
    fn find(&self, git: &Git, commit: &str) -> Option<Found> {
        self.find_in(&git.text(commit, &self.file)?)
    }

    fn find_in(&self, text: &str) -> Option<Found> {
        let all = functions(text).filter(|_| !self.is_word);
        let Some(all) = all else {
            return has_word(text, &self.name).then_some(None);
        };
        let same = all.into_iter().filter(|function| {
            function.name == self.name && !self.others.contains(&function.modules)
        });
        let mut same: Vec<Function> = same.collect();
        // Its module may have been called something else.
        let own = same
            .iter()
            .position(|function| function.modules == self.modules)
            .or_else(|| (same.len() == 1).then_some(0))?;
        Some(Some(same.swap_remove(own)))
    }

    /// The first commit of those that lead to `commit` that has this function in this file, and what it is there.
    fn introduced(&self, git: &Git, commit: &str) -> Result<Option<(String, Found)>> {
        let name = &self.name;
        let word = format!("-G(^|[^[:alnum:]_]){name}($|[^[:alnum:]_])");
        let file = format!(":(top,literal){}", self.file);
        let log = git.read(&[
            "log",
            "--no-color",
            "--no-ext-diff",
            "--no-renames",
            "-m",
            "--topo-order",
            "--format=%H",
            &word,
            commit,
            "--",
            &file,
        ])?;
        let mut commits: Vec<&str> = log.lines().collect();
        // A merge is there once for each parent.
        commits.dedup();
        let mut introduced: Option<(String, Found)> = None;
        // What it was when it went away, in the commits that lead to where it came back.
        let mut last: Option<Found> = None;
        for commit in commits {
            let now = self.find(git, commit);
            let parents = git.parents(commit)?;
            let before = parents.iter().find_map(|parent| self.find(git, parent));
            match (now, before) {
                (Some(now), None) => {
                    let came_back = introduced.as_ref().zip(last.take());
                    let is_other = came_back.is_some_and(|((_, back), left)| {
                        let both = back.as_ref().zip(left.as_ref());
                        both.is_some_and(|(back, left)| back.likeness(left) < SAME_NAME)
                    });
                    if is_other {
                        break;
                    }
                    introduced = Some((commit.to_owned(), now));
                }
                (None, Some(before)) => {
                    last.get_or_insert(before);
                }
                _ => {}
            }
        }
        Ok(introduced)
    }

    /// Where a function that is new here in the second of two commits was in the first, its parent.
    fn before(
        &self,
        git: &Git,
        (before, after): (&str, &str),
        function: Option<&Function>,
    ) -> Result<Option<Place>> {
        let changed = changed_files(git, before, after)?;
        let was = |file: &str| {
            let mut of_file = changed.iter().filter(|(_, new)| new == file);
            let (old, _) = of_file.next()?;
            (!old.is_empty()).then(|| old.clone())
        };
        if let Some(file) = was(&self.file) {
            let same = Place {
                file,
                ..self.clone()
            };
            if same.find(git, before).is_some() {
                return Ok(Some(same));
            }
        }
        let Some(function) = function else {
            return Ok(None);
        };
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
        let own = (self.file.clone(), function.clone());
        let origin = origin(&own, &olds, &news).map(|place| Place {
            file: was(&place.file).unwrap_or(place.file),
            ..place
        });
        Ok(origin)
    }
}

/// Which of the functions of a commit, `olds`, one of its child was that is new there, among all functions of the files that the child changed.
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
        let mut rivals = news.iter().filter(|new| !is_same_place(new, own));
        let is_taken = rivals.any(|new| {
            // One that was there before comes from itself.
            let is_free =
                is_same_place(old, new) || !olds.iter().any(|old| is_same_place(old, new));
            is_free && score(old, new).is_some_and(|score| score > own_score)
        });
        (!is_taken).then_some((own_score, old))
    });
    let (_, (file, function)) = best.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    let of_file = olds.iter().filter(|(other, _)| other == file);
    let all = of_file.map(|(_, function)| function);
    Some(Place::of(file, function, all))
}

/// The Rust sources that differ between two commits, as they are called in each; empty where there is none.
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

/// Whether a text has a word.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::scratch::Repository;

    impl Repository {
        fn introduced(&self, file: &str, test: &str) -> Option<String> {
            lineage(&self.git, "HEAD", file, test).unwrap().introduced
        }
    }

    const SORTS: &str = "assert_eq!(sorted(&[1, 2, 3, 2, 1]), [1, 1, 2, 2, 3]);";

    fn test(name: &str, body: &str) -> String {
        format!("#[test]\nfn {name}() {{\n    {body}\n}}\n\n")
    }

    #[test]
    fn what_is_copied_comes_from_nowhere_and_what_is_moved_from_where_it_is_gone() {
        let of = Repository::new();
        let first = of.commit(&[("a.rs", test("case", SORTS))]);
        let second = of.commit(&[("b.rs", test("case", SORTS))]);
        let third = of.commit(&[("c.rs", test("other_case", SORTS))]);
        assert_eq!(of.introduced("a.rs", "case"), Some(first.clone()));
        assert_eq!(of.introduced("b.rs", "case"), Some(second));
        assert_eq!(of.introduced("c.rs", "other_case"), Some(third));
        of.commit(&[
            ("a.rs", "mod d;".to_owned()),
            ("d.rs", test("renamed_case", SORTS)),
        ]);
        let found = lineage(&of.git, "HEAD", "d.rs", "d::renamed_case").unwrap();
        assert_eq!(found.introduced, Some(first));
        assert_eq!(found.names, ["renamed_case", "case"]);
    }

    #[test]
    fn of_a_file_that_is_renamed_and_copied_at_once_the_copy_is_new() {
        let of = Repository::new();
        let both = |more: &str| test("case", SORTS) + &test("other", "f(1); g(2);") + more;
        let first = of.commit(&[("src/a.rs", both(""))]);
        let second = of.commit(&[
            ("src/a.rs", String::new()),
            ("src/b/a.rs", both("")),
            ("src/c/a.rs", both("// A copy.\n")),
        ]);
        assert_eq!(of.introduced("src/b/a.rs", "b::a::case"), Some(first));
        assert_eq!(of.introduced("src/c/a.rs", "c::a::case"), Some(second));
    }

    #[test]
    fn a_test_in_the_place_of_another_is_new_and_one_whose_lines_all_change_is_not() {
        let of = Repository::new();
        let old = "let input = encode(\"first\"); check_empty(&input); check_full(&input);";
        let new = "let mut map = new_map(); map.insert(\"second\", 2); check_empty(&map); check_full(&map);";
        let first = of.commit(&[("a.rs", test("encodes_text", old) + &test("stays", SORTS))]);
        // The lines are where those of the other one were.
        let second = of.commit(&[("a.rs", test("encodes_map", new) + &test("stays", SORTS))]);
        assert_eq!(of.introduced("a.rs", "encodes_map"), Some(second.clone()));
        // Every line is another one now, and the order, too.
        of.commit(&[("a.rs", test("stays", old) + &test("encodes_map", SORTS))]);
        assert_eq!(of.introduced("a.rs", "encodes_map"), Some(second));
        assert_eq!(of.introduced("a.rs", "stays"), Some(first));
    }

    #[test]
    fn tests_that_are_alike_are_told_apart_and_names_that_are_exchanged_are_followed() {
        let of = Repository::new();
        let case = |n: u32| {
            format!(
                "let found = parse(\"{n}\").unwrap(); assert_eq!(found, {n}); assert!(found.is_valid());"
            )
        };
        let first = of.commit(&[("a.rs", test("one", &case(1)) + &test("two", &case(2)))]);
        // `one` is called `uno`; `three` is new, though it is like it.
        let text = test("uno", &case(1)) + &test("two", &case(2)) + &test("three", &case(3));
        let second = of.commit(&[("a.rs", text)]);
        assert_eq!(of.introduced("a.rs", "uno"), Some(first.clone()));
        assert_eq!(of.introduced("a.rs", "three"), Some(second));
        // The same name in two modules.
        let modules = |first: &str, second: &str| {
            format!(
                "mod a {{\n{}}}\nmod b {{\n{second}}}\n",
                test("case", first)
            )
        };
        let third = of.commit(&[("b.rs", modules(SORTS, ""))]);
        let fourth = of.commit(&[("b.rs", modules(SORTS, &test("case", &case(4))))]);
        assert_eq!(of.introduced("b.rs", "b::a::case"), Some(third));
        assert_eq!(of.introduced("b.rs", "b::b::case"), Some(fourth));
    }

    #[test]
    fn a_test_is_as_old_as_its_first_time_however_it_moved_or_was_away() {
        let of = Repository::new();
        let inside = |module: &str| format!("mod {module} {{\n{}}}\n", test("case", SORTS));
        let first = of.commit(&[("src/a.rs", inside("tests"))]);
        of.commit(&[("src/a.rs", inside("unit"))]);
        of.commit(&[
            ("src/a.rs", String::new()),
            ("src/a/mod.rs", inside("unit")),
        ]);
        // It cannot be parsed for a while.
        of.commit(&[("src/a/mod.rs", inside("unit") + "fn {")]);
        of.commit(&[("src/a/mod.rs", inside("unit"))]);
        of.commit(&[
            ("src/a/mod.rs", "mod tests;\n".to_owned()),
            ("src/a/tests.rs", test("case", SORTS)),
        ]);
        of.commit(&[("src/a/tests.rs", "// Nothing.\n".to_owned())]);
        of.commit(&[("src/a/tests.rs", test("case", SORTS) + "// Again.\n")]);
        let head = of.head();
        let found = lineage(&of.git, &head, "src/a/tests.rs", "a::tests::case").unwrap();
        assert_eq!(found.introduced, Some(first));
        assert_eq!(found.files, ["src/a/tests.rs", "src/a/mod.rs", "src/a.rs"]);
        // Another one with the same name is no return.
        of.commit(&[("src/a/tests.rs", "// Nothing.\n".to_owned())]);
        let other = of.commit(&[(
            "src/a/tests.rs",
            test("case", "for name in names() { println!(\"{name}\") }"),
        )]);
        assert_eq!(
            of.introduced("src/a/tests.rs", "a::tests::case"),
            Some(other)
        );
    }

    #[test]
    fn a_test_on_a_branch_is_as_old_as_on_the_branch_and_one_of_a_macro_as_its_name() {
        let of = Repository::new();
        of.commit(&[("a.rs", test("stays", SORTS))]);
        of.run(&["checkout", "--quiet", "-b", "side"]);
        let first = of.commit(&[("a.rs", test("stays", SORTS) + &test("case", "f(1); g(2);"))]);
        of.commit(&[("b.rs", "cases! { one: 1 }\n".to_owned())]);
        of.run(&["checkout", "--quiet", "main"]);
        of.commit(&[("a.rs", format!("// First.\n{}", test("stays", SORTS)))]);
        of.run(&["merge", "--quiet", "--no-ff", "--message", "m", "side"]);
        assert_eq!(of.introduced("a.rs", "case"), Some(first));
        let second = of.commit(&[("b.rs", "cases! { one: 1, two: 2 }\n".to_owned())]);
        of.commit(&[("b.rs", "cases! { one: 1, two: 3 }\n".to_owned())]);
        assert_eq!(of.introduced("b.rs", "b::two"), Some(second));
        assert_eq!(of.introduced("b.rs", "b::three"), None);
        assert_eq!(of.introduced("nowhere.rs", "case"), None);
        // A case of a parametrised test is its function.
        let third = of.commit(&[("c.rs", test("many", "f(2); g(3);"))]);
        assert_eq!(of.introduced("c.rs", "c::many::case_1"), Some(third));
    }
}
