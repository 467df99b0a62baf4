// SPDX-License-Identifier: Apache-2.0
//! What a run's samples say: estimates, intervals, verdicts. Pure functions, no I/O.

pub mod analysis;
