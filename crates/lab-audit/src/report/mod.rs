// SPDX-License-Identifier: Apache-2.0
//! The reports on an audit, on the changes between two audits, and on the history of audits.

mod changed;
mod document;
mod evidence;
mod history;
mod summary;

pub use changed::{ChangedReport, document as changed, gates as changed_gates};
pub use document::{AuditReport, document, harmless};
pub use history::document as history;
pub use summary::AuditSummary;
