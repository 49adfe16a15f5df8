//! Intended differences of the mirror from std, with their reasons.

/// Line of a page that only one side has, or that differs.
#[derive(Debug)]
pub(crate) struct Difference {
    /// Page, as [`Api`](crate::api::Api) names it.
    pub(crate) page: &'static str,
    /// Line of std. `None` if std has none, empty for the page itself.
    pub(crate) std: Option<&'static str>,
    /// Line of the mirror, with the same meaning.
    pub(crate) mirror: Option<&'static str>,
    /// Reason why this is right.
    pub(crate) reason: &'static str,
}

const OWNING: &str = "std's iterator holds raw pointers to its table, ours owns its entries: it \
    is unwind safe for more types";

/// All intended differences. One that no longer exists fails the test too.
pub(crate) const DIFFERENCES: &[Difference] = &[
    Difference {
        page: "collections/enum.Bound",
        std: None,
        mirror: Some(""),
        reason: "std has this old path too, but hides it in its documentation",
    },
    Difference {
        page: "collections/hash_map/struct.HashMap",
        std: Some("impl !UnwindSafe for HashMap<K, V, S> for K, V, S = RandomState"),
        mirror: None,
        reason: "rustdoc looks for an implementation with an allocator and sees none; std has the \
            one without, as we have",
    },
    Difference {
        page: "collections/hash_map/struct.IntoIter",
        std: Some(
            "impl UnwindSafe for IntoIter<K, V> for K, V where K: RefUnwindSafe, K: UnwindSafe, \
             V: RefUnwindSafe, V: UnwindSafe",
        ),
        mirror: Some(
            "impl UnwindSafe for IntoIter<K, V> for K, V where K: UnwindSafe, V: UnwindSafe",
        ),
        reason: OWNING,
    },
    Difference {
        page: "collections/hash_map/struct.IntoKeys",
        std: Some(
            "impl UnwindSafe for IntoKeys<K, V> for K, V where K: RefUnwindSafe, K: UnwindSafe, \
             V: RefUnwindSafe, V: UnwindSafe",
        ),
        mirror: Some(
            "impl UnwindSafe for IntoKeys<K, V> for K, V where K: UnwindSafe, V: UnwindSafe",
        ),
        reason: OWNING,
    },
    Difference {
        page: "collections/hash_map/struct.IntoValues",
        std: Some(
            "impl UnwindSafe for IntoValues<K, V> for K, V where K: RefUnwindSafe, K: UnwindSafe, \
             V: RefUnwindSafe, V: UnwindSafe",
        ),
        mirror: Some(
            "impl UnwindSafe for IntoValues<K, V> for K, V where K: UnwindSafe, V: UnwindSafe",
        ),
        reason: OWNING,
    },
    Difference {
        page: "collections/hash_set/struct.IntoIter",
        std: Some("impl UnwindSafe for IntoIter<K> for K where K: RefUnwindSafe, K: UnwindSafe"),
        mirror: Some("impl UnwindSafe for IntoIter<K> for K where K: UnwindSafe"),
        reason: OWNING,
    },
];
