// SPDX-License-Identifier: Apache-2.0
//! The fraction of a run's time that its pilots get, and the time that each pilot gets.

use std::time::Duration;

/// All pilots together get 1/BUDGET_DIVISOR of a run's time budget.
const BUDGET_DIVISOR: u32 = 10;

/// All pilots together get up to 1/MIN_BUDGET_DIVISOR of the budget if each pilot would otherwise
/// get less than [`NEEDED`].
const MIN_BUDGET_DIVISOR: u32 = 5;

/// The mean time that a pilot needs if some subjects compile.
const NEEDED: Duration = Duration::from_millis(250);

/// 1/RESERVE_DIVISOR of the pilots' time is reserved for the work that follows them.
///
/// This work includes computing the required results of batches.
const RESERVE_DIVISOR: u32 = 10;

/// The maximum time of a pilot, as a multiple of an equal fraction of the remaining time.
///
/// The multiple exceeds 1 because other pilots need less than an equal fraction.
pub const MAX_FRACTIONS: u32 = 2;

/// Each pilot is guaranteed 1/RESERVED of an equal fraction of the total time.
const RESERVED: u32 = 2;

/// An insufficient budget is raised by 1/GROWTH_DIVISOR at a time.
const GROWTH_DIVISOR: u32 = 20;
/// The maximum number of times that an insufficient budget is raised.
const MAX_GROWTHS: usize = 300;

/// The total time of all pilots of a run.
#[derive(Clone, Copy, Debug)]
pub struct PilotTime {
    all: Duration,
    /// The minimum time for each pilot.
    reserved: Duration,
}

impl PilotTime {
    /// Returns the time for `pilots` pilots of a run with the given budget.
    pub fn new(budget: Duration, pilots: usize) -> PilotTime {
        let all = part_of_budget(budget, pilots);
        PilotTime::divide(all - all / RESERVE_DIVISOR, pilots)
    }

    /// Divides the time `all` among `pilots` pilots.
    pub fn divide(all: Duration, pilots: usize) -> PilotTime {
        PilotTime {
            all,
            reserved: all / (RESERVED * pilots.max(1) as u32),
        }
    }

    /// Returns true if pilots that took `spent` together have used up all the time.
    pub fn is_used_up(self, spent: Duration) -> bool {
        spent >= self.all
    }

    /// Returns the maximum time of the next of `left` remaining pilots, after the earlier pilots
    /// took `spent`.
    pub fn max_time(self, spent: Duration, left: usize) -> Duration {
        let left = left.max(1) as u32;
        let rest = self.all.saturating_sub(spent);
        let free = rest.saturating_sub(self.reserved * (left - 1));
        (rest * MAX_FRACTIONS / left).min(free).max(self.reserved)
    }

    /// Returns true if there is enough time for pilots that take the durations in `needed`, in this
    /// order.
    pub(crate) fn suffices(self, needed: &[Duration]) -> bool {
        let mut spent = Duration::ZERO;
        needed.iter().enumerate().all(|(done, &time)| {
            let max_time = self.max_time(spent, needed.len() - done);
            spent += time;
            time <= max_time
        })
    }
}

/// Returns the time that `pilots` pilots may take from a run's budget.
pub fn part_of_budget(budget: Duration, pilots: usize) -> Duration {
    let needed = NEEDED * pilots as u32;
    needed.clamp(budget / BUDGET_DIVISOR, budget / MIN_BUDGET_DIVISOR)
}

