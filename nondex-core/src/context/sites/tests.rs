//! Tests of what is recorded of a site.

use super::*;
use crate::catalogue::model::{HASH_MAP_ITER, HASH_MAP_KEYS};
use crate::protocol::spec::RunSpec;

#[test]
fn the_text_of_a_first_reach_is_that_of_its_event() {
    let context = Context::new(RunSpec::new("test", Level::Full, 1));
    for file in ["src/lib.rs", "/rustc/1/src/\u{e4} \"\\\n\u{1}.rs"] {
        let caller = Caller {
            file,
            line: 7,
            column: 3,
        };
        let call = (&HASH_MAP_ITER, Family::FixedHasher, caller);
        let state = SiteState::begin(&context, "0.1", 5, call);
        let line = first_reach("a \"test\"", "0.1", &state, 9).unwrap();
        let event = Event::Site {
            test: "a \"test\"".to_owned(),
            point: PointRecord {
                site: state.site(),
                thread: "0.1".to_owned(),
                count: 1,
                max_len: 9,
                stack: Vec::new(),
            },
        };
        assert_eq!(line.as_str(), json::to_string(&event));
    }
    let long = "x".repeat(3_000).leak();
    let caller = Caller {
        file: long,
        line: 7,
        column: 3,
    };
    let state = SiteState::begin(&context, "0", 5, (&HASH_MAP_ITER, Family::HashMap, caller));
    assert!(first_reach("t", "0", &state, 9).is_err());
}

#[test]
fn a_remembered_place_leads_to_the_site_that_is_found_for_its_caller() {
    let context = Context::new(RunSpec::new("test", Level::Full, 1));
    let mut sites = Sites::new();
    // More places than are remembered.
    let places: Vec<&'static Location<'static>> = (0..40).map(|_| here()).collect();
    let calls = [
        (&HASH_MAP_ITER, Family::HashMap),
        (&HASH_MAP_ITER, Family::FixedHasher),
        (&HASH_MAP_KEYS, Family::HashMap),
    ];
    let mut recalled = 0;
    for round in 0..200_usize {
        let place = places[round * 7 % 40 % (round % 40 + 1)];
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
    assert!(
        places
            .iter()
            .all(|place| sites.recall(calls[0].0, calls[0].1, place).is_none())
    );
    assert_eq!(count, calls.len(), "all places are of one line");
}

/// The same line at another place, as each copy of generic code has it.
fn here() -> &'static Location<'static> {
    Box::leak(Box::new(*Location::caller()))
}
