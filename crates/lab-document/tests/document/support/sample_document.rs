// SPDX-License-Identifier: Apache-2.0
//! Sample documents: one with every kind of content, and one with hostile text.

use super::sample_data::chart;
use lab_document::{
    Answer, Axis, Band, BarPart, BarRow, Bars, Cell, Chart, Column, Distribution, DistributionLine,
    Document, Drawing, Finding, Forest, ForestGroup, ForestRow, HeatColumn, HeatMap, HeatMaps,
    Item, Line, Lines, Precision, Quantity, Scale, Section, Stroke, Table, Tone,
};
use lab_model::Unit;

/// A text that a malicious run file might contain.
pub const HOSTILE: &str =
    "<script>alert('x')</script> \"&amp; `*_[a](javascript:b)|\\ \x1b[31m\u{202e}lautriv\r\n# no";

pub fn within(value: f64, low: f64, high: f64, unit: Unit) -> Quantity {
    let level = 0.95;
    let precision = Precision::Within { low, high, level };
    Quantity {
        value,
        unit,
        precision,
    }
}

pub fn without_interval(value: f64, unit: Unit) -> Quantity {
    let precision = Precision::Within {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
        level: 0.0,
    };
    Quantity {
        value,
        unit,
        precision,
    }
}

fn ratio(value: f64, low: f64, high: f64) -> Quantity {
    within(value, low, high, Unit::Ratio)
}

fn requests() -> Unit {
    Unit::PerSecond("requests".into())
}

/// Returns ratios to a baseline in two groups. One subject has no interval, and another is
/// inconclusive.
pub fn forest() -> Chart {
    let groups = vec![
        ForestGroup {
            title: "connect".into(),
            rows: vec![
                ForestRow::new("go", ratio(0.632, 0.611, 0.657), Tone::Better),
                ForestRow::new("rust", ratio(0.88, 0.79, 1.04), Tone::Inconclusive),
                ForestRow::new(
                    "c (baseline)",
                    Quantity::exact(1.0, Unit::Ratio),
                    Tone::Plain,
                ),
                ForestRow::new(
                    "python with psycopg and a long name",
                    ratio(3.1, 2.2, 190.0),
                    Tone::Worse,
                ),
            ],
        },
        ForestGroup {
            title: "select 1".into(),
            rows: vec![
                ForestRow::new(
                    "c (baseline)",
                    Quantity::exact(1.0, Unit::Ratio),
                    Tone::Plain,
                ),
                ForestRow::new("rust", ratio(1.004, 0.998, 1.011), Tone::Same),
                ForestRow::new("go", ratio(1.21, 1.18, 1.24), Tone::Worse),
                ForestRow::new(
                    "node",
                    without_interval(2.4, Unit::Ratio),
                    Tone::Inconclusive,
                ),
            ],
        },
    ];
    let drawing = Drawing::Forest(Forest {
        axis: Axis::new("time, as a multiple of c's", Unit::Ratio, Scale::Log),
        reference: 1.0,
        margin: Some(0.02),
        groups,
    });
    let caption = "Time of an operation, as a multiple of the time that c takes: less is better.";
    chart("answer", "Time compared with c's", caption, drawing)
}

pub fn bars() -> Chart {
    let row = |name: &str, group: &str, total: Quantity| BarRow {
        name: name.into(),
        group: group.into(),
        color: 0,
        total,
        parts: Vec::new(),
    };
    let bytes = |mib: f64| mib * f64::from(1 << 20);
    let memory = |value, low, high| within(bytes(value), bytes(low), bytes(high), Unit::Bytes);
    let drawing = Drawing::Bars(Bars {
        axis: Axis::new("peak memory", Unit::Bytes, Scale::Linear),
        parts: Vec::new(),
        rows: vec![
            row("c", "native", memory(4.2, 4.15, 4.25)),
            row("rust", "native", memory(6.0, 5.0, 7.4)),
            row("java", "managed", memory(190.0, 150.0, 240.0)),
            row("node", "managed", Quantity::exact(bytes(81.3), Unit::Bytes)),
        ],
    });
    chart(
        "memory",
        "Peak memory",
        "Native programs need a twentieth of the memory.",
        drawing,
    )
}

