//! The names of functions in a report.

/// Returns the last segments of a function's path: `AtomicUsize::load`, `Mutex::lock`, `drop
/// MutexGuard`.
pub(super) fn short(function: &str) -> String {
    let path = strip_generics(function);
    let dropped =
        ["drop_in_place::<", "drop_in_place<"].iter().find_map(|start| function.split_once(start));
    if let Some((_, generics)) = dropped {
        let of = strip_generics(generics.trim_end_matches('>'));
        return format!("drop {}", last(&of, 1));
    }
    let parts = parts(&path);
    match parts[..] {
        // Private modules of std are omitted.
        ["std" | "core" | "alloc", module, .., within, name]
            if within.starts_with(char::is_lowercase) =>
        {
            format!("{module}::{name}")
        }
        _ => last(&path, 2),
    }
}

/// Returns the last segments of a path.
fn last(path: &str, count: usize) -> String {
    let parts = parts(path);
    parts[parts.len().saturating_sub(count)..].join("::")
}

fn parts(path: &str) -> Vec<&str> {
    path.split("::").filter(|part| !part.is_empty()).collect()
}

/// Removes everything in angle brackets from a path. `<T as Trait>::method` becomes `T::method`.
fn strip_generics(path: &str) -> String {
    if let Some(inner) = path.strip_prefix('<') {
        let mut depth = 1;
        let end = inner.char_indices().find_map(|(at, c)| {
            depth += match c {
                '<' => 1,
                '>' if !inner[..at].ends_with('-') => -1,
                _ => 0,
            };
            (depth == 0).then_some(at)
        });
        if let Some(end) = end {
            let (qualified, rest) = inner.split_at(end);
            let of = qualified.split(" as ").next().unwrap_or(qualified);
            return format!("{}{}", strip_generics(of), strip_generics(&rest[1..]));
        }
    }
    let mut depth = 0;
    let mut text = String::new();
    let mut before = ' ';
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            c if depth == 0 => text.push(c),
            _ => {}
        }
        before = c;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_called_by_the_last_words_of_its_path() {
        for (function, expected) in [
            ("core::sync::atomic::AtomicUsize::load", "AtomicUsize::load"),
            ("<core::sync::atomic::AtomicUsize>::load", "AtomicUsize::load"),
            ("std::sync::poison::mutex::Mutex<T>::lock", "Mutex::lock"),
            ("<std::sync::poison::mutex::Mutex<alloc::vec::Vec<u32>>>::lock", "Mutex::lock"),
            (
                "core::ptr::drop_in_place<std::sync::poison::mutex::MutexGuard<i64>>",
                "drop MutexGuard",
            ),
            (
                "core::ptr::drop_in_place::<std::sync::poison::mutex::MutexGuard<i64>>",
                "drop MutexGuard",
            ),
            (
                "<std::sync::mpsc::IntoIter<T> as core::iter::traits::iterator::Iterator>::next",
                "IntoIter::next",
            ),
            ("std::thread::spawn", "thread::spawn"),
            ("std::thread::functions::sleep", "thread::sleep"),
            ("std::thread::spawn::<fn() -> u8, u8>", "thread::spawn"),
            ("main", "main"),
        ] {
            assert_eq!(short(function), expected, "{function}");
        }
    }
}
