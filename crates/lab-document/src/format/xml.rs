// SPDX-License-Identifier: Apache-2.0
//! Results in the XML format of earlier SQL benchmarks for Ada.
//!
//! S. Carrez's sql-benchmark defines the format, with Util.Measures from his Ada Utility Library.
//! `<benchmark>`, with memory in KiB and CPU time in ms, contains `<measures>` with elements `<time
//! count time total title>`. In addition, every row of a subject is written as a `<figure>`, and the
//! decision of each gate as a comment. The earlier tools ignore both.

use super::text::clean;
use super::tidy::{COLUMNS, Field, fields};
use crate::chart::file_name;
use crate::document::{Document, Row};
use crate::output::{File, Format, Rendered};
use lab_model::Metric;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

/// The integer 2^53. Above it, a floating-point number cannot represent every integer.
const MAX_INTEGER: f64 = 9_007_199_254_740_992.0;
/// The longest time that other tools accept: a thousand years, in ns.
const MAX_TIME: f64 = 3.2e19;

/// The metrics that earlier tools read. For these tools, a document without any of them is empty.
const MEASURED: [Metric; 7] = [
    Metric::MEAN_WALL,
    Metric::WALL,
    Metric::THREADS,
    Metric::MEMORY,
    Metric::PEAK_MEMORY,
    Metric::USER_CPU,
    Metric::SYSTEM_CPU,
];

/// The XML format.
pub const FORMAT: Format = Format {
    name: "xml",
    extension: "xml",
    title: "Figures (XML)",
    is_folder: false,
    shows_history: false,
    suits: |_| true,
    render: |document, _| Ok(Rendered::Text(render(document))),
};

/// Renders one XML document. Its root is `<benchmark>` if there is one subject, otherwise `<benchmarks>`.
pub fn render(document: &Document) -> String {
    let benchmarks = benchmarks(document);
    xml(document, &benchmarks, benchmarks.len() != 1)
}

/// Renders one XML document per subject, with `<benchmark>` as the root, as the earlier tools expect.
pub fn per_subject(document: &Document) -> Vec<File> {
    let file = |(i, benchmark): (usize, Benchmark)| File {
        name: format!("{:02}-{}.xml", i + 1, file_name(&benchmark.name())),
        text: xml(document, &[benchmark], false),
    };
    benchmarks(document)
        .into_iter()
        .enumerate()
        .map(file)
        .collect()
}

/// The results of one subject on one target.
struct Benchmark<'d> {
    subject: &'d str,
    target: &'d str,
    rows: Vec<&'d Row>,
}

/// Groups the rows by subject and target, in the order of their first occurrence. The rows of gates
/// are omitted, because other tools would take a gate for a subject.
fn benchmarks(document: &Document) -> Vec<Benchmark<'_>> {
    let mut all: Vec<Benchmark> = Vec::new();
    for row in document.rows.iter().filter(|row| !row.is_gate()) {
        let (subject, target) = (row.subject.as_str(), row.target.as_str());
        let same = all
            .iter_mut()
            .find(|b| (b.subject, b.target) == (subject, target));
        match same {
            Some(benchmark) => benchmark.rows.push(row),
            None => all.push(Benchmark {
                subject,
                target,
                rows: vec![row],
            }),
        }
    }
    all
}

impl<'d> Benchmark<'d> {
    fn name(&self) -> String {
        [self.subject, self.target].join("-")
    }

    /// Returns the maximum value of a metric as a whole number in a unit, or 0 if it is unknown.
    ///
    /// An attribute without a value must be 0. If it were missing, the earlier tools would use the
    /// value from the previous file.
    fn max_value(&self, metric: &Metric, unit: f64) -> String {
        let rows = self.rows_of(metric).into_iter();
        let values = rows.filter_map(|row| row.value.as_ref().map(|q| q.value));
        let max_value = values.filter(|v| *v < MAX_INTEGER).fold(0.0, f64::max);
        ((max_value / unit) as u64).to_string()
    }

    /// Returns [`Benchmark::max_value`] if the metric was measured at a single point, otherwise 0.
    ///
    /// The format has room for only one value.
    fn only(&self, metric: &Metric, unit: f64) -> String {
        if self.rows_of(metric).len() == 1 {
            self.max_value(metric, unit)
        } else {
            "0".into()
        }
    }

