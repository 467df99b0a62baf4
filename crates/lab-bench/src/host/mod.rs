// SPDX-License-Identifier: Apache-2.0
//! The machine that benchlab measures on: its cores, clocks, counters and directories.

pub mod directories;
pub mod hardware;
pub mod interrupt;
pub mod random;
pub mod scratch;
pub mod sys;
