// SPDX-License-Identifier: Apache-2.0
//! Faults: the reasons for which a subject, or a server that it uses, did not do its work.

/// The reason for which a subject did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The user requested benchlab to stop.
    Interrupted,
    /// The server that the subject uses no longer responds. Contains the reason.
    ServerLost(String),
    /// The subject failed. Contains a word for [`lab_model::Failure::kind`] and the reason.
    Failed(&'static str, String),
}

/// The result of an action of a subject, or a fault.
pub type SubjectResult<T> = Result<T, Fault>;

impl Fault {
    /// Returns the reason, for a message.
    pub fn reason(self) -> String {
        match self {
            Fault::Interrupted => "interrupted".into(),
            Fault::ServerLost(reason) | Fault::Failed(_, reason) => reason,
        }
    }
}
