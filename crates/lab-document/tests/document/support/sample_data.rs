// SPDX-License-Identifier: Apache-2.0
//! A sample document with every kind of item, cell, unit and chart.

use lab_document::*;
use lab_model::{Decision, Metric, OnInconclusive, Unit};

/// Returns a document with every kind of content.
pub fn document() -> Document {
    let mut times = Section::new("Times");
    times.text("Typical wall time of an operation.");
    times.push(table());
    times.push(lines());
    times.push(bars());
    let mut parts = Section::folded("Breakdown of the time");
    parts.push(parts_chart());
    parts.push(heat());
    parts.push(distribution(Scale::Percentiles));
    parts.push(distribution(Scale::Linear));
    let mut method = Section::folded("How it was measured");
    method.push(Item::Facts(vec![
        ("blocks".into(), "12".into()),
        ("kernel".into(), "Linux 6.1".into()),
    ]));
    method.push(Item::List(vec![
        "The first item.".into(),
        "The second item.".into(),
    ]));
    method.push(Item::Log(vec![
        "WARN  slow disk".into(),
        "=1+2 is no formula".into(),
    ]));
    method.push(Finding::new(
        "steal",
        "The host took 3 % of the CPU time away.",
        Tone::Alarm,
    ));
    times.section(parts);
    Document {
        issues: Vec::new(),
        timeline: Vec::new(),
        title: "SQL on SQLite & <PostgreSQL>".into(),
        question: "What does a query cost in each language?".into(),
        made: "2026-11-22 15:00 UTC on lab-1".into(),
        benchlab_version: "0.9.0".into(),
        answer: Answer {
            chart: Some(forest()),
            findings: vec![
                Finding::new(
                    "select",
                    "Ada takes 1.08 times C's time (1.06 to 1.10).",
                    Tone::Worse,
                ),
                Finding::new("insert", "Ada and C are equivalent within 2 %.", Tone::Same),
            ],
            undecided: Some(
                "Java against C at insert: about 40 more blocks would decide it.".into(),
            ),
            ..Answer::default()
        },
        gates: vec![
            Gate::new(
                "time>+5%",
                "Ada",
                Decision::Failed,
                "Ada takes 1.08 times C's time (1.06 to 1.10)",
            )
            .with_value(estimate(1.06, 1.08, 1.10, Unit::Ratio))
            .with_limit(1.05, Unit::Ratio),
            Gate::new(
                "time>+5%",
                "Java | <b>",
                Decision::Inconclusive,
                "Java | <b> takes 1.04 times C's time (0.99 to 1.09)",
            )
            .with_value(estimate(0.99, 1.04, 1.09, Unit::Ratio))
            .with_limit(1.05, Unit::Ratio)
            .with_inconclusive(OnInconclusive::Warn),
        ],
        sections: vec![times, method],
        rows: rows(),
        source: "All samples are in sql.lab.".into(),
        kept: true,
    }
}

/// Returns an estimate with a level of 95 %.
pub fn estimate(low: f64, value: f64, high: f64, unit: Unit) -> Quantity {
    let precision = Precision::Within {
        low,
        high,
        level: 0.95,
    };
    Quantity {
        value,
        unit,
        precision,
    }
}

fn time(ns: f64, part: f64) -> Quantity {
    estimate(ns * (1.0 - part), ns, ns * (1.0 + part), Unit::Nanoseconds)
}

fn ratio(low: f64, value: f64, high: f64) -> Quantity {
    estimate(low, value, high, Unit::Ratio)
}

/// Returns a chart with the given texts.
pub fn chart(id: &str, title: &str, caption: &str, drawing: Drawing) -> Chart {
    Chart {
        id: id.into(),
        title: title.into(),
        caption: caption.into(),
        drawing,
    }
}

fn table() -> Table {
    let columns = [
        Column::from("subject"),
        Column::with_unit("time", Unit::Nanoseconds),
        Column::with_unit("memory", Unit::Bytes),
        Column::from("verdict"),
        Column::from("figure"),
    ];
    let mut table = Table::new("Times of select", columns);
    table.caption = "Each time is that of one query.".into();
    let memory = |mib: f64| Quantity::exact(mib * 1048576.0, Unit::Bytes);
    table.row(vec![
        "c".into(),
        time(10_600.0, 0.004).into(),
        memory(5.2).into(),
        Cell::from("baseline"),
        Quantity::exact(0.253, Unit::Share).into(),
    ]);
    table.row(vec![
        "ada".into(),
        Cell::from(time(11_448.0, 0.006)).with_note("8 % more"),
        memory(6.1).into(),
        Cell::from("slower").with_tone(Tone::Worse),
        ratio(1.06, 1.08, 1.10).into(),
    ]);
    table.row(vec![
        "=java".into(),
        Cell::default(),
        Quantity::exact(f64::NAN, Unit::Bytes).into(),
        Cell::from("failed").with_tone(Tone::Alarm),
        Quantity::exact(1234.0, Unit::Count("faults".into())).into(),
    ]);
    table.notes = vec!["Java failed with status 1.".into()];
    table
}

