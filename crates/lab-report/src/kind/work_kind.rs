// SPDX-License-Identifier: Apache-2.0
//! The interface between the common parts of a report and each kind of measured work.

use crate::parts::kind_traits::KindTraits;
use crate::parts::measured::Measured;
use crate::parts::respect::ComparedMetric;
use crate::parts::scope::Scope;
use lab_document::{Chart, Finding, Section, Table};

/// A kind of measured work, as reports show it.
pub trait WorkKind {
    /// Returns the properties of this kind that the shared parts of a document need.
    fn traits(&self) -> &'static KindTraits;

    /// Builds the parts that this kind adds to the document of a run. `scopes` contains one scope
    /// for each target of the run, and is never empty.
    fn parts(&self, scopes: &[Scope]) -> DocumentParts;

    /// Returns the title of a run if it differs from the plan's title.
    fn title(&self, _scope: &Scope) -> Option<String> {
        None
    }

    /// Returns the function that formats the current estimate for a progress line, in at most 60 columns.
    ///
    /// That function returns an empty string if there is no interval yet.
    fn estimate(&self) -> Option<fn(&Measured) -> String> {
        None
    }

    /// Returns the metrics and points by which a history compares the subjects of a run.
    fn compared_metrics(&self, scope: &Scope) -> Vec<ComparedMetric>;

    /// Returns advice on comparing the programs in one run. Reports show it if two runs cannot show
    /// a change.
    fn advice_on_one_run(&self) -> &'static str {
        "Make the old and the new program two subjects of one run."
    }
}

/// The parts that each kind of work adds to the common document.
#[derive(Default)]
pub struct DocumentParts {
    /// The answer in one sentence. Empty if the first finding already contains it.
    pub headline: String,
    /// The values that the question asks for, if a table shows them better than the chart.
    pub table: Option<Table>,
    /// The main chart of the first screen.
    pub chart: Option<Chart>,
    /// The distribution of the values, as an additional chart on the first screen.
    pub distribution: Option<Chart>,
    /// The findings, the most important first. The document shows the first three.
    pub findings: Vec<Finding>,
    /// The sections that come after the failures and warnings, and before the conditions.
    pub sections: Vec<Section>,
    /// The description of the method, in sentences.
    pub method: Vec<String>,
}
