// SPDX-License-Identifier: Apache-2.0
//! The process of a subject: started, driven over the subject protocol (docs/protocol.md), frozen between turns, and
//! never left behind.

pub mod fault;
pub mod process;
pub mod protocol;
mod stream;