pub fn parts() -> Chart {
    let row = |name: &str, parts: [f64; 3]| {
        let time = |value| Quantity::exact(value, Unit::Nanoseconds);
        let bar_parts = parts.into_iter().enumerate();
        BarRow {
            name: name.into(),
            group: String::new(),
            color: 0,
            total: time(parts.iter().sum()),
            parts: bar_parts
                .map(|(part, value)| BarPart {
                    part,
                    value: time(value),
                })
                .collect(),
        }
    };
    let part = |(i, name): (usize, &str)| (name.to_owned(), i);
    let drawing = Drawing::Bars(Bars {
        axis: Axis::new("CPU time of an operation", Unit::Nanoseconds, Scale::Linear),
        parts: ["user", "system", "server"]
            .into_iter()
            .enumerate()
            .map(part)
            .collect(),
        rows: vec![
            row("c", [40e3, 10e3, 120e3]),
            row("java", [120e3, 0.0, 125e3]),
        ],
    });
    chart(
        "cpu",
        "Where CPU time goes",
        "The server needs most of it.",
        drawing,
    )
}

pub fn lines() -> Chart {
    let line = |name: &str, color, peak: f64| {
        let connections = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
        let rate = |c: f64| peak * c / (c + 8.0);
        let point = |c: f64| {
            (
                c,
                within(rate(c), rate(c) * 0.97, rate(c) * 1.03, requests()),
            )
        };
        Line {
            name: name.into(),
            color,
            stroke: Stroke::Measured,
            points: connections.map(point).to_vec(),
            band: Band::Shown,
        }
    };
    let mut short = line("java, up to 8 connections", 2, 30_000.0);
    short.points.truncate(4);
    let drawing = Drawing::Lines(Lines {
        x: Axis::new("connections", Unit::Count("connections".into()), Scale::Log),
        y: Axis::new("throughput", requests(), Scale::Linear),
        lines: vec![line("ada", 0, 52_000.0), line("rust", 1, 61_000.0), short],
    });
    chart(
        "scaling",
        "Throughput over connections",
        "Throughput grows up to 64 connections.",
        drawing,
    )
}

fn counts(middle: f64) -> Vec<(f64, u64)> {
    let steps = (0..12).map(|i| 1.3f64.powi(i - 4));
    let heights = [1, 4, 20, 90, 240, 130, 60, 22, 9, 4, 2, 1];
    steps
        .zip(heights)
        .map(|(step, count)| (middle * step, count))
        .collect()
}

pub fn heat() -> Chart {
    let columns = (0..20).map(|second| HeatColumn {
        label: second.to_string(),
        counts: counts(200e3 * (1.0 + f64::from(second % 7))),
    });
    let map = HeatMap {
        name: "ada".into(),
        color: 0,
        unit: Unit::Count("requests".into()),
        columns: columns.collect(),
    };
    let drawing = Drawing::Heat(HeatMaps {
        axis: Axis::new("latency", Unit::Nanoseconds, Scale::Log),
        columns: "seconds since the start".into(),
        maps: vec![map],
    });
    chart(
        "heat",
        "Latency over time",
        "Latency grows every seven seconds.",
        drawing,
    )
}

pub fn distribution() -> Chart {
    let line = |name: &str, color, middle| DistributionLine {
        name: name.into(),
        color,
        counts: counts(middle),
    };
    let drawing = Drawing::Distribution(Distribution {
        values: Axis::new("latency", Unit::Nanoseconds, Scale::Log),
        shares: Scale::Percentiles,
        lines: vec![line("ada", 0, 210e3), line("rust", 1, 190e3)],
    });
    chart(
        "latency",
        "Latency",
        "One request in a thousand takes ten times as long.",
        drawing,
    )
}

