// SPDX-License-Identifier: Apache-2.0
//! A kind of measured work, as reports show it.

use crate::parts::kind_traits::KindTraits;
use crate::parts::measured::Measured;
use crate::parts::respect::Respect;
use crate::parts::scope::Scope;
use lab_document::{Chart, Finding, Section};

/// A kind of measured work, as reports show it.
pub trait WorkKind {
    /// The facts that shared parts of a document need.
    fn traits(&self) -> &'static KindTraits;

    /// The parts that it adds to the document of a run. `scopes`: the run's targets, at least one.
    fn parts(&self, scopes: &[Scope]) -> DocumentParts;

    /// The title of a run, if it is not the plan's.
    fn title(&self, _scope: &Scope) -> Option<String> {
        None
    }

    /// Makes the current estimate for a line of progress, at most 60 columns; empty without an interval.
    fn estimate(&self) -> Option<fn(&Measured) -> String> {
        None
    }

    /// The metrics and points in which a history compares the subjects of a run.
    fn respects(&self, scope: &Scope) -> Vec<Respect>;

    /// Advice where two runs do not show a change, in a sentence.
    fn advice_on_one_run(&self) -> &'static str {
        "Let the old and the new program be two subjects of one run."
    }
}

/// The parts that each kind of work adds to the common document.
pub struct DocumentParts {
    /// The chart that answers the question.
    pub chart: Option<Chart>,
    /// The most important first; those beyond the third are left out.
    pub findings: Vec<Finding>,
    /// Between what went wrong and the conditions.
    pub sections: Vec<Section>,
    /// How it was measured, in sentences.
    pub method: Vec<String>,
}