fn line(name: &str, color: usize, stroke: Stroke, points: Vec<(f64, Quantity)>) -> Line {
    let band = if stroke == Stroke::Model {
        Band::Hidden
    } else {
        Band::Shown
    };
    Line {
        name: name.into(),
        color,
        stroke,
        points,
        band,
    }
}

/// Returns a chart of throughput against connections, with model lines and one gap.
pub fn lines() -> Chart {
    let rate = |value: f64, part: f64| {
        let unit = Unit::PerSecond("requests".into());
        estimate(value * (1.0 - part), value, value * (1.0 + part), unit)
    };
    let sweep = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];
    let law = |one: f64, sigma: f64, kappa: f64, n: f64| {
        one * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
    };
    let mut all = Vec::new();
    let subjects = [
        ("c", 9_000.0, 0.04, 0.000_9),
        ("ada, tasks", 8_700.0, 0.05, 0.001),
        ("java", 7_000.0, 0.02, 0.000_8),
        ("python with a very long driver name", 2_000.0, 0.1, 0.004),
    ];
    for (color, (name, one, sigma, kappa)) in subjects.into_iter().enumerate() {
        let wobble = |i: usize| 1.0 + 0.02 * ((i * 7 + color * 3) % 5) as f64 - 0.04;
        let measured = sweep.iter().enumerate().map(|(i, &n)| {
            let lost = color == 2 && n == 16.0;
            let value = if lost {
                f64::NAN
            } else {
                law(one, sigma, kappa, n) * wobble(i)
            };
            (n, rate(value, 0.05))
        });
        all.push(line(name, color, Stroke::Measured, measured.collect()));
        let fine = (0..=60).map(|i| 64f64.powf(f64::from(i) / 60.0));
        let model = fine.map(|n| (n, rate(law(one, sigma, kappa, n), 0.0)));
        all.push(line(name, color, Stroke::Model, model.collect()));
    }
    let drawing = Drawing::Lines(Lines {
        x: Axis::new("connections", Unit::Count("connections".into()), Scale::Log),
        y: Axis::new(
            "requests served per second",
            Unit::PerSecond("requests".into()),
            Scale::Linear,
        ),
        lines: all,
    });
    chart(
        "throughput",
        "Throughput over connections",
        "C serves most at each number of connections.",
        drawing,
    )
}

/// Returns a chart of the time over a sweep, with two logarithmic axes.
pub fn sweep() -> Chart {
    let line = |name: &str, color, fixed: f64, each: f64| {
        let points = [1.0, 10.0, 100.0, 1000.0].map(|n| (n, time(fixed + each * n, 0.08)));
        line(name, color, Stroke::Measured, points.to_vec())
    };
    let drawing = Drawing::Lines(Lines {
        x: Axis::new("limit", Unit::Count("rows".into()), Scale::Log),
        y: Axis::new("time per operation", Unit::Nanoseconds, Scale::Log),
        lines: vec![
            line("c", NEUTRAL, 4e3, 400.0),
            line("ada", 0, 4.2e3, 420.0),
            line("java", 1, 5e3, 380.0),
            line("python", 2, 3e4, 2_000.0),
        ],
    });
    chart(
        "sweep",
        "Time over the number of rows",
        "Python takes five times as long.",
        drawing,
    )
}

/// Returns a step chart over time, whose value axis starts at the minimum value.
pub fn steps() -> Chart {
    let line = |name: &str, color, phase: usize| {
        let fraction = |i: usize| 0.2 + 0.1 * (((i + phase) * 37) % 11) as f64 / 11.0;
        let points = (0..60).map(|i| (i as f64 * 0.5e9, Quantity::exact(fraction(i), Unit::Share)));
        line(name, color, Stroke::Steps, points.collect())
    };
    let drawing = Drawing::Lines(Lines {
        x: Axis::new("since the start", Unit::Nanoseconds, Scale::Linear),
        y: Axis::new("CPU in use", Unit::Share, Scale::LinearFromLeast),
        lines: vec![line("cpu 0", 0, 0), line("cpu 1", 1, 5)],
    });
    chart(
        "steps",
        "CPU over time",
        "Both processors are used alike.",
        drawing,
    )
}

