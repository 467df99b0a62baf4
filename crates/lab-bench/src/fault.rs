// SPDX-License-Identifier: Apache-2.0
//! Why a subject, or what it works on, did not do what it was asked for.

/// Why a subject did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The reader wants the lab to stop.
    Interrupted,
    /// The server that it works on does not answer any more: in a sentence.
    ServerLost(String),
    /// The subject failed: a word for [`lab_model::Failure::kind`], and what happened.
    Failed(&'static str, String),
}

impl Fault {
    /// The faults of an experiment cannot be injected, for this reason.
    pub fn injection(reason: impl Into<String>) -> Fault {
        Fault::Failed("injection", reason.into())
    }
}

/// The protocol's answers, or a fault.
pub type SubjectResult<T> = Result<T, Fault>;
