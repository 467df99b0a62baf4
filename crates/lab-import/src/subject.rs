// SPDX-License-Identifier: Apache-2.0
//! Builds the results of one subject.

use lab_model::{Imported, ImportedSeries, Metric};
use std::collections::HashMap;

/// Creates the results of one subject without series. `version` may be empty.
pub fn subject(tool: &str, version: &str, name: &str) -> Imported {
    let mut imported = Imported {
        tool: tool.into(),
        subject: if name.is_empty() { tool } else { name }.into(),
        ..Imported::default()
    };
    fact(&mut imported, "version", version);
    imported
}

/// Adds a fact, unless it is empty.
pub fn fact(imported: &mut Imported, name: &str, value: impl Into<String>) {
    let value = value.into();
    if !value.is_empty() {
        imported.facts.push((name.into(), value));
    }
}

/// Adds a series, unless it has no values.
pub fn series(imported: &mut Imported, case: &str, metric: Metric, processes: Vec<Vec<f64>>) {
    with_params(imported, case, Vec::new(), metric, processes);
}

/// Adds a series with parameters, unless it has no values.
pub fn with_params(
    imported: &mut Imported,
    case: &str,
    params: Vec<(String, String)>,
    metric: Metric,
    mut processes: Vec<Vec<f64>>,
) {
    processes.retain(|values| !values.is_empty());
    if !processes.is_empty() {
        imported.series.push(ImportedSeries {
            case: case.into(),
            params,
            metric,
            processes,
        });
    }
}

/// Adds a value that was measured only once.
pub fn single(imported: &mut Imported, metric: Metric, value: Option<f64>) {
    series(
        imported,
        "",
        metric,
        value.into_iter().map(|v| vec![v]).collect(),
    );
}

/// A collector of values that a file lists one by one.
pub struct Collector {
    /// The results so far.
    pub imported: Imported,
    /// The index of each series by its case, parameters and metric.
    known: HashMap<String, usize>,
}

impl Collector {
    /// Creates a collector that adds values to `imported`.
    pub fn new(imported: Imported) -> Collector {
        Collector {
            imported,
            known: HashMap::new(),
        }
    }

    /// Adds a value to a benchmark's series as part of process number `process`, starting at 0.
    pub fn add(
        &mut self,
        (case, params): (&str, &[(String, String)]),
        metric: &Metric,
        process: usize,
        value: f64,
    ) {
        let all = &mut self.imported.series;
        let key = format!("{case}\0{params:?}\0{}", metric.id);
        let at = *self.known.entry(key).or_insert_with(|| {
            all.push(ImportedSeries {
                case: case.into(),
                params: params.to_vec(),
                metric: metric.clone(),
                processes: Vec::new(),
            });
            all.len() - 1
        });
        let processes = &mut all[at].processes;
        processes.resize(processes.len().max(process + 1), Vec::new());
        processes[process].push(value);
    }

    /// Returns the results. Each series omits the processes that measured only other benchmarks.
    pub fn finish(self) -> Imported {
        let mut imported = self.imported;
        for series in &mut imported.series {
            series.processes.retain(|values| !values.is_empty());
        }
        imported
    }
}