/// Returns plain bars in groups with very different sizes.
pub fn bars() -> Chart {
    let row = |name: &str, group: &str, color, ns, part| BarRow {
        name: name.into(),
        group: group.into(),
        color,
        total: time(ns, part),
        parts: vec![],
    };
    let mut rows = Vec::new();
    for (group, factor) in [("select limit=1", 1.0), ("select limit=1000", 40.0)] {
        rows.push(row("c", group, NEUTRAL, 4_200.0 * factor, 0.03));
        rows.push(row("ada", group, 0, 4_420.0 * factor, 0.05));
        rows.push(row("java", group, 1, 9_000.0 * factor, 0.3));
        rows.push(row("failed", group, 2, f64::NAN, 0.0));
    }
    let axis = Axis::new("CPU time per operation", Unit::Nanoseconds, Scale::Linear);
    let drawing = Drawing::Bars(Bars {
        axis,
        parts: vec![],
        rows,
    });
    chart(
        "cpu",
        "CPU time per operation",
        "Java uses twice the CPU time of C.",
        drawing,
    )
}

/// Returns stacked bars in two columns.
pub fn parts_chart() -> Chart {
    let mut rows = Vec::new();
    for (i, group) in [
        "select",
        "insert",
        "update",
        "a transaction of four statements",
    ]
    .iter()
    .enumerate()
    {
        for (j, name) in ["c", "ada", "java", "node with a rather long name"]
            .iter()
            .enumerate()
        {
            let base = 20_000.0 + 9_000.0 * j as f64 + 11_000.0 * i as f64;
            let part = |part, fraction: f64| BarPart {
                part,
                value: time(base * fraction, 0.0),
            };
            rows.push(BarRow {
                name: (*name).into(),
                group: (*group).into(),
                color: 0,
                total: time(base, 0.06),
                parts: vec![part(0, 0.3), part(1, 0.45), part(2, 0.25)],
            });
        }
    }
    let axis = Axis::new("time per operation", Unit::Nanoseconds, Scale::Linear);
    let parts = vec![
        ("client's CPU".into(), 0),
        ("server's CPU".into(), 4),
        ("waiting".into(), NEUTRAL),
    ];
    let drawing = Drawing::Bars(Bars { axis, parts, rows });
    chart(
        "parts",
        "Breakdown of the time of an operation",
        "The server takes nearly half of it.",
        drawing,
    )
}

/// Returns a forest plot of ratios with every tone.
pub fn forest() -> Chart {
    let row = |name: &str, value, tone, label: &str| ForestRow {
        name: name.into(),
        value,
        tone,
        label: label.into(),
    };
    let groups = vec![
        ForestGroup {
            title: "select".into(),
            rows: vec![
                row("ada", ratio(1.06, 1.08, 1.10), Tone::Worse, ""),
                row("go", ratio(0.86, 0.88, 0.91), Tone::Better, "0.88, faster"),
                row("c (control)", ratio(0.992, 1.001, 1.011), Tone::Same, ""),
            ],
        },
        ForestGroup {
            title: "insert with a transaction for each of the rows".into(),
            rows: vec![
                row("ada", ratio(0.96, 1.03, 1.12), Tone::Inconclusive, ""),
                row(
                    "java on PostgreSQL through the JDBC driver",
                    ratio(1.3, 2.2, 90.0),
                    Tone::Worse,
                    "",
                ),
                row(
                    "python",
                    ratio(f64::NEG_INFINITY, f64::NAN, f64::INFINITY),
                    Tone::Alarm,
                    "failed",
                ),
            ],
        },
    ];
    let axis = Axis::new("time divided by C's time", Unit::Ratio, Scale::Log);
    let drawing = Drawing::Forest(Forest {
        axis,
        reference: 1.0,
        margin: Some(0.02),
        groups,
    });
    chart(
        "answer",
        "Time against C",
        "Ada takes 1.08 times C's time at select.",
        drawing,
    )
}

/// Returns response times that are spread around `middle`, with a long tail.
fn counts(middle: f64, seed: u64) -> Vec<(f64, u64)> {
    let value = |i: u64| middle * 1.08f64.powi(i as i32 - 8);
    let count = |i: u64| {
        let far = (i as f64 - 8.0) / 4.0;
        (20_000.0 * (-far * far).exp()) as u64 + (40 - i) / 3 + (seed * i) % 3
    };
    (0..40).map(|i| (value(i), count(i))).collect()
}