    fn rows_of(&self, metric: &Metric) -> Vec<&'d Row> {
        let rows = self.rows.iter().copied();
        rows.filter(|row| row.metric == *metric).collect()
    }

    /// Returns the mean times, as the format expects. A point without a mean has the typical time
    /// instead.
    fn times(&self) -> Vec<&'d Row> {
        let mut times = self.rows_of(&Metric::MEAN_WALL);
        for typical in self.rows_of(&Metric::WALL) {
            let is_same_point =
                |row: &&Row| row.case == typical.case && row.params == typical.params;
            if !times.iter().any(is_same_point) {
                times.push(typical);
            }
        }
        times
    }

    /// Returns the number of timed operations at the point of a row, or 1 if it is unknown.
    fn count(&self, row: &Row) -> u64 {
        let is_same_point =
            |other: &&&Row| (&other.case, &other.params) == (&row.case, &row.params);
        let counts = self
            .rows
            .iter()
            .filter(is_same_point)
            .filter(|r| r.metric.id == "operations");
        let mut counts = counts.filter_map(|r| r.value.as_ref().map(|q| q.value as u64));
        counts.next().unwrap_or(1).max(1)
    }

    /// Builds the start tag. `costs` is true if the document contains metrics of the subjects' processes.
    fn tag(&self, costs: bool) -> BytesStart<'static> {
        let costs = costs.then(|| {
            [
                ("threads", self.max_value(&Metric::THREADS, 1.0)),
                ("rss_size", self.only(&Metric::MEMORY, 1024.0)),
                (
                    "peak_rss_size",
                    self.max_value(&Metric::PEAK_MEMORY, 1024.0),
                ),
                ("user_time", self.only(&Metric::USER_CPU, 1e6)),
                ("sys_time", self.only(&Metric::SYSTEM_CPU, 1e6)),
            ]
        });
        let names = [
            ("language", self.subject.into()),
            ("driver", self.target.into()),
        ];
        tag(
            "benchmark",
            names.into_iter().chain(costs.into_iter().flatten()),
        )
    }

    fn time(&self, row: &Row) -> Option<BytesStart<'static>> {
        let time = row.value.as_ref().map(|q| q.value)?;
        let count = self.count(row);
        // Adding 0 turns -0 into 0. Other tools reject -0.
        let (time, total) = (time + 0.0, time * count as f64 + 0.0);
        (0.0..MAX_TIME).contains(&total).then(|| {
            tag(
                "time",
                [
                    ("count", count.to_string()),
                    ("time", duration(time)),
                    ("total", duration(total)),
                    ("title", title(row)),
                ],
            )
        })
    }
}

/// Formats the title of a row, which describes the point.
///
/// The earlier tools interpret a number at the end of a title as the number of rows, so the title
/// ends with the last numeric parameter.
fn title(row: &Row) -> String {
    let number = |(_, value): &(String, String)| value.parse::<f64>().is_ok();
    let last = row.params.iter().rposition(number);
    let factors = row
        .params
        .iter()
        .enumerate()
        .filter(|(i, _)| Some(*i) != last);
    let mut title = row.case.clone();
    for (_, (key, value)) in factors {
        title.push_str(&format!(" {key}={value}"));
    }
    if let Some((key, value)) = last.map(|i| &row.params[i]) {
        title.push_str(&format!(" {key} {value}"));
    }
    title
}

fn xml(document: &Document, benchmarks: &[Benchmark], wrapped: bool) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    let mut events = vec![Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None))];
    let gates = document.gates.iter().map(|gate| comment(&gate.sentence));
    events.extend(gates.map(|text| Event::Comment(BytesText::from_escaped(text))));
    if wrapped {
        events.push(Event::Start(BytesStart::new("benchmarks")));
    }
    let measured = |row: &Row| MEASURED.contains(&row.metric);
    let costs = document.rows.iter().any(measured);
    for benchmark in benchmarks {
        events.push(Event::Start(benchmark.tag(costs)));
        events.push(Event::Start(tag(
            "measures",
            [("title", document.title.clone())],
        )));
        let times = benchmark.times().into_iter();
        events.extend(
            times
                .filter_map(|row| benchmark.time(row))
                .map(Event::Empty),
        );
        events.push(Event::End(BytesEnd::new("measures")));
        events.extend(benchmark.rows.iter().map(|row| Event::Empty(figure(row))));
        events.push(Event::End(BytesEnd::new("benchmark")));
    }
    if wrapped {
        events.push(Event::End(BytesEnd::new("benchmarks")));
    }
    events.push(Event::Text(BytesText::from_escaped("\n")));
    for event in events {
        writer
            .write_event(event)
            .expect("writing to memory does not fail");
    }
    String::from_utf8_lossy(&writer.into_inner()).into_owned()
}

/// Returns a text as the content of a comment, which may not contain two hyphens in a row.
fn comment(text: &str) -> String {
    let text = clean(text).replace('&', "&amp;").replace('<', "&lt;");
    let text = text.replace('>', "&gt;").replace('-', "\u{2010}");
    format!(" {text} ")
}

/// Builds an element for a row, with the CSV columns as attributes. Empty columns are omitted.
fn figure(row: &Row) -> BytesStart<'static> {
    let fields = fields(row);
    let filled = COLUMNS
        .into_iter()
        .zip(&fields)
        .filter(|(_, f)| !matches!(f, Field::Empty));
    tag(
        "figure",
        filled.map(|(column, field)| (column, field.text())),
    )
}

fn tag<'k>(
    name: &'static str,
    attributes: impl IntoIterator<Item = (&'k str, String)>,
) -> BytesStart<'static> {
    let mut tag = BytesStart::new(name);
    for (key, value) in attributes {
        tag.push_attribute((key, legal(&value).as_str()));
    }
    tag
}

/// Formats a duration as a number, a space and a unit.
///
/// Times below one second are in microseconds with a resolution of picoseconds. The earlier tools'
/// duration type has a resolution of nanoseconds.
fn duration(ns: f64) -> String {
    if ns < 1e9 {
        format!("{:.6} us", ns / 1e3)
    } else {
        format!("{:.9} s", ns / 1e9)
    }
}

/// Replaces characters that XML 1.0 does not allow (section 2.2). Also replaces line breaks, which XML attributes do
/// not preserve.
fn legal(text: &str) -> String {
    let illegal = |c: char| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}');
    text.replace(illegal, " ")
}
