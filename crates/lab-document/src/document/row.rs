// SPDX-License-Identifier: Apache-2.0
//! Tidy rows: one row for each subject, point and metric.

use super::{Quantity, unit_name};
use lab_model::{Direction, Metric};
use serde::{Serialize, Serializer};

/// The result for one subject, one point and one metric.
///
/// An empty string means that the field does not apply.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The run's name.
    pub run: String,
    /// The subject's name.
    pub subject: String,
    /// The role of the subject: `baseline`, `control`, `reference`, `overhead`, `imported`, or
    /// empty.
    pub role: String,
    /// The target, such as `postgresql`.
    pub target: String,
    /// The case's name.
    pub case: String,
    /// The point's parameters, including the value of the sweep.
    pub params: Vec<(String, String)>,
    /// The measured metric, with its name and its unit.
    #[serde(serialize_with = "metric")]
    pub metric: Metric,
    /// The value, or `None` if it could not be measured. [`Row::note`] contains the reason.
    pub value: Option<Quantity>,
    /// The ratio to the baseline. A value below 1 is better.
    pub ratio: Option<Quantity>,
    /// The adjusted p-value of the null hypothesis that the ratio is 1.
    pub p: Option<f64>,
    /// `faster`, `slower`, `equivalent`, `small-but-real`, `inconclusive`, or empty.
    pub verdict: String,
    /// The number of complete blocks on which the value is based.
    pub blocks: Option<u32>,
    /// An explanation of a missing value, or a remark.
    pub note: String,
    /// The value of each block or process, in the unit of the metric. Empty if they were not kept.
    #[serde(skip)]
    pub samples: Vec<f64>,
}

impl Row {
    /// The metric ID of rows about gates.
    pub const GATE: &str = "gate";

    /// Creates a row without a value.
    pub fn new(run: &str, subject: &str, metric: Metric) -> Row {
        Row {
            run: run.into(),
            subject: subject.into(),
            role: String::new(),
            target: String::new(),
            case: String::new(),
            params: Vec::new(),
            metric,
            value: None,
            ratio: None,
            p: None,
            verdict: String::new(),
            blocks: None,
            note: String::new(),
            samples: Vec::new(),
        }
    }

    /// Returns true if the row is about a gate and not about a subject.
    pub fn is_gate(&self) -> bool {
        self.metric.id == Row::GATE
    }
}

/// Serializes a metric as `id`, `title`, `unit` (its name in data formats) and `better` (whether lower or higher).
fn metric<S: Serializer>(metric: &Metric, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Fields<'m> {
        id: &'m str,
        title: &'m str,
        unit: String,
        better: Direction,
    }
    let fields = Fields {
        id: &metric.id,
        title: &metric.title,
        unit: unit_name(&metric.unit),
        better: metric.better,
    };
    fields.serialize(serializer)
}