/// Returns two heat maps with a common axis.
pub fn heat() -> Chart {
    let map = |name: &str, color, base: f64| {
        let column = |i: u64| HeatColumn {
            label: format!("{} s", i * 5),
            counts: counts(base * (1.0 + 0.3 * ((i as f64) / 4.0).sin()), i),
        };
        HeatMap {
            name: name.into(),
            color,
            unit: Unit::Count("requests".into()),
            columns: (0..24).map(column).collect(),
        }
    };
    let drawing = Drawing::Heat(HeatMaps {
        axis: Axis::new("response time", Unit::Nanoseconds, Scale::Log),
        columns: "time under load".into(),
        maps: vec![map("ada", 0, 3e5), map("java", 1, 9e5)],
    });
    chart(
        "heat",
        "Distribution of response times over time",
        "Both servers slow down every two minutes.",
        drawing,
    )
}

/// Returns heat maps with a row for each hour and a column for each weekday.
pub fn week() -> Chart {
    let map = |name: &str, color, unit: Unit, value: fn(u64) -> u64| {
        let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        let column = |day: &str| HeatColumn {
            label: day.into(),
            counts: (0..24)
                .filter(|hour| (day, *hour) != ("Tue", 3))
                .map(|hour| (hour as f64, value(hour)))
                .collect(),
        };
        HeatMap {
            name: name.into(),
            color,
            unit,
            columns: days.map(column).into(),
        }
    };
    let requests = Unit::Count("requests".into());
    let maps = vec![
        map("requests", 0, requests, |hour| 100 + hour),
        map("p95", 1, Unit::Nanoseconds, |hour| 1_000_000 * (hour + 1)),
    ];
    let drawing = Drawing::Heat(HeatMaps {
        axis: Axis::new("hour", Unit::Count("".into()), Scale::Linear),
        columns: "weekday".into(),
        maps,
    });
    chart(
        "week",
        "The hours of the week",
        "Weekdays and hours.",
        drawing,
    )
}

/// Returns the distributions of three servers.
pub fn distribution(shares: Scale) -> Chart {
    let line = |name: &str, color, middle| DistributionLine {
        name: name.into(),
        color,
        counts: counts(middle, 2),
    };
    let drawing = Drawing::Distribution(Distribution {
        values: Axis::new("response time", Unit::Nanoseconds, Scale::Log),
        shares,
        lines: vec![
            line("c", NEUTRAL, 2.9e5),
            line("ada", 0, 3e5),
            line("java", 1, 9e5),
        ],
    });
    let id = if shares == Scale::Linear {
        "spread"
    } else {
        "percentiles"
    };
    chart(
        id,
        "Response time by percentile",
        "Ninety-nine of a hundred requests to Ada take less than 0.6 ms.",
        drawing,
    )
}

/// Returns a row with only its names and its metric.
pub fn row(subject: &str, case: &str, metric: Metric) -> Row {
    Row {
        samples: Vec::new(),
        run: "2026-11-22-sql".into(),
        subject: subject.into(),
        role: String::new(),
        target: "sqlite".into(),
        case: case.into(),
        params: vec![],
        metric,
        value: None,
        ratio: None,
        p: None,
        verdict: String::new(),
        blocks: Some(12),
        note: String::new(),
    }
}

fn rows() -> Vec<Row> {
    let point = |limit: &str| {
        vec![
            ("statement".into(), "prepared".into()),
            ("limit".into(), limit.into()),
        ]
    };
    vec![
        Row {
            role: "baseline".into(),
            params: point("1"),
            value: Some(time(4_200.5, 0.01)),
            ..row("c", "select", Metric::WALL)
        },
        Row {
            params: point("1"),
            value: Some(time(4_536.0, 0.01)),
            ratio: Some(ratio(1.06, 1.08, 1.10)),
            p: Some(0.000_488_281_25),
            verdict: "slower".into(),
            ..row("ada", "select", Metric::WALL)
        },
        Row {
            params: point("1000"),
            value: Some(time(448_000.0, 0.02)),
            ..row("ada", "select", Metric::WALL)
        },
        Row {
            value: Some(estimate(0.0, 0.1, 0.2, Unit::Count("faults".into()))),
            ..row("ada", "select", Metric::MAJOR_FAULTS)
        },
        Row {
            value: Some(Quantity::exact(6_291_456.0, Unit::Bytes)),
            ..row("ada", "", Metric::PEAK_MEMORY)
        },
        Row {
            value: Some(Quantity::exact(2.0, Unit::Count("threads".into()))),
            ..row("ada", "", Metric::THREADS)
        },
        Row {
            value: Some(estimate(
                39_000.0,
                41_000.0,
                43_000.0,
                Unit::PerSecond("requests".into()),
            )),
            ..row("-ada", "get", Metric::THROUGHPUT)
        },
        Row {
            params: point("1"),
            blocks: None,
            note: "failed: \"no, such\" driver\nstatus 1".into(),
            ..row("=java()", "select", Metric::WALL)
        },
    ]
}
