//! Which runs need not be made because their choices are those of a run that was made.
//!
//! A test that is deterministic but for its choices does the same in two runs up to the first choice that differs. So if two specs
//! decide alike at every choice point that a run under the first one *reached*, then a run under the second one is that very run.

use nondex_core::choice::foresee;
use nondex_core::{Family, PointRecord, RunSpec, Site};

/// Beyond this many elements two permutations are not compared: they are hardly ever the same (1 in 8!).
const MAX_LEN: u64 = 8;

/// Beyond this many calls at one site their orders are not compared.
const MAX_COUNT: u64 = 64;

/// Whether a run under `other` makes the very choices that a run under `made` made, which reached `points` and nothing
/// else. Both specs are of the same test. False when that cannot be known.
#[must_use]
pub fn decide_alike(made: &RunSpec, other: &RunSpec, points: &[PointRecord]) -> bool {
    points.iter().all(|point| alike_at(made, other, point))
}

/// Whether the seed decides at `site` in a run of `spec`.
#[must_use]
pub fn is_made(spec: &RunSpec, site: &Site) -> bool {
    spec.choices.contains(site) && site.family.varies_at(spec.level)
}

fn alike_at(a: &RunSpec, b: &RunSpec, point: &PointRecord) -> bool {
    let site = &point.site;
    match (is_made(a, site), is_made(b, site)) {
        (false, false) => return true,
        (true, true) if a.seed == b.seed && a.level == b.level => return true,
        // Random bytes depend on the seed alone, whatever the level.
        (a_made, b_made) if site.family == Family::Entropy => {
            return a_made && b_made && a.seed == b.seed;
        }
        _ => {}
    }
    if point.max_len > MAX_LEN || point.count > MAX_COUNT {
        return false;
    }
    // Which call had how many elements is not recorded: every call must agree at every length.
    let lengths = if point.count == 1 { point.max_len } else { 2 }..=point.max_len;
    (0..point.count).all(|ordinal| {
        lengths.clone().all(|len| {
            match (order(a, point, ordinal, len), order(b, point, ordinal, len)) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            }
        })
    })
}

/// The order that a run of `spec` takes at one call, when it is known without running.
fn order(spec: &RunSpec, point: &PointRecord, ordinal: u64, len: u64) -> Option<Vec<usize>> {
    let len = usize::try_from(len).ok()?;
    if is_made(spec, &point.site) {
        foresee(spec, &point.site, &point.thread, ordinal, len).map(Iterator::collect)
    } else {
        Some((0..len).collect())
    }
}

#[cfg(test)]
mod tests {
    use nondex_core::{Level, Selection};

    use super::*;

    fn point(family: Family, line: u32, count: u64, max_len: u64) -> PointRecord {
        PointRecord {
            site: Site {
                api: "std::collections::HashMap::iter".into(),
                family,
                file: "src/lib.rs".into(),
                line,
                column: 1,
            },
            thread: "0".into(),
            count,
            max_len,
            stack: Vec::new(),
        }
    }

    fn spec(level: Level, seed: u64) -> RunSpec {
        RunSpec::new("t", level, seed)
    }

    #[test]
    fn a_run_without_choice_points_is_every_run() {
        for level in Level::ALL {
            assert!(decide_alike(&RunSpec::clean("t"), &spec(level, 3), &[]));
        }
    }

    #[test]
    fn a_level_at_which_nothing_varies_is_the_clean_run() {
        let points = [point(Family::FixedHasher, 1, 9, 100)];
        let clean = RunSpec::clean("t");
        for level in Level::ALL {
            assert_eq!(
                decide_alike(&clean, &spec(level, 3), &points),
                level == Level::Std,
                "{level}"
            );
        }
    }

    #[test]
    fn random_bytes_are_the_same_at_every_level_and_differ_with_the_seed() {
        let points = [point(Family::Entropy, 1, 500, 16)];
        let made = spec(Level::Std, 3);
        for level in Level::ALL {
            assert!(decide_alike(&made, &spec(level, 3), &points));
            assert!(!decide_alike(&made, &spec(level, 4), &points));
        }
        assert!(!decide_alike(&made, &RunSpec::clean("t"), &points));
    }

    #[test]
    fn two_elements_have_two_orders_at_one_and_one_of_them_is_the_base() {
        let points = [point(Family::HashMap, 1, 500, 2)];
        let points = [PointRecord {
            count: MAX_COUNT,
            ..points[0].clone()
        }];
        let clean = RunSpec::clean("t");
        let (base, swapped): (Vec<u64>, Vec<u64>) =
            (0..20).partition(|&seed| decide_alike(&clean, &spec(Level::One, seed), &points));
        assert!(!base.is_empty() && !swapped.is_empty());
        for seeds in [&base, &swapped] {
            for pair in seeds.windows(2) {
                assert!(decide_alike(
                    &spec(Level::One, pair[0]),
                    &spec(Level::One, pair[1]),
                    &points
                ));
            }
        }
        assert!(!decide_alike(
            &spec(Level::One, base[0]),
            &spec(Level::One, swapped[0]),
            &points
        ));
    }

    #[test]
    fn a_single_read_at_full_may_be_the_order_of_one() {
        let points = [point(Family::HashMap, 1, 1, 2)];
        let orders: Vec<bool> = (0..20)
            .map(|seed| decide_alike(&spec(Level::One, 0), &spec(Level::Full, seed), &points))
            .collect();
        assert!(orders.contains(&true) && orders.contains(&false));
    }

    #[test]
    fn what_depends_on_the_object_is_never_foreseen() {
        let points = [point(Family::HashMap, 1, 1, 2)];
        for level in [Level::Std, Level::Eq, Level::Id] {
            for seed in 1..20 {
                assert!(!decide_alike(&spec(level, 0), &spec(level, seed), &points));
                assert!(!decide_alike(
                    &spec(level, 0),
                    &spec(Level::One, seed),
                    &points
                ));
            }
        }
    }

    #[test]
    fn selecting_all_sites_that_were_reached_is_selecting_all() {
        let points = [
            point(Family::HashMap, 1, 5, 100),
            point(Family::Directory, 2, 5, 100),
        ];
        let all = spec(Level::Id, 3);
        let sites: Vec<Site> = points.iter().map(|point| point.site.clone()).collect();
        let with = |choices| RunSpec {
            choices,
            ..all.clone()
        };
        assert!(decide_alike(
            &all,
            &with(Selection::Only(sites.clone())),
            &points
        ));
        assert!(!decide_alike(
            &all,
            &with(Selection::Only(sites[..1].to_vec())),
            &points
        ));
        assert!(decide_alike(
            &RunSpec::clean("t"),
            &with(Selection::Except(sites)),
            &points
        ));
    }
}