/// Returns the smallest budget of at least `least` with which each pilot gets the time that it
/// needs, in any order of the pilots.
pub fn sufficient_budget(least: Duration, mut needed: Vec<Duration>) -> Duration {
    // Longest first: the first pilots are allowed the least time.
    needed.sort_by(|a, b| b.cmp(a));
    let budgets = std::iter::successors(Some(least), |budget| {
        Some(*budget + *budget / GROWTH_DIVISOR)
    });
    let mut budgets = budgets.take(MAX_GROWTHS);
    let suffices = |budget: &Duration| PilotTime::new(*budget, needed.len()).suffices(&needed);
    budgets.find(suffices).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Runs pilots that need the times `needs`. Returns the total time that they take, and the
    /// number of pilots that are cut short.
    fn take(all: Duration, needs: &[Duration]) -> (Duration, usize) {
        let (mut spent, mut cut) = (Duration::ZERO, 0);
        let time = PilotTime::divide(all, needs.len());
        for (done, &need) in needs.iter().enumerate() {
            let max_time = time.max_time(spent, needs.len() - done);
            cut += usize::from(need > max_time);
            spent += need.min(max_time);
        }
        (spent, cut)
    }

    #[test]
    fn pilots_never_exceed_their_time() {
        for seconds in [1, 7, 30, 60] {
            let all = SECOND * seconds;
            for need in [5, 50, 500, 5000].map(Duration::from_millis) {
                let (spent, cut) = take(all, &[need; 264]);
                assert!(spent <= all, "{all:?} {need:?} {spent:?}");
                assert_eq!(cut == 0, need * 264 <= all, "{all:?} {need:?}");
            }
        }
    }

    #[test]
    fn a_long_pilot_has_the_time_of_short_ones() {
        let needs: Vec<Duration> = (0..264)
            .map(|i| Duration::from_millis(if i % 8 == 0 { 350 } else { 60 }))
            .collect();
        assert_eq!(take(SECOND * 60, &needs).1, 0);
    }

    #[test]
    fn the_last_pilots_always_have_time() {
        for pilots in [2, 9, 264] {
            let all = SECOND * 54;
            let time = PilotTime::divide(all, pilots);
            let mut spent = Duration::ZERO;
            for done in 0..pilots {
                let max_time = time.max_time(spent, pilots - done);
                assert!(
                    max_time >= all / (2 * pilots as u32),
                    "{done} of {pilots}: {max_time:?}"
                );
                spent += max_time;
            }
            assert!(spent <= all, "{spent:?}");
            // This holds even if starts took longer than the remaining time.
            assert_eq!(time.max_time(all + SECOND, 1), all / (2 * pilots as u32));
        }
    }

    #[test]
    fn pilots_have_a_tenth_of_the_budget_or_more_if_needed() {
        let all = |budget_s, pilots| part_of_budget(SECOND * budget_s, pilots);
        assert_eq!(all(600, 240), SECOND * 60);
        assert_eq!(all(600, 280), SECOND * 70);
        assert_eq!(all(600, 10), SECOND * 60);
        assert_eq!(all(70, 40), SECOND * 10);
        assert_eq!(all(70, 285), SECOND * 14);
    }

    #[test]
    fn a_sufficient_budget_is_enough_in_any_order_and_not_far_too_much() {
        let ms = Duration::from_millis;
        for (pilots, long, long_ms) in [
            (2, 1, 600),
            (3, 1, 170),
            (40, 5, 900),
            (40, 40, 900),
            (264, 30, 400),
        ] {
            let needed: Vec<Duration> = (0..pilots)
                .map(|pilot| ms(if pilot < long { long_ms } else { 40 }))
                .collect();
            let budget = sufficient_budget(ms(300), needed.clone());
            let all = needed.iter().sum::<Duration>();
            let time = PilotTime::new(budget, pilots);
            for turned in 0..pilots {
                let order = [&needed[turned..], &needed[..turned]].concat();
                assert!(time.suffices(&order), "{pilots} {turned} {budget:?}");
            }
            // A pilot that needs more than twice an equal fraction requires a longer total time.
            let least = all.max(ms(long_ms) * pilots as u32 / MAX_FRACTIONS);
            let part = part_of_budget(budget, pilots);
            assert!(part < least * 2, "{pilots} {long} {part:?} {least:?}");
        }
        assert_eq!(sufficient_budget(SECOND * 66, vec![ms(1); 6]), SECOND * 66);
    }
}
