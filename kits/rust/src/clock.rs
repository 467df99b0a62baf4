// SPDX-License-Identifier: Apache-2.0
//! The clock of the protocol.

use nix::time::{ClockId, clock_gettime};

/// Returns CLOCK_MONOTONIC in ns.
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("Linux has CLOCK_MONOTONIC");
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}
