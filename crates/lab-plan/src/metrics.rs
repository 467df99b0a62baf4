// SPDX-License-Identifier: Apache-2.0
//! Metrics that an experiment's file defines (docs/experiments.md, `[[metric]]`).

use crate::PlanError;
use crate::error::ErrorAt;
use crate::file;
use lab_model::{Metric, Unit};

/// The reserved arguments of the reply `ran` (docs/protocol.md).
const RESERVED: [&str; 10] = [
    "start",
    "end",
    "operations",
    "units",
    "check",
    "latencies",
    "timeline",
    "failed",
    "allocations",
    "allocated_bytes",
];

/// Validates the metrics of an experiment.
///
/// # Errors
/// Returns an error if a name is not a valid key in the protocol, is reserved, or is used twice.
pub fn validate(metrics: &[file::Metric], at: ErrorAt) -> Result<Vec<Metric>, PlanError> {
    let mut read: Vec<Metric> = Vec::new();
    for metric in metrics {
        let name = metric.name.get_ref();
        let wrong = |reason: String| Err(at(metric.name.span(), reason));
        if !is_key(name) {
            return wrong(format!(
                "invalid metric name `{name}`: expected lowercase letters, digits and _, with a letter first"
            ));
        }
        if RESERVED.contains(&name.as_str()) || Metric::KNOWN.iter().any(|m| m.id == **name) {
            return wrong(format!("`{name}` is reserved by benchlab"));
        }
        if read.iter().any(|m| m.id == **name) {
            return wrong(format!("there are two metrics `{name}`"));
        }
        read.push(Metric {
            id: name.clone().into(),
            title: metric.title.clone().into(),
            unit: unit(&metric.unit),
            better: metric.better,
        });
    }
    Ok(read)
}

/// Returns true if the name can be the key of an argument (docs/protocol.md).
pub fn is_key(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(plain)
}

/// Parses `ns`, `bytes`, `%`, or a plural noun such as `updates` or `updates/s`.
fn unit(name: &str) -> Unit {
    match name {
        "ns" => Unit::Nanoseconds,
        "bytes" => Unit::Bytes,
        "%" => Unit::Share,
        counted => match counted.strip_suffix("/s") {
            Some(counted) => Unit::PerSecond(counted.to_owned().into()),
            None => Unit::Count(counted.to_owned().into()),
        },
    }
}
