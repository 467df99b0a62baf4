// SPDX-License-Identifier: Apache-2.0
//! Builds documents from measured runs and histories. `lab-document` renders them. All functions
//! are pure: nothing here opens a file, a socket or a process.

mod between;
mod document;
pub mod forecast;
pub mod history;
mod imports;
mod kind;
mod parts;
mod report;
mod timeline;
pub mod wording;

pub use between::document as between;
pub use document::{document, estimate, so_far};
pub use history::{NamedRuns, RunSummary};
pub use report::{BetweenReport, Report};
