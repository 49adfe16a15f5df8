//! Folds the network observations of all processes of a run into one record of each kind.

use super::{NetworkOutcome, NetworkRecord};
use crate::sorted::SortedMap;

/// An observation of an operation, or of a socket.
#[derive(Clone, Debug)]
pub enum Seen {
    /// State of the operation with this number at some time, and the number of its socket.
    Operation(u64, Option<u64>, NetworkRecord),
    /// Data arrived through this socket, in a process that has no operation on it.
    Received(u64),
}

/// Merges equal records, in a fixed order. Of one operation the last observation counts, unless it
/// is less informative than an earlier one. Several processes may share a socket, and only one of
/// them receives the answer.
pub fn fold(events: impl IntoIterator<Item = Seen>) -> Vec<NetworkRecord> {
    let mut last: SortedMap<u64, (Option<u64>, NetworkRecord)> = SortedMap::new();
    let mut received = SortedMap::new();
    for event in events {
        match event {
            Seen::Operation(id, socket, record) => match last.get_mut(&id) {
                None => _ = last.insert(id, (socket, record)),
                Some((known_socket, known)) => {
                    *known_socket = known_socket.or(socket);
                    if known.outcome.rank() > record.outcome.rank() {
                        known.stack = record.stack;
                    } else {
                        *known = record;
                    }
                }
            },
            Seen::Received(socket) => _ = received.insert(socket, ()),
        }
    }
    for (socket, record) in last.values_mut() {
        if socket.is_some_and(|socket| received.get(&socket).is_some())
            && !record.outcome.has_ended()
        {
            record.outcome = NetworkOutcome::Answered;
        }
    }
    let mut records: Vec<NetworkRecord> = last.into_values().map(|(_, record)| record).collect();
    records.sort_by(|a, b| {
        a.identity().cmp(&b.identity()).then_with(|| b.stack.len().cmp(&a.stack.len()))
    });
    records.dedup_by(|next, kept| {
        let alike = next.identity() == kept.identity();
        if alike {
            kept.count += next.count;
            kept.elapsed_ms = kept.elapsed_ms.max(next.elapsed_ms);
        }
        alike
    });
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;
    use crate::protocol::network::tests::record;

    fn seen(id: u64, record: NetworkRecord) -> Seen {
        Seen::Operation(id, None, record)
    }

    fn frame(line: u32) -> Frame {
        Frame { function: String::new(), file: "src/lib.rs".to_owned(), line }
    }

    #[test]
    fn what_another_process_learnt_of_an_operation_is_not_undone_by_one_that_knows_less() {
        let target = "192.0.2.1:53";
        let known = |outcome| seen(1, record(target, outcome));
        let stack =
            NetworkRecord { stack: vec![frame(3)], ..record(target, NetworkOutcome::Unawaited) };
        for outcome in [NetworkOutcome::Answered, NetworkOutcome::Pending] {
            let folded = fold([
                known(NetworkOutcome::Unawaited),
                known(outcome.clone()),
                known(NetworkOutcome::Awaited),
                seen(1, stack.clone()),
            ]);
            let expected = NetworkRecord { outcome, ..stack.clone() };
            assert_eq!(folded, [expected]);
        }
    }

    #[test]
    fn what_a_process_receives_without_sending_answers_what_another_sent_through_the_socket() {
        let on = |id, socket, outcome| {
            Seen::Operation(id, Some(socket), record("192.0.2.1:53", outcome))
        };
        let outcomes = |events: Vec<Seen>| -> Vec<NetworkOutcome> {
            fold(events).into_iter().map(|record| record.outcome).collect()
        };
        use NetworkOutcome::{Answered, Pending};
        assert_eq!(outcomes(vec![on(1, 7, Pending), Seen::Received(7)]), [Answered]);
        assert_eq!(outcomes(vec![on(1, 7, Pending), Seen::Received(8)]), [Pending]);
        let refused = NetworkOutcome::Failed("ECONNREFUSED".to_owned());
        assert_eq!(outcomes(vec![on(1, 7, refused.clone()), Seen::Received(7)]), [refused]);
    }

    #[test]
    fn the_last_event_of_an_operation_counts_and_alike_ones_are_added_up() {
        let failed = || NetworkOutcome::Failed("ENETUNREACH".to_owned());
        let folded = fold([
            seen(1, record("192.0.2.1:80", NetworkOutcome::Pending)),
            seen(2, record("192.0.2.1:80", NetworkOutcome::Pending)),
            seen(3, record("192.0.2.2:80", NetworkOutcome::Pending)),
            seen(2, record("192.0.2.1:80", failed())),
            seen(1, record("192.0.2.1:80", failed())),
        ]);
        let both = NetworkRecord { count: 2, ..record("192.0.2.1:80", failed()) };
        assert_eq!(folded, [both, record("192.0.2.2:80", NetworkOutcome::Pending)]);
    }

    #[test]
    fn of_alike_records_the_longest_stack_is_kept() {
        let failed = |lines: &[u32]| NetworkRecord {
            stack: lines.iter().map(|&line| frame(line)).collect(),
            ..record("192.0.2.1:80", NetworkOutcome::Pending)
        };
        let folded = fold([seen(1, failed(&[3])), seen(2, failed(&[3, 9])), seen(3, failed(&[]))]);
        assert_eq!(folded.len(), 1);
        assert_eq!(folded[0].stack, [frame(3), frame(9)]);
    }
}