fn times() -> Table {
    let time = |value, low, high| within(value, low, high, Unit::Nanoseconds);
    let columns = vec![
        Column::from("subject"),
        Column::with_unit("time", Unit::Nanoseconds),
        Column::with_unit("system", Unit::Nanoseconds),
        Column::with_unit("memory", Unit::Bytes),
        Column::with_unit("compared with c", Unit::Ratio),
        Column::with_unit("threads", Unit::Count("threads".into())),
        Column::from("verdict"),
    ];
    let mut table = Table::new("Select 1", columns);
    table.caption = "Less is better in all columns.".into();
    table.row(vec![
        "c".into(),
        time(229e3, 227e3, 231e3).into(),
        time(0.0, 0.0, 549_917.0).into(),
        Quantity::exact(4.4e6, Unit::Bytes).into(),
        Quantity::exact(1.0, Unit::Ratio).into(),
        Quantity::exact(1.0, Unit::Count("threads".into())).into(),
        "baseline".into(),
    ]);
    table.row(vec![
        "go".into(),
        Cell::from(time(3.4e6, 1.8e6, 3.41e6)).with_note("two of 12 blocks redone"),
        time(3_000.0, 1_000.0, 90_000.0).into(),
        Quantity::exact(12.0e6, Unit::Bytes).into(),
        ratio(14.8, 7.9, 14.9).into(),
        Quantity::exact(12.0, Unit::Count("threads".into())).into(),
        Cell::from("slower").with_tone(Tone::Worse),
    ]);
    table.row(vec![
        "node".into(),
        without_interval(3.41e6, Unit::Nanoseconds).into(),
        Cell::default(),
        Quantity::exact(81e6, Unit::Bytes).into(),
        without_interval(14.9, Unit::Ratio).into(),
        Cell::default(),
        Cell::from("no interval").with_tone(Tone::Inconclusive),
    ]);
    table.notes = vec!["The server's CPU time is charged to the query.".into()];
    table
}

/// Returns a table with more columns than rows, which fits 80 columns when transposed.
fn versions() -> Table {
    let columns = [
        "subject",
        "driver",
        "library",
        "compiler",
        "runtime",
        "isolation",
        "page size",
    ];
    let mut table = Table::new("Versions", columns);
    table.row(vec![
        "c".into(),
        "libpq".into(),
        "PostgreSQL 15.8".into(),
        "GCC 12.2.0".into(),
        Cell::default(),
        "read committed".into(),
        Quantity::exact(8192.0, Unit::Bytes).into(),
    ]);
    table.row(vec![
        "java".into(),
        "pgjdbc 42.7.4".into(),
        "none".into(),
        "javac 17.0.12".into(),
        "OpenJDK 17.0.12".into(),
        "read committed".into(),
        Quantity::exact(8192.0, Unit::Bytes).into(),
    ]);
    table
}

fn wide() -> Table {
    let columns = (1..=14).map(|i| Column::with_unit(format!("{} rows", i * i), Unit::Nanoseconds));
    let columns = std::iter::once(Column::from("subject")).chain(columns);
    let mut table = Table::new("Select over rows", columns);
    for (name, factor) in [("c", 1.0), ("go", 2.3), ("java", 1.7)] {
        let cells = (1..=14).map(|i| {
            let time = f64::from(i * i) * 2e3 * factor;
            Cell::from(within(time, time * 0.98, time * 1.03, Unit::Nanoseconds))
        });
        table.named_row(name, cells);
    }
    // The table has as many rows as columns, so transposing it would not help.
    for i in 0..12 {
        let cells = std::iter::repeat_n(Cell::default(), 14);
        table.named_row(format!("failed {i}"), cells);
    }
    table
}

