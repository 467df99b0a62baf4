// SPDX-License-Identifier: Apache-2.0
//! The HTTP load generator. It supports closed and open loops over many connections, and runs one
//! thread per core.
//!
//! A [`LoadJob`] specifies the server and the requests. An [`Engine`] owns the threads and
//! connections, runs the load for a given time, and returns a [`SliceRecord`] for every slice of
//! that time.

mod arrival;
pub mod certificates;
mod clock;
mod connection;
pub mod content_coding;
mod engine;
mod error;
mod expect;
mod guard;
mod http2;
mod job;
mod pace;
mod poll;
mod ports;
mod queue;
mod record;
mod request_file;
mod request_text;
mod requests;
pub mod response;
mod restore;
mod stream;
mod target;
mod tls;
mod tracker;
mod worker;

pub use engine::{Engine, LoadError, allow_files};
pub use error::JobError;
pub use expect::{Expect, JsonValue, Statuses};
pub use guard::LoadGuard;
pub use job::{GeneratorLoad, LoadJob, load_without_files};
pub use lab_model::{IpFamily, Trust};
pub use ports::{PortForecast, Ports};
pub use record::SliceRecord;
pub use request_file::read_requests;
pub use requests::{Header, RenderedRequest, Request, Requests, content_bytes, method};
pub use restore::{Secrets, restored_requests};
pub use target::{LoadUrl, Origin};
pub use tls::{TLS_FAILURE, Tls};
