//! Short identifiers of failing runs.

use std::hash::Hasher;

use nondex_core::hash::FixedHasher;
use nondex_core::{ALGORITHM, Network, RunSpec, json};

/// Number of characters of an id. They have 40 bits, so the probability that two among a thousand
/// findings collide is below one in a million.
pub const LENGTH: usize = 8;

/// The digits: Crockford's base 32, in which no two characters look alike.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Returns the id of a run.
///
/// The id is a hash of everything that determines the run: the test's id, the tests before or
/// during it, and the version of the algorithm. It also covers level, seed, schedule, choices,
/// models, files, network mode and the thread scheduler. It is the same on every machine and in
/// each repetition of the run.
pub fn of(test_id: &str, spec: &RunSpec) -> String {
    let mut hasher = FixedHasher::default();
    let mut feed = |text: &str| {
        hasher.write_usize(text.len());
        hasher.write(text.as_bytes());
    };
    feed(test_id);
    feed(spec.level().name());
    feed(spec.selection().map(json::to_string).as_deref().unwrap_or(r#""none""#));
    for test in spec.before() {
        feed(test);
    }
    if let Some(tests) = spec.interleaving() {
        feed(&format!("at {}", tests.interrupt_at));
        if tests.is_inner {
            feed("within");
        }
        if let Some(until) = tests.pause_at {
            feed(&format!("until {until}"));
        }
    }
    for given in spec.given() {
        feed(&json::to_string(given));
    }
    for model in &spec.models_off {
        feed(model);
    }
    if !spec.files.are_all() {
        feed(&json::to_string(&spec.files));
    }
    if let Network::Block(allowed) | Network::Fault(allowed) = &spec.network {
        feed(spec.network.mode().name());
        allowed.iter().for_each(|host| feed(host));
    }
    if !spec.schedule().is_default() {
        feed(spec.schedule().name());
    }
    if let Some(test) = spec.scheduled() {
        feed("scheduled");
        feed(&test.max_steps.to_string());
    }
    hasher.write_u64(spec.seed());
    hasher.write_u32(ALGORITHM);
    let hash = hasher.finish();
    let digit = |index: usize| DIGITS[(hash >> (59 - 5 * index)) as usize & 31];
    (0..LENGTH).map(|index| char::from(digit(index))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use nondex_core::{Family, Level, Schedule, Selection, Site};

    use super::*;

    #[test]
    fn an_id_is_pinned_because_people_paste_it_from_old_logs() {
        assert_eq!(of("a$b", &RunSpec::clean("b")), "xfpm0mxn");
        assert_eq!(of("a$b", &RunSpec::new("b", Level::One, 7)), "casdh0p6");
    }

    #[test]
    fn whatever_decides_a_run_changes_its_id_and_nothing_else_does() {
        let spec = RunSpec::new("b", Level::One, 7);
        let site =
            Site { api: "x".into(), family: Family::HashMap, file: "f".into(), line: 1, column: 1 };
        let others = [
            RunSpec::clean("b"),
            RunSpec::new("b", Level::Eq, 7),
            RunSpec::new("b", Level::One, 8),
            spec.clone().with_selection(Selection::only([site.clone()])),
            spec.clone().with_selection(Selection::except([site.clone()])),
            RunSpec { models_off: vec!["hash_map/x".into()], ..spec.clone() },
            RunSpec { network: Network::Block(Vec::new()), ..spec.clone() },
            spec.clone().with_schedule(Schedule::Random),
            spec.clone().with_scheduler(0),
            spec.clone().with_scheduler(7),
        ];
        let mut ids: BTreeSet<String> = others.iter().map(|other| of("a$b", other)).collect();
        ids.extend([of("a$b", &spec), of("a2$b", &spec)]);
        assert_eq!(ids.len(), others.len() + 2);
        let observed = RunSpec { record: Some("/x".into()), trace: vec![site], ..spec.clone() };
        assert_eq!(of("a$b", &observed), of("a$b", &spec));
        let clean = RunSpec::clean("b").with_schedule(Schedule::Random);
        assert_eq!(of("a$b", &clean), of("a$b", &RunSpec::clean("b")));
    }

    #[test]
    fn a_hundred_thousand_runs_have_as_many_ids() {
        let ids: BTreeSet<String> =
            (0..100_000).map(|seed| of("a$b", &RunSpec::new("b", Level::Std, seed))).collect();
        assert_eq!(ids.len(), 100_000);
        assert!(ids.iter().all(|id| id.len() == LENGTH));
    }
}
