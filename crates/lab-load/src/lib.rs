// SPDX-License-Identifier: Apache-2.0
//! The HTTP load generator: closed and open loops over many connections, one thread per core.
//!
//! A [`Job`] says what to send to whom; an engine has its threads and connections, puts load on for
//! as long as it is told to, and hands out a [`Record`] of what happened for every slice of that time.

mod job;
mod pace;
mod record;
pub mod response;

pub use job::Job;
pub use record::Record;
