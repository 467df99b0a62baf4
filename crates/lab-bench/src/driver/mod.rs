// SPDX-License-Identifier: Apache-2.0
//! Drives a run: a session finds the missing blocks, an executor measures them, and a workload runs the turns.

mod block;
pub mod context;
pub mod executor;
pub mod machine;
mod pace;
mod participants;
pub mod session;
pub mod workload;
