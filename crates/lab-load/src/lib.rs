// SPDX-License-Identifier: Apache-2.0
//! The HTTP load generator: closed and open loops over many connections, one thread per core.
//!
//! A [`Job`] says what to send to whom; an engine has its threads and connections, puts load on for
//! as long as it is told to, and hands out a [`Record`] of what happened for every slice of that time.

mod error;
mod expect;
mod guard;
mod job;
mod pace;
mod record;
mod requests;
pub mod response;
mod target;

pub use error::JobError;
pub use expect::{Expect, JsonValue, Statuses};
pub use guard::Guard;
pub use job::Job;
pub use record::Record;
pub use requests::{Header, Rendered, Request, Requests, method};
pub use target::{Family, Link, Origin};
