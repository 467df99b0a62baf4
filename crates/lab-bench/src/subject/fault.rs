// SPDX-License-Identifier: Apache-2.0
//! The reasons why a subject, or something it works on, did not do its work.

/// The reason why a subject did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The user requested benchlab to stop.
    Interrupted,
    /// The server that the subject works on no longer responds. Contains a description.
    ServerLost(String),
    /// The subject failed. Contains a word for [`lab_model::Failure::kind`] and a description.
    Failed(&'static str, String),
}

impl Fault {
    /// Creates a fault for an experiment whose faults cannot be injected for this reason.
    pub fn injection(reason: impl Into<String>) -> Fault {
        Fault::Failed("injection", reason.into())
    }
}

/// A response in the protocol, or a fault.
pub type SubjectResult<T> = Result<T, Fault>;
