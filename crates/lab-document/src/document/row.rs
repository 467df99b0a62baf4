// SPDX-License-Identifier: Apache-2.0
//! Tidy rows: one for each subject, point and metric.

use super::{Quantity, unit_name};
use lab_model::{Direction, Metric};
use serde::{Serialize, Serializer};

/// The results of one subject at one point in one metric. Empty strings: does not apply.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The run's name.
    pub run: String,
    /// The subject's name.
    pub subject: String,
    /// `baseline`, `control`, `limit`, `overhead`, `imported`, or empty.
    pub role: String,
    /// The target, such as `postgresql`.
    pub target: String,
    /// The case's name.
    pub case: String,
    /// The point's parameters, the sweep's value included.
    pub params: Vec<(String, String)>,
    /// In which respect.
    #[serde(serialize_with = "metric")]
    pub metric: Metric,
    /// The figure; `None`: it could not be measured, see [`Row::note`].
    pub value: Option<Quantity>,
    /// Against the baseline: below 1 is better.
    pub ratio: Option<Quantity>,
    /// Adjusted p-value of ratio = 1.
    pub p: Option<f64>,
    /// `faster`, `slower`, `equivalent`, `small-but-real`, `inconclusive`, or empty.
    pub verdict: String,
    /// Complete blocks that it comes from.
    pub blocks: Option<u32>,
    /// The reason why something is missing, or a remark.
    pub note: String,
}

impl Row {
    /// A row without a figure.
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
        }
    }
}

/// `id`, `title`, `unit` by its name in data, and which values are `better`.
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
