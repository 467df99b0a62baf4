// SPDX-License-Identifier: Apache-2.0
//! The errors that end a session.

/// An error that ends a session.
#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    /// An option or a log is invalid. The text states the reason and what to do.
    #[error("{0}")]
    Invalid(String),
    /// The records cannot be written.
    #[error("{0}")]
    Failed(String),
    /// The user interrupted the session.
    #[error("stopped; nothing was saved")]
    Stopped,
}
