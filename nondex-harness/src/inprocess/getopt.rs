//! Command line options as the `getopts` crate, which libtest uses, reads them: same order of checks, same messages.

/// One option.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opt {
    /// What it is called in the table, without dashes: the long name, or the letter if it has only that.
    pub(crate) name: &'static str,
    /// A letter that means the same.
    pub(crate) letter: Option<char>,
    /// What follows it.
    pub(crate) arity: Arity,
}

/// What follows an option, and how often it may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    /// Nothing; once.
    Flag,
    /// A value; once.
    Value,
    /// A value; any number of times.
    Values,
}

impl Opt {
    fn is_called(&self, name: &str) -> bool {
        let mut characters = name.chars();
        self.name == name
            || self.letter.is_some()
                && self.letter == characters.next()
                && characters.as_str().is_empty()
    }
}

/// What was given.
#[derive(Debug)]
pub(crate) struct Matches {
    given: Vec<(&'static str, Option<String>)>,
    /// Everything that is no option.
    pub(crate) free: Vec<String>,
}

impl Matches {
    /// Whether the option was given.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|(given, _)| *given == name)
    }

    /// The values it was given, in order.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        self.given
            .iter()
            .filter(move |(given, _)| *given == name)
            .filter_map(|(_, value)| value.as_deref())
    }

    /// The value it was given.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values(name).next()
    }
}

/// Reads `args`, which do not include the program's name.
///
/// # Errors
/// In the words of `getopts`.
pub(crate) fn parse(options: &[Opt], args: &[String]) -> Result<Matches, String> {
    let mut matches = Matches {
        given: Vec::new(),
        free: Vec::new(),
    };
    let find = |name: &str| {
        options
            .iter()
            .find(|option| option.is_called(name))
            .ok_or_else(|| format!("Unrecognized option: '{name}'"))
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--" {
            matches.free.extend(args.by_ref().cloned());
            break;
        }
        let (name, attached) = if let Some(long) = arg.strip_prefix("--") {
            match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            }
        } else if arg.len() > 1
            && let Some(letters) = arg.strip_prefix('-')
        {
            // Letters can be joined; the first one that takes a value takes the rest.
            let mut last = None;
            for (index, letter) in letters.char_indices() {
                let rest = &letters[index..];
                let (name, rest) = rest.split_at(letter.len_utf8());
                let option = find(name)?;
                if option.arity != Arity::Flag {
                    last = Some((name, Some(rest).filter(|rest| !rest.is_empty())));
                    break;
                }
                matches.given.push((option.name, None));
            }
            let Some(last) = last else { continue };
            last
        } else {
            matches.free.push(arg.clone());
            continue;
        };
        let option = find(name)?;
        let value = match (option.arity, attached) {
            (Arity::Flag, None) => None,
            (Arity::Flag, Some(_)) => {
                return Err(format!("Option '{name}' does not take an argument"));
            }
            (_, Some(value)) => Some(value.to_owned()),
            (_, None) => {
                let value = args.next();
                let value = value.ok_or_else(|| format!("Argument to option '{name}' missing"))?;
                Some(value.clone())
            }
        };
        matches.given.push((option.name, value));
    }
    for option in options
        .iter()
        .filter(|option| option.arity != Arity::Values)
    {
        if matches
            .given
            .iter()
            .filter(|(given, _)| *given == option.name)
            .count()
            > 1
        {
            return Err(format!("Option '{}' given more than once", option.name));
        }
    }
    Ok(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: [Opt; 4] = [
        Opt {
            name: "quiet",
            letter: Some('q'),
            arity: Arity::Flag,
        },
        Opt {
            name: "format",
            letter: None,
            arity: Arity::Value,
        },
        Opt {
            name: "skip",
            letter: None,
            arity: Arity::Values,
        },
        Opt {
            name: "Z",
            letter: Some('Z'),
            arity: Arity::Value,
        },
    ];

    fn given(args: &[&str]) -> Result<(String, Vec<String>), String> {
        let args: Vec<String> = args.iter().copied().map(str::to_owned).collect();
        parse(&OPTIONS, &args).map(|matches| (format!("{:?}", matches.given), matches.free))
    }

    #[test]
    fn values_may_be_attached_or_follow_even_when_they_look_like_options() {
        for args in [&["--format=--skip"][..], &["--format", "--skip"]] {
            assert_eq!(given(args).unwrap().0, r#"[("format", Some("--skip"))]"#);
        }
        assert_eq!(
            given(&["-qZq"]).unwrap().0,
            r#"[("quiet", None), ("Z", Some("q"))]"#
        );
        assert_eq!(given(&["--skip="]).unwrap().0, r#"[("skip", Some(""))]"#);
    }

    #[test]
    fn everything_after_two_dashes_and_a_single_dash_are_free() {
        let free = given(&["a", "-", "--", "-q", "--"]).unwrap().1;
        assert_eq!(free, ["a", "-", "-q", "--"]);
    }

    #[test]
    fn errors_are_those_of_getopts() {
        for (args, message) in [
            (&["--colour"][..], "Unrecognized option: 'colour'"),
            (&["-qx"], "Unrecognized option: 'x'"),
            (&["--quiet=1"], "Option 'quiet' does not take an argument"),
            (&["--skip"], "Argument to option 'skip' missing"),
            (&["-q", "--quiet"], "Option 'quiet' given more than once"),
        ] {
            assert_eq!(given(args).unwrap_err(), message);
        }
    }
}
