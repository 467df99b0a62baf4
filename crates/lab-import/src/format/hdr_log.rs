// SPDX-License-Identifier: Apache-2.0
//! HdrHistogram's interval log (`.hlog`), with compressed histograms in encoding V2. A log comes
//! from one process.

use super::{ImportFormat, keep_names};
use crate::error::Problem;
use crate::metrics::percentile;
use crate::read::{ImportedFile, TIME};
use crate::source::Source;
use crate::subject::{fact, series, subject};
use crate::text::short;
use crate::wording;
use base64::prelude::{BASE64_STANDARD, Engine};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use lab_model::{Imported, Metric, Unit};

/// The maximum length of an encoded histogram in bytes.
const ENCODED: usize = 4 << 20;

/// The remark about the unit of a log's values, which the format does not define.
pub const UNIT_ASSUMED: &str = "The log does not state the unit of its values, which are taken for nanoseconds: \
     specify the unit with --duration-unit.";

/// The import format for HdrHistogram's log.
pub const FORMAT: ImportFormat = ImportFormat {
    name: "hlog",
    title: "HdrHistogram's log (.hlog), in ns or in the unit of --duration-unit",
    advice: "Write the log of each of 10 processes to a separate file, and import all files with --join.",
    is_format: |source| {
        let mut lines = source.text.lines().take(100);
        let is_log = |line: &str| {
            line.starts_with("#[Histogram log format version")
                || line.starts_with("\"StartTimestamp\"")
        };
        lines.any(is_log)
    },
    read,
    shorten: keep_names,
};

impl ImportedFile {
    /// Multiplies the times of an HdrHistogram log by `unit_ns`, the length of their unit in ns.
    /// The log does not state the unit, so the times were read as nanoseconds.
    ///
    /// # Errors
    /// Returns an error if the format defines the unit of its times.
    pub fn in_unit(mut self, unit_ns: u64) -> Result<ImportedFile, String> {
        if self.format != FORMAT {
            return Err(wording::unit_is_defined(self.format.name));
        }
        for import in &mut self.imports {
            import.remarks.retain(|remark| remark != UNIT_ASSUMED);
            let times = import.series.iter_mut();
            let times = times.filter(|series| series.metric.unit == Unit::Nanoseconds);
            for value in times.flat_map(|series| series.processes.iter_mut().flatten()) {
                *value *= unit_ns as f64;
            }
        }
        Ok(self)
    }
}

fn read(source: &Source) -> Result<Vec<Imported>, Problem> {
    let mut imported = subject("HdrHistogram", "", "");
    let mut merged: Vec<(String, Histogram<u64>)> = Vec::new();
    let mut deserializer = Deserializer::new();
    let mut seconds = 0.0;
    for (i, line) in source.text.lines().enumerate() {
        let line = line.trim();
        if let Some(time) = line.strip_prefix("#[StartTime: ") {
            fact(
                &mut imported,
                TIME,
                time.split_whitespace().next().unwrap_or(""),
            );
        }
        if let Some(version) = line.strip_prefix("#[Histogram log format version ") {
            let version = version.trim_end_matches(']');
            if !version.starts_with("1.") {
                return Err(Problem::on_line(
                    i + 1,
                    format!(
                        "version {} of the log format is not supported; expected 1.x",
                        short(version)
                    ),
                ));
            }
        }
        if line.is_empty() || line.starts_with(['#', '"']) {
            continue;
        }
        let (tag, row) = match line
            .strip_prefix("Tag=")
            .and_then(|rest| rest.split_once(','))
        {
            Some((tag, row)) => (tag.to_owned(), row),
            None => (String::new(), line),
        };
        let fields: Vec<&str> = row.split(',').collect();
        let [_, length, _, encoded] = fields[..] else {
            let cause = if fields.len() < 4 {
                "the line is truncated"
            } else {
                "the line has too many commas"
            };
            return Err(Problem::on_line(
                i + 1,
                format!("expected 4 fields, found {}: {cause}", fields.len()),
            ));
        };
        seconds += length
            .trim()
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
            .unwrap_or(0.0);
        let histogram = decode(encoded.trim(), &mut deserializer)
            .map_err(|message| Problem::on_line(i + 1, message))?;
        match merged.iter_mut().find(|(known, _)| *known == tag) {
            Some((_, all)) => all.add(&histogram).map_err(|e| {
                Problem::on_line(
                    i + 1,
                    format!("the histogram does not match the others: {e}"),
                )
            })?,
            None => {
                let mut all = histogram;
                all.auto(true);
                merged.push((tag, all));
            }
        }
    }
    for (tag, histogram) in merged.iter().filter(|(_, h)| !h.is_empty()) {
        let mut add = |metric, value: f64| series(&mut imported, tag, metric, vec![vec![value]]);
        add(Metric::MEAN_WALL, histogram.mean());
        for percent in [50.0, 90.0, 99.0, 99.9, 99.99] {
            add(
                percentile(percent),
                histogram.value_at_quantile(percent / 100.0) as f64,
            );
        }
        add(Metric::MAX, histogram.max() as f64);
        add(Metric::OPERATIONS, histogram.len() as f64);
    }
    imported.remarks.push(UNIT_ASSUMED.into());
    if seconds > 0.0 {
        fact(&mut imported, "duration", format!("{seconds:.1} s"));
    }
    Ok(vec![imported])
}

fn decode(encoded: &str, deserializer: &mut Deserializer) -> Result<Histogram<u64>, String> {
    if encoded.len() > ENCODED {
        return Err(format!("the histogram has more than {ENCODED} bytes"));
    }
    let bytes = BASE64_STANDARD.decode(encoded).map_err(|e| {
        format!(
            "the histogram is not valid base64: {e}; the line is truncated, or has an unsupported version"
        )
    })?;
    deserializer
        .deserialize(&mut bytes.as_slice())
        .map_err(|e| format!("the histogram cannot be decoded: {e}; expected encoding V2"))
}
