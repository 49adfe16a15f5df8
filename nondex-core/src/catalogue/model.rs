//! Models: the std APIs whose specification leaves a choice open, and the recommended alternatives.

use std::fmt;

use crate::json;

use super::family::Family;

/// Kind of freedom that a specification leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The order of a sequence is unspecified.
    Permute,
    /// The value is unspecified.
    Random,
    /// The result may be larger or later than requested.
    Extend,
    /// The result may be shorter than requested.
    Short,
    /// It may happen without a cause.
    Spurious,
}

json::words!(Kind {
    Permute = "permute",
    Random = "random",
    Extend = "extend",
    Short = "short",
    Spurious = "spurious",
});

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A modelled API.
#[derive(Debug, PartialEq, Eq)]
pub struct Model {
    /// Path that users write, such as `std::collections::HashMap::iter`.
    pub api: &'static str,
    /// Family with which it is turned on and off.
    pub family: Family,
    /// Kind of freedom that its specification leaves.
    pub kind: Kind,
    /// What the std documentation leaves open, paraphrased.
    pub promise: &'static str,
    /// Page of the documentation, relative to `https://doc.rust-lang.org/std/`, or a complete
    /// address.
    pub link: &'static str,
    /// Recommended alternative.
    pub fix: &'static str,
}

impl Model {
    /// Returns the name that `--models` and `--skip-models` match: family, slash, API.
    pub fn name(&self, family: Family) -> String {
        format!("{family}/{}", self.api)
    }

    /// Returns the families under which this API is recorded: its own, and [`Family::FixedHasher`]
    /// for the hash collections.
    pub fn families(&self) -> &'static [Family] {
        match self.family {
            Family::HashMap => &[Family::HashMap, Family::FixedHasher],
            Family::HashSet => &[Family::HashSet, Family::FixedHasher],
            Family::FixedHasher => &[Family::FixedHasher],
            Family::Directory => &[Family::Directory],
            Family::Environment => &[Family::Environment],
            Family::HashKeys => &[Family::HashKeys],
            Family::Entropy => &[Family::Entropy],
            Family::Fault => &[Family::Fault],
            Family::Schedule => &[Family::Schedule],
            Family::Time => &[Family::Time],
            Family::OwnChoice => &[Family::OwnChoice],
            Family::OwnOrder => &[Family::OwnOrder],
        }
    }

    /// Returns whether only the elements' own code can observe the order: destructors, clones and
    /// comparisons.
    pub fn is_unseen(&self) -> bool {
        let method = self.api.rsplit("::").next();
        matches!(self.family, Family::HashMap | Family::HashSet)
            && matches!(method, Some("clear" | "clone" | "drop" | "eq"))
    }

    /// Returns the complete address of the documentation.
    pub fn url(&self) -> String {
        // APIs outside of std have a separate specification.
        if self.link.starts_with("https://") {
            return self.link.to_owned();
        }
        format!("https://doc.rust-lang.org/std/{}", self.link)
    }

    /// Returns the model of an API path.
    pub fn by_api(api: &str) -> Option<&'static Model> {
        CATALOGUE.iter().copied().find(|model| model.api == api)
    }
}

macro_rules! catalogue {
    ($($(#[$group:meta])* $family:ident $kind:ident $fix:literal { $($name:ident $api:literal
        $link:literal $promise:literal)* })*) => {
        $($(
            #[doc = concat!("`", $api, "`: ", $promise, ".")]
            pub static $name: Model = Model {
                api: $api,
                family: Family::$family,
                kind: Kind::$kind,
                promise: $promise,
                link: $link,
                fix: $fix,
            };
        )*)*
        /// Every model, in the order of the documentation.
        pub static CATALOGUE: &[&Model] = &[$($(&$name,)*)*];
    };
}

