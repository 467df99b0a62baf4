// SPDX-License-Identifier: Apache-2.0
//! The kinds of runs, and what only runs of one kind have.

use crate::{Audit, LogAnalysis, Plan, SubjectId};
use serde::{Deserialize, Serialize};

/// The kind of a run, with everything that only runs of this kind have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Subjects were measured, or are to be.
    Measured(Box<Measured>),
    /// Logs were read.
    Logs(Box<LogAnalysis>),
    /// A host, a network or a site was audited.
    Audit(Box<Audit>),
    /// Figures were taken over from other tools' files; they have no intervals.
    Imported(Vec<Imported>),
}

/// A run of subjects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The plan that it carries out.
    pub plan: Plan,
    /// Figures without noise, which were taken once in addition to the blocks.
    pub figures: Vec<Figure>,
}

/// A figure of a subject that was counted once, such as its peak heap under Massif.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The subject that it is of.
    pub subject: SubjectId,
    /// The id of a metric among [`crate::Run::metrics`].
    pub metric: String,
    /// In the metric's unit.
    pub value: f64,
}

/// One `<benchmark>` of an imported file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// The language, as the file says.
    pub language: String,
    /// The driver, as the file says.
    pub driver: String,
    /// Threads, if the file says.
    pub threads: Option<u64>,
    /// Resident memory, if the file says.
    pub rss_bytes: Option<u64>,
    /// Peak resident memory, if the file says.
    pub peak_rss_bytes: Option<u64>,
    /// User CPU time, if the file says.
    pub user_ns: Option<u64>,
    /// System CPU time, if the file says.
    pub sys_ns: Option<u64>,
    /// Its measures.
    pub times: Vec<ImportedTime>,
}

/// One `<time>` of an imported file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportedTime {
    /// The timed thing, in the words of the file.
    pub title: String,
    /// How many operations were timed.
    pub count: u64,
    /// Time of one, in ns.
    pub time_ns: f64,
    /// Time of all, in ns.
    pub total_ns: f64,
}

impl Default for Content {
    fn default() -> Self {
        Content::Imported(Vec::new())
    }
}

impl From<Plan> for Content {
    /// A run that has measured nothing yet.
    fn from(plan: Plan) -> Self {
        Content::Measured(Box::new(Measured {
            plan,
            ..Measured::default()
        }))
    }
}
