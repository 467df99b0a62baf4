// SPDX-License-Identifier: Apache-2.0
//! Drives a run: a session finds the missing blocks, an executor has them measured, and a workload takes the turns.

mod block;
pub mod context;
pub mod executor;
pub mod machine;
mod pace;
mod participants;
pub mod session;
pub mod workload;
