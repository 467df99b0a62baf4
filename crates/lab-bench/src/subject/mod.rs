// SPDX-License-Identifier: Apache-2.0
//! The process of a subject: starts it, communicates with it through the subject protocol
//! (docs/protocol.md), freezes it between turns, and ensures that it does not outlive benchlab.

pub mod dialog;
pub mod fault;
pub mod process;
pub mod protocol;
mod stream;