/// Returns a document with every kind of item, chart and tone.
pub fn rich() -> Document {
    let mut cases = Section::new("Select 1");
    cases.text("One row without a table: what the way to the server and back costs.");
    cases.push(times());
    cases.push(parts());
    cases.push(bars());
    let mut load = Section::new("Many connections");
    load.push(lines());
    load.push(distribution());
    load.push(heat());
    let mut failed = Section::new("What failed");
    failed.push(Finding::new(
        "php",
        "It failed in block 3: exited with 139.",
        Tone::Alarm,
    ));
    failed.push(Item::Log(vec![
        "PHP Warning:  Undefined array key".into(),
        "Segmentation fault".into(),
    ]));
    failed.push(Finding::new(
        "few blocks",
        "12 blocks decide less than 20 would.",
        Tone::Inconclusive,
    ));
    let mut method = Section::folded("How it was measured");
    method.text("Subjects took turns of 1 ms on the same core.");
    method.push(Item::List(vec![
        "12 blocks".into(),
        "40 pairs of passes in each block".into(),
    ]));
    let mut host = Section::folded("The host");
    host.push(Item::Facts(vec![
        ("Processor".into(), "AMD EPYC, 2 cores".into()),
        ("Kernel".into(), "Linux 6.1".into()),
    ]));
    host.push(versions());
    method.section(host);
    let mut figures = Section::folded("All figures");
    figures.push(wide());
    let mut document = Document {
        title: "SQL drivers".into(),
        question: "Which language's PostgreSQL driver costs least, and by how much?".into(),
        made: "22 November 2026, 12:10, 12 blocks, 2 cores".into(),
        benchlab_version: "0.1.0".into(),
        answer: Answer {
            chart: Some(forest()),
            findings: vec![
                Finding::new(
                    "connect",
                    "Go connects fastest: 0.63 times c's time (0.61 to 0.66).",
                    Tone::Better,
                ),
                Finding::new(
                    "select 1",
                    "Rust is equivalent to c within 2 %. Go takes 1.21 times as long (1.18 to 1.24).",
                    Tone::Worse,
                ),
            ],
            undecided: Some(
                "Rust against c in connect. About 6 more minutes would decide it.".into(),
            ),
            ..Answer::default()
        },
        source: "Every sample is in runs/2026-11-22T12-10-sql.lab.".into(),
        ..Document::default()
    };
    for section in [cases, load, failed, method, figures] {
        document.section(section);
    }
    document
}

/// Returns a document with long and hostile texts everywhere.
pub fn hostile() -> Document {
    let text = || HOSTILE.repeat(2);
    let mut table = Table::new(text(), [text(), text(), text()]);
    table.caption = text();
    table.notes = vec![text()];
    table.row(vec![
        Cell::from(text()).with_note(text()).with_tone(Tone::Alarm),
        Quantity::exact(1.0, Unit::PerSecond(text().into())).into(),
        text().into(),
    ]);
    let mut section = Section::new(text());
    section.text(text());
    section.push(Item::List(vec![text(), "x".repeat(300)]));
    section.push(Item::Facts(vec![(text(), text())]));
    section.push(table);
    section.push(Finding::new(text(), text(), Tone::Alarm));
    section.push(Item::Log(vec![text(), "```".into(), "</details>".into()]));
    for mut chart in [forest(), bars(), parts(), lines(), heat(), distribution()] {
        chart.title = text();
        chart.caption = text();
        rename(&mut chart.drawing, &text());
        section.push(chart);
    }
    let mut inner = Section::folded(text());
    inner.text(text());
    section.section(inner);
    let mut document = Document {
        title: text(),
        question: text(),
        made: text(),
        benchlab_version: text(),
        source: text(),
        ..Document::default()
    };
    document.answer.findings = vec![Finding::new(text(), text(), Tone::Worse); 7];
    document.answer.undecided = Some(text());
    let mut answer = forest();
    rename(&mut answer.drawing, &text());
    document.answer.chart = Some(answer);
    document.section(section);
    document
}

fn rename(drawing: &mut Drawing, text: &str) {
    let axis = match drawing {
        Drawing::Forest(forest) => {
            let rows = forest.groups.iter_mut().flat_map(|group| &mut group.rows);
            rows.for_each(|row| (row.name, row.label) = (text.into(), text.into()));
            &mut forest.axis
        }
        Drawing::Bars(bars) => {
            bars.rows.iter_mut().for_each(|row| row.name = text.into());
            bars.parts.iter_mut().for_each(|part| part.0 = text.into());
            &mut bars.axis
        }
        Drawing::Lines(lines) => {
            lines
                .lines
                .iter_mut()
                .for_each(|line| line.name = text.into());
            &mut lines.y
        }
        Drawing::Heat(maps) => {
            maps.columns = text.into();
            maps.maps.iter_mut().for_each(|map| map.name = text.into());
            &mut maps.axis
        }
        Drawing::Flame(flame) => {
            flame
                .stacks
                .iter_mut()
                .for_each(|(stack, _)| stack.fill(text.into()));
            return;
        }
        Drawing::Distribution(distribution) => {
            let lines = distribution.lines.iter_mut();
            lines.for_each(|line| line.name = text.into());
            &mut distribution.values
        }
    };
    axis.title = text.into();
}
