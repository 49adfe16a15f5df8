//! Tests of what a thread records.

use super::*;
use crate::catalogue::model::HASH_MAP_ITER;
use crate::protocol::spec::RunSpec;

#[test]
fn the_line_of_a_first_reach_is_that_of_its_event() {
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
        assert_eq!(line.as_str(), json::to_string(&event) + "\n");
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
