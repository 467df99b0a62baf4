// SPDX-License-Identifier: Apache-2.0
//! Determines the offset of another machine's clock from this machine's clock, and the uncertainty
//! of the offset.

use lab_model::ClockOffset;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// The times of a machine's two clocks, in ns.
///
/// One clock counts from an arbitrary origin, and the other from 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReading {
    /// CLOCK_MONOTONIC.
    pub monotonic_ns: i64,
    /// CLOCK_REALTIME.
    pub utc_ns: i64,
}

impl ClockReading {
    /// Reads both clocks.
    pub fn now() -> ClockReading {
        ClockReading {
            monotonic_ns: nanoseconds(ClockId::CLOCK_MONOTONIC),
            utc_ns: nanoseconds(ClockId::CLOCK_REALTIME),
        }
    }
}

fn nanoseconds(clock: ClockId) -> i64 {
    let now = clock_gettime(clock).expect("Linux has these clocks");
    now.tv_sec() * 1_000_000_000 + now.tv_nsec()
}

/// A request and its response, with the times at which they were sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The time at which this machine sent the request.
    pub sent: ClockReading,
    /// The time at which the other machine received the request.
    pub received_there: ClockReading,
    /// The time at which the other machine responded.
    pub answered_there: ClockReading,
    /// The time at which this machine received the response.
    pub received: ClockReading,
}

/// Returns the offset of the other machine's clock, or `None` if there are no exchanges. `time`
/// selects the clock.
///
/// No message arrives before it was sent. Each request therefore yields an upper bound and each
/// response a lower bound, however asymmetric the delays are (Cristian, *Distributed Computing* 3,
/// 1989). If no offset is within all bounds, a clock was set in the meantime. In this case, the
/// exchange with the shortest round trip is used.
pub fn offset(exchanges: &[Exchange], time: fn(&ClockReading) -> i64) -> Option<ClockOffset> {
    let bounds = |e: &Exchange| {
        let above = time(&e.received_there) - time(&e.sent);
        let below = time(&e.answered_there) - time(&e.received);
        (below, above)
    };
    let round_trip = |e: &Exchange| {
        let (below, above) = bounds(e);
        (above - below).max(0)
    };
    let shortest = exchanges.iter().min_by_key(|e| round_trip(e))?;
    let lowest = exchanges.iter().map(|e| bounds(e).0).max()?;
    let highest = exchanges.iter().map(|e| bounds(e).1).min()?;
    let (low, high) = if lowest <= highest {
        (lowest, highest)
    } else {
        bounds(shortest)
    };
    Some(ClockOffset {
        ahead_ns: low + (high - low) / 2,
        error_ns: ((high - low).unsigned_abs()).div_ceil(2),
        round_trip_ns: round_trip(shortest).unsigned_abs(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reading(ns: i64) -> ClockReading {
        ClockReading {
            monotonic_ns: ns,
            utc_ns: ns,
        }
    }

    /// Builds an exchange that begins at `at` on this machine, in ns.
    ///
    /// The other machine's clock is `ahead` ns ahead. The last parameter contains the durations, in
    /// ns, of the request, of the processing, and of the response.
    fn exchange(at: i64, ahead: i64, (outward, between, back): (i64, i64, i64)) -> Exchange {
        Exchange {
            sent: reading(at),
            received_there: reading(at + outward + ahead),
            answered_there: reading(at + outward + between + ahead),
            received: reading(at + outward + between + back),
        }
    }

    const TEN_MINUTES: i64 = 600_000_000_000;

    proptest! {
        /// For all delays, the true offset is within the error, and the error is at most half the
        /// shortest round trip.
        #[test]
        fn the_truth_is_within_the_error(
            ahead in -TEN_MINUTES..TEN_MINUTES,
            ways in prop::collection::vec((0..10_000_000_i64, 0..1_000_000_i64, 0..10_000_000_i64), 1..20),
        ) {
            let mut at = 5_000_000_000;
            let exchanges: Vec<Exchange> = ways.iter().map(|way| {
                at += 20_000_000;
                exchange(at, ahead, *way)
            }).collect();
            let estimate = offset(&exchanges, |r| r.utc_ns).unwrap();
            prop_assert!(estimate.ahead_ns.abs_diff(ahead) <= estimate.error_ns);
            let shortest = ways.iter().map(|(outward, _, back)| outward + back).min().unwrap();
            prop_assert_eq!(estimate.round_trip_ns, shortest as u64);
            prop_assert!(estimate.error_ns <= (shortest as u64).div_ceil(2));
        }
    }

    #[test]
    fn a_clock_set_in_between_falls_back_to_the_shortest_round_trip() {
        let exchanges = [
            exchange(0, 0, (100, 0, 100)),
            exchange(1_000_000, TEN_MINUTES, (40, 0, 60)),
        ];
        let estimate = offset(&exchanges, |r| r.monotonic_ns).unwrap();
        assert!(estimate.ahead_ns.abs_diff(TEN_MINUTES) <= estimate.error_ns);
        assert_eq!(offset(&[], |r| r.utc_ns), None);
    }
}
