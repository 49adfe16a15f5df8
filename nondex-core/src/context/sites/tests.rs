//! Tests of the records of sites.

use super::*;
use crate::catalogue::model::{HASH_MAP_ITER, HASH_MAP_KEYS};
use crate::protocol::spec::RunSpec;

#[test]
fn a_remembered_place_leads_to_the_site_that_is_found_for_its_caller() {
    let context = Context::new(RunSpec::new("test", Level::Full, 1));
    let mut sites = Sites::new();
    // More places than the cache holds, all on one line, because each copy of generic code has a
    // separate place.
    let places: &'static [Location<'static>] = vec![*Location::caller(); 40].leak();
    let calls = [
        (&HASH_MAP_ITER, Family::HashMap),
        (&HASH_MAP_ITER, Family::FixedHasher),
        (&HASH_MAP_KEYS, Family::HashMap),
    ];
    let mut recalled = 0;
    for round in 0..200_usize {
        let place = &places[round * 7 % 40 % (round % 40 + 1)];
        let (model, family) = calls[round % 5 % 3];
        let caller = Caller::from(place);
        let found = sites.find(model, family, caller);
        if let Some(at) = sites.recall(model, family, place) {
            assert_eq!(Some(at), found);
            recalled += 1;
        }
        let at = found.unwrap_or_else(|| {
            sites.add(SiteState::begin(&context, "0", 5, (model, family, caller)))
        });
        sites.remember(place, at);
        assert_eq!(sites.recall(model, family, place), Some(at));
    }
    assert!((1..200).contains(&recalled), "{recalled}");
    let count = sites.take().len();
    assert!(places.iter().all(|place| sites.recall(calls[0].0, calls[0].1, place).is_none()));
    assert_eq!(count, calls.len(), "all places are of one line");
}
