// SPDX-License-Identifier: Apache-2.0
//! The metrics that an experiment adds to the lab's own (docs/experiments.md, `[[metric]]`).

use crate::PlanError;
use crate::error::ErrorAt;
use crate::file;
use lab_model::{Metric, Unit};

/// Arguments of `ran` that mean something already (docs/protocol.md).
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

/// Error: a name that is no key of the protocol, that the lab uses itself, or that is there twice.
pub fn understand(metrics: &[file::Metric], at: ErrorAt) -> Result<Vec<Metric>, PlanError> {
    let mut read: Vec<Metric> = Vec::new();
    for metric in metrics {
        let name = metric.name.get_ref();
        let wrong = |reason: String| Err(at(metric.name.span(), reason));
        if !is_key(name) {
            return wrong(format!(
                "`{name}` is no metric's name: small letters, digits and _, a letter first"
            ));
        }
        if RESERVED.contains(&name.as_str()) || Metric::KNOWN.iter().any(|m| m.id == **name) {
            return wrong(format!("`{name}` is a word of the lab's own"));
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

/// True if it can be the key of an argument (docs/protocol.md).
pub fn is_key(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.bytes().all(plain)
}

/// `ns`, `bytes`, `%`; any other is what is counted, in the plural, `updates` or `updates/s`.
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