catalogue! {
    HashMap Permute "sort the collected elements, compare as maps, or use BTreeMap or IndexMap" {
        HASH_MAP_ITER "std::collections::HashMap::iter"
            "collections/struct.HashMap.html#method.iter"
            "visits the pairs in arbitrary order"
        HASH_MAP_ITER_MUT "std::collections::HashMap::iter_mut"
            "collections/struct.HashMap.html#method.iter_mut"
            "visits the pairs in arbitrary order"
        HASH_MAP_KEYS "std::collections::HashMap::keys"
            "collections/struct.HashMap.html#method.keys"
            "visits the keys in arbitrary order"
        HASH_MAP_VALUES "std::collections::HashMap::values"
            "collections/struct.HashMap.html#method.values"
            "visits the values in arbitrary order"
        HASH_MAP_VALUES_MUT "std::collections::HashMap::values_mut"
            "collections/struct.HashMap.html#method.values_mut"
            "visits the values in arbitrary order"
        HASH_MAP_INTO_ITER "std::collections::HashMap::into_iter"
            "collections/struct.HashMap.html#impl-IntoIterator-for-HashMap%3CK,+V,+S,+A%3E"
            "moves the pairs out in arbitrary order"
        HASH_MAP_INTO_KEYS "std::collections::HashMap::into_keys"
            "collections/struct.HashMap.html#method.into_keys"
            "visits the keys in arbitrary order"
        HASH_MAP_INTO_VALUES "std::collections::HashMap::into_values"
            "collections/struct.HashMap.html#method.into_values"
            "visits the values in arbitrary order"
        HASH_MAP_DRAIN "std::collections::HashMap::drain"
            "collections/struct.HashMap.html#method.drain"
            "returns the pairs in an unspecified order"
        HASH_MAP_RETAIN "std::collections::HashMap::retain"
            "collections/struct.HashMap.html#method.retain"
            "visits the elements in unsorted, unspecified order"
        HASH_MAP_EXTRACT_IF "std::collections::HashMap::extract_if"
            "collections/struct.HashMap.html#method.extract_if"
            "visits the elements in an unspecified order"
        HASH_MAP_DEBUG "std::collections::HashMap::fmt"
            "collections/struct.HashMap.html#impl-Debug-for-HashMap%3CK,+V,+S,+A%3E"
            "prints the pairs in the order of iteration, which is arbitrary"
        HASH_MAP_CLEAR "std::collections::HashMap::clear"
            "collections/struct.HashMap.html#method.clear"
            "removes all pairs, and drops them in an unspecified order"
        HASH_MAP_CLONE "std::collections::HashMap::clone"
            "collections/struct.HashMap.html#impl-Clone-for-HashMap%3CK,+V,+S,+A%3E"
            "clones the pairs in an unspecified order"
        HASH_MAP_DROP "std::collections::HashMap::drop" "collections/struct.HashMap.html"
            "is dropped with all its pairs, in an unspecified order"
        HASH_MAP_EQ "std::collections::HashMap::eq"
            "collections/struct.HashMap.html#impl-PartialEq-for-HashMap%3CK,+V,+S,+A%3E"
            "compares the pairs in an unspecified order, up to the first that differs"
    }
    HashSet Permute "sort the collected elements, compare as sets, or use BTreeSet or IndexSet" {
        HASH_SET_ITER "std::collections::HashSet::iter"
            "collections/struct.HashSet.html#method.iter"
            "visits the elements in arbitrary order"
        HASH_SET_INTO_ITER "std::collections::HashSet::into_iter"
            "collections/struct.HashSet.html#impl-IntoIterator-for-HashSet%3CT,+S,+A%3E"
            "moves the elements out in arbitrary order"
        HASH_SET_DRAIN "std::collections::HashSet::drain"
            "collections/struct.HashSet.html#method.drain"
            "returns the elements in an unspecified order"
        HASH_SET_RETAIN "std::collections::HashSet::retain"
            "collections/struct.HashSet.html#method.retain"
            "visits the elements in unsorted, unspecified order"
        HASH_SET_EXTRACT_IF "std::collections::HashSet::extract_if"
            "collections/struct.HashSet.html#method.extract_if"
            "visits the elements in an unspecified order"
        HASH_SET_DEBUG "std::collections::HashSet::fmt"
            "collections/struct.HashSet.html#impl-Debug-for-HashSet%3CT,+S,+A%3E"
            "prints the elements in the order of iteration, which is arbitrary"
        HASH_SET_CLEAR "std::collections::HashSet::clear"
            "collections/struct.HashSet.html#method.clear"
            "removes all elements, and drops them in an unspecified order"
        HASH_SET_CLONE "std::collections::HashSet::clone"
            "collections/struct.HashSet.html#impl-Clone-for-HashSet%3CT,+S,+A%3E"
            "clones the elements in an unspecified order"
        HASH_SET_DROP "std::collections::HashSet::drop" "collections/struct.HashSet.html"
            "is dropped with all its elements, in an unspecified order"
        HASH_SET_EQ "std::collections::HashSet::eq"
            "collections/struct.HashSet.html#impl-PartialEq-for-HashSet%3CT,+S,+A%3E"
            "looks the elements up in an unspecified order, up to the first that is missing"
        HASH_SET_UNION "std::collections::HashSet::union"
            "collections/struct.HashSet.html#method.union"
            "visits the elements in arbitrary order"
        HASH_SET_INTERSECTION "std::collections::HashSet::intersection"
            "collections/struct.HashSet.html#method.intersection"
            "visits the elements in arbitrary order"
        HASH_SET_DIFFERENCE "std::collections::HashSet::difference"
            "collections/struct.HashSet.html#method.difference"
            "visits the elements in arbitrary order"
        HASH_SET_SYMMETRIC_DIFFERENCE "std::collections::HashSet::symmetric_difference"
            "collections/struct.HashSet.html#method.symmetric_difference"
            "visits the elements in arbitrary order"
    }
    Directory Permute "collect the entries and sort them by file name" {
        FS_READ_DIR "std::fs::read_dir" "fs/fn.read_dir.html"
            "lists the entries in an order that depends on platform and filesystem, and may \
             change between calls"
        PATH_READ_DIR "std::path::Path::read_dir" "path/struct.Path.html#method.read_dir"
            "lists the entries in an order that depends on platform and filesystem, and may \
             change between calls"
    }
    Environment Permute "collect the variables and sort them by name" {
        ENV_VARS "std::env::vars" "env/fn.vars.html"
            "iterates over a snapshot of the variables in an unspecified order"
        ENV_VARS_OS "std::env::vars_os" "env/fn.vars_os.html"
            "iterates over a snapshot of the variables in an unspecified order"
    }
    HashKeys Random "assert what holds for every hash, or hash with a `BuildHasher` of your own, \
        such as `BuildHasherDefault<DefaultHasher>`" {
        RANDOM_STATE_NEW "std::hash::RandomState::new" "hash/struct.RandomState.html#method.new"
            "is initialised with random keys: two states are unlikely to hash alike"
    }
    Entropy Random "seed the generator in the test, or assert what holds for every value" {
        GETRANDOM "getrandom" "https://man7.org/linux/man-pages/man2/getrandom.2.html"
            "returns random bytes"
        CLOCK_GETTIME "clock_gettime" "https://man7.org/linux/man-pages/man2/clock_gettime.2.html"
            "returns the time since an unspecified start: a value computed from one reading is \
             random"
    }

    /// Operations on other machines, in runs with `--network fault` only.
    Fault Spurious "return the error, or try again; do not assume that another machine answers" {
        NETWORK_CONNECT "connect" "net/struct.TcpStream.html#method.connect"
            "opens a connection to another machine, or returns an error"
        NETWORK_RESOLVE "getaddrinfo" "net/trait.ToSocketAddrs.html#tymethod.to_socket_addrs"
            "resolves the name of another machine, or returns an error"
        NETWORK_SEND "sendto" "net/struct.UdpSocket.html#method.send_to"
            "sends to another machine, or returns an error"
    }

    /// Threads, in runs that schedule them.
    Schedule Extend "hold the lock over operations that belong together, and join or wait for a \
                     message instead of assuming how far a thread is" {
        THREAD_SPAWN "std::thread::spawn" "thread/index.html#the-threading-model"
            "starts a thread that the operating system schedules, and may preempt anywhere"
    }
    Schedule Permute "do not assume which waiting thread is woken: use `notify_all`, or a \
        condition for each" {
        CONDVAR_NOTIFY_ONE "std::sync::Condvar::notify_one"
            "sync/struct.Condvar.html#method.notify_one"
            "wakes one blocked thread, and does not specify which"
    }
    Schedule Spurious "check the condition again in a loop after waking: `while` instead of `if`, \
        or `wait_while`" {
        CONDVAR_WAIT "std::sync::Condvar::wait" "sync/struct.Condvar.html#method.wait"
            "may wake without a notification"
        THREAD_PARK "std::thread::park" "thread/fn.park.html"
            "may return without a token"
    }

    /// Time, in runs that schedule threads.
    Time Extend "wait for the event, with a deadline instead of a margin; use a paused clock to \
                 test time" {
        THREAD_SLEEP "std::thread::sleep" "thread/fn.sleep.html"
            "sleeps at least as long as requested, and may sleep longer"
        CONDVAR_WAIT_TIMEOUT "std::sync::Condvar::wait_timeout"
            "sync/struct.Condvar.html#method.wait_timeout"
            "waits for about as long as requested, and may return later"
    }
    Time Extend "assert no upper bound on elapsed time, or a generous one, and inject a clock that \
                 the test sets" {
        INSTANT_ELAPSED "std::time::Instant::elapsed" "time/struct.Instant.html"
            "returns the time since another reading, which may be any length, however little was \
             done"
        SYSTEM_TIME_ELAPSED "std::time::SystemTime::elapsed"
            "time/struct.SystemTime.html#method.elapsed"
            "returns the time since another reading, which may be any length, however little was \
             done"
        GETTIMEOFDAY "gettimeofday" "time/struct.SystemTime.html"
            "reads a clock any length of time after another reading, however little was done"
        TIME "time" "time/struct.SystemTime.html"
            "reads a clock any length of time after another reading, however little was done"
    }
    Time Random "allow an elapsed time of zero: use `saturating_duration_since`, `>=` instead of \
                 `>`, and a counter where values must differ" {
        INSTANT_NOW "std::time::Instant::now" "time/struct.Instant.html"
            "reads a clock that never goes back, and may not have ticked since the last reading"
    }
    Time Random "measure with `Instant`, handle the error of `duration_since` and `elapsed`, and \
                 use a counter where values must differ" {
        SYSTEM_TIME_NOW "std::time::SystemTime::now" "time/struct.SystemTime.html"
            "reads a clock that is not monotonic: a later reading may show the same time, or an \
             earlier one"
    }
    Time Random "compare contents, or set the times that must differ with `File::set_modified`; \
                 treat a file with the same time as changed" {
        METADATA_MODIFIED "std::fs::Metadata::modified"
            "time/struct.SystemTime.html#platform-specific-behavior"
            "returns when a file was written, at the resolution of the file system: a later write \
             may have the same time"
    }

    /// Unspecified results of the project's own code.
    OwnChoice Random "handle every possible result of this choice, or specify one where it is \
                      made" {
        CHOOSE "nondex_collections::choose"
            "https://github.com/cargo-nondex/cargo-nondex/blob/main/docs/src/own-choices.md"
            "returns any number below its limit: the calling code specifies none"
    }
    OwnOrder Permute "sort the permuted elements, compare them without their order, or specify an \
                      order where they are permuted" {
        PERMUTE "nondex_collections::permute"
            "https://github.com/cargo-nondex/cargo-nondex/blob/main/docs/src/own-choices.md"
            "leaves the elements in any order: the calling code specifies none"
    }
}

/// APIs that read a clock again and may each be late.
pub static READ_AGAIN: [&Model; 4] = [&INSTANT_ELAPSED, &SYSTEM_TIME_ELAPSED, &GETTIMEOFDAY, &TIME];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_collection_does_without_showing_its_elements_is_unseen() {
        let unseen: Vec<_> =
            CATALOGUE.iter().filter(|model| model.is_unseen()).map(|model| model.api).collect();
        let of = |name: &str| {
            ["clear", "clone", "drop", "eq"].map(|act| format!("std::collections::{name}::{act}"))
        };
        assert_eq!(unseen, [of("HashMap"), of("HashSet")].concat());
    }

    #[test]
    fn every_api_is_listed_once_and_can_be_found_again() {
        for model in CATALOGUE {
            assert_eq!(
                CATALOGUE.iter().filter(|other| other.api == model.api).count(),
                1,
                "{}",
                model.api
            );
            assert_eq!(Model::by_api(model.api), Some(*model));
            assert!(model.families().contains(&model.family));
        }
    }
}
