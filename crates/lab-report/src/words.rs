// SPDX-License-Identifier: Apache-2.0
//! The nouns for subjects and operations: subjects do operations, whole commands are run, servers answer
//! requests.

use lab_model::Plan;

/// The words of a report.
#[derive(Debug, PartialEq, Eq)]
pub struct Words {
    /// A compared item: `subject`.
    pub subject: &'static str,
    /// Several of them.
    pub subjects: &'static str,
    /// The timed unit: `operation`.
    pub operation: &'static str,
    /// The timed unit, with its article: `an operation`.
    pub an_operation: &'static str,
}

/// Programs that speak the subject protocol.
const SUBJECTS: Words = Words {
    subject: "subject",
    subjects: "subjects",
    operation: "operation",
    an_operation: "an operation",
};

/// Whole commands.
const COMMANDS: Words = Words {
    subject: "command",
    subjects: "commands",
    operation: "run",
    an_operation: "a run",
};

/// Servers under load.
const SERVERS: Words = Words {
    subject: "server",
    subjects: "servers",
    operation: "request",
    an_operation: "a request",
};

impl Words {
    /// Those for a plan.
    pub fn of(plan: &Plan) -> &'static Words {
        match (plan.load(), plan.commands()) {
            (Some(_), _) => &SERVERS,
            (None, Some(_)) => &COMMANDS,
            (None, None) => &SUBJECTS,
        }
    }
}
