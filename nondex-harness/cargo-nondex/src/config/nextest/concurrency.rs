//! Reads test groups and `threads-required`, which limit how many tests run concurrently.

use std::num::NonZeroUsize;
use std::sync::Arc;

use toml::{Table, Value};

use super::table;
use crate::cli::processors;
use crate::judge::TestGroup;

/// Returns the test group of this name, `[test-groups] NAME = { max-threads = N }`.
pub(super) fn group(document: &Table, name: &Value) -> Option<Arc<TestGroup>> {
    let name = name.as_str()?;
    let max_threads = match name {
        TestGroup::GLOBAL => NonZeroUsize::MAX,
        name => {
            let groups = table(document.get("test-groups"));
            threads(groups?.get(name)?.get("max-threads")?)?
        }
    };
    Some(Arc::new(TestGroup { name: name.to_owned(), max_threads }))
}

/// Parses a number of threads, in the command line's format, or one of nextest's two names.
pub(super) fn threads(value: &Value) -> Option<NonZeroUsize> {
    match value {
        Value::String(text) => match text.as_str() {
            "num-cpus" => processors(text).ok(),
            "num-test-threads" => Some(NonZeroUsize::MAX),
            _ => None,
        },
        Value::Integer(number) => processors(&number.to_string()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::thread::available_parallelism;

    use super::*;

    #[test]
    fn a_number_of_threads_is_positive_or_counts_from_the_processors_or_has_a_name() {
        let processors = available_parallelism().unwrap();
        let number = |number| threads(&Value::Integer(number));
        assert_eq!(number(3), NonZeroUsize::new(3));
        assert_eq!(number(0), None);
        assert_eq!(number(-100_000), Some(NonZeroUsize::MIN));
        let named = |name: &str| threads(&Value::String(name.to_owned()));
        assert_eq!(named("num-cpus"), Some(processors));
        assert_eq!(named("num-test-threads"), Some(NonZeroUsize::MAX));
        assert_eq!(named("many"), None);
    }

    #[test]
    fn a_group_is_one_of_the_file_or_the_global_one_without_a_limit() {
        let document: Table = "test-groups.port = { max-threads = 2 }".parse().unwrap();
        let limit = |name: &str| {
            let found = group(&document, &Value::String(name.to_owned()));
            found.map(|group| group.max_threads)
        };
        assert_eq!(limit("port"), NonZeroUsize::new(2));
        assert_eq!(limit(TestGroup::GLOBAL), Some(NonZeroUsize::MAX));
        assert_eq!(limit("prot"), None);
    }
}
