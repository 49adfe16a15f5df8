//! Without the feature, everything in this crate *is* std.

use std::any::{TypeId, type_name};

/// Asserts that a path in `nondex_collections` names the same type as the same path in `std`.
macro_rules! assert_same {
    ($($path:tt)+) => {
        assert_eq!(
            TypeId::of::<nondex_collections::$($path)+>(),
            TypeId::of::<std::$($path)+>(),
            "{}",
            type_name::<std::$($path)+>(),
        )
    };
}

#[test]
fn the_hash_collections_are_stds() {
    assert_same!(collections::HashMap<u8, String>);
    assert_same!(collections::HashSet<u8>);
    assert_same!(collections::BTreeMap<u8, u8>);
    assert_same!(collections::TryReserveError);
    assert_same!(collections::hash_map::DefaultHasher);
    assert_same!(collections::hash_map::HashMap<u8, u8,
        std::hash::BuildHasherDefault<std::hash::DefaultHasher>>);
    assert_same!(collections::hash_map::RandomState);
    assert_same!(collections::hash_set::HashSet<u8>);
    assert_same!(hash::RandomState);
}

#[test]
fn their_iterators_and_entries_are_stds() {
    type Pick = fn(&u8, &mut u8) -> bool;
    type PickKey = fn(&u8) -> bool;
    assert_same!(collections::hash_map::Drain<'static, u8, u8>);
    assert_same!(collections::hash_map::Entry<'static, u8, u8>);
    assert_same!(collections::hash_map::ExtractIf<'static, u8, u8, Pick>);
    assert_same!(collections::hash_map::IntoIter<u8, u8>);
    assert_same!(collections::hash_map::IntoKeys<u8, u8>);
    assert_same!(collections::hash_map::IntoValues<u8, u8>);
    assert_same!(collections::hash_map::Iter<'static, u8, u8>);
    assert_same!(collections::hash_map::IterMut<'static, u8, u8>);
    assert_same!(collections::hash_map::Keys<'static, u8, u8>);
    assert_same!(collections::hash_map::OccupiedEntry<'static, u8, u8>);
    assert_same!(collections::hash_map::VacantEntry<'static, u8, u8>);
    assert_same!(collections::hash_map::Values<'static, u8, u8>);
    assert_same!(collections::hash_map::ValuesMut<'static, u8, u8>);
    assert_same!(collections::hash_set::Difference<'static, u8, std::hash::RandomState>);
    assert_same!(collections::hash_set::Drain<'static, u8>);
    assert_same!(collections::hash_set::ExtractIf<'static, u8, PickKey>);
    assert_same!(collections::hash_set::Intersection<'static, u8, std::hash::RandomState>);
    assert_same!(collections::hash_set::IntoIter<u8>);
    assert_same!(collections::hash_set::Iter<'static, u8>);
    assert_same!(collections::hash_set::SymmetricDifference<'static, u8, std::hash::RandomState>);
    assert_same!(collections::hash_set::Union<'static, u8, std::hash::RandomState>);
}

#[test]
fn directories_environment_sockets_and_threads_are_stds() {
    assert_same!(env::Vars);
    assert_same!(env::VarsOs);
    assert_same!(fs::DirEntry);
    assert_same!(fs::ReadDir);
    assert_same!(net::Incoming<'static>);
    assert_same!(net::TcpListener);
    assert_same!(net::TcpStream);
    assert_same!(net::UdpSocket);
    assert_same!(thread::Builder);
    assert_same!(thread::JoinHandle<u8>);
    assert_same!(thread::Scope<'static, 'static>);
    assert_same!(thread::ScopedJoinHandle<'static, u8>);
    assert_same!(thread::ThreadId);
}

#[test]
fn functions_are_stds_by_their_types() {
    /// Compiles only if both arguments have one type.
    fn same<T>(_: T, _: T) {}
    same(nondex_collections::env::vars as fn() -> _, std::env::vars);
    same(
        nondex_collections::env::vars_os as fn() -> _,
        std::env::vars_os,
    );
    same(
        nondex_collections::fs::read_dir::<&str> as fn(_) -> _,
        std::fs::read_dir,
    );
    same(
        nondex_collections::thread::spawn::<fn(), ()> as fn(_) -> _,
        std::thread::spawn,
    );
}

#[test]
fn what_a_project_leaves_open_has_its_canonical_result() {
    assert_eq!([0, 1, 5].map(nondex_collections::choose), [0; 3]);
    let mut items = [3, 1, 2];
    nondex_collections::permute(&mut items);
    assert_eq!(items, [3, 1, 2]);
}
