// SPDX-License-Identifier: Apache-2.0
//! The reasons why a subject, or a server that it uses, did not do its work.

/// The reason why a subject did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The user requested benchlab to stop.
    Interrupted,
    /// The server that the subject uses no longer responds. Contains a description.
    ServerLost(String),
    /// The subject failed. Contains a word for [`lab_model::Failure::kind`] and a description.
    Failed(&'static str, String),
}

/// A subject's response, or a fault.
pub type SubjectResult<T> = Result<T, Fault>;
