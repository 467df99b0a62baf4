// SPDX-License-Identifier: Apache-2.0
//! What is on each sheet of the workbook.

use super::charts::{bar_chart, colour, sweep_chart};
use super::sheet::{Sheet, Value};
use crate::Report;
use crate::answer::answer;
use crate::content;
use crate::table::{Cell, Table};
use crate::view::{Standing, View, verdict_word};
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::Interval;
use rust_xlsxwriter::ChartSolidFill;

pub fn summary(view: &View) -> Sheet {
    let mut sheet = Sheet {
        prose: true,
        ..Sheet::default()
    };
    let mut say = |name: &str, value: Value| sheet.rows.push(vec![name.into(), value]);
    origin(view, &mut say);
    say("Answer", answer(view.report).into());
    for warning in view.warnings() {
        say(
            &format!("Warning: {}", warning.kind),
            warning.text.as_str().into(),
        );
    }
    for failure in &view.run.failures {
        let at = view.at(failure.point);
        let what = format!("{}{at}: {}", failure.kind, failure.message);
        say(
            &format!("Failed: {}", view.name(failure.subject)),
            what.into(),
        );
    }
    sheet.rows.push(Vec::new());
    sheet.headings.push(sheet.rows.len());
    sheet.rows.push(
        [
            "Subject",
            "Ratio (geometric mean)",
            "low",
            "high",
            "level",
            "points",
        ]
        .map(Value::from)
        .into(),
    );
    for overall in &view.analysis.overall {
        let mut row = vec![view.name(overall.subject).into()];
        row.extend(leveled(&overall.ratio));
        row.push(overall.points.into());
        sheet.rows.push(row);
    }
    sheet
}

/// What was asked, when, and how it was measured.
pub fn origin(view: &View, say: &mut impl FnMut(&str, Value)) {
    say("Experiment", view.plan.title.as_str().into());
    if !view.plan.question.is_empty() {
        say("Question", view.plan.question.as_str().into());
    }
    say("Started", content::started(view.run).into());
    say("Run file", view.report.file.into());
    say("Lab version", view.run.lab_version.as_str().into());
    say("Blocks", view.analysis.blocks.into());
    say("Blocks redone", view.analysis.disturbed_blocks.into());
    say("Level asked for", view.analysis.level.into());
    say("Margin", view.analysis.margin.into());
    say("Baseline", view.baseline().into());
}

/// A table's headings and cells as text.
pub fn texts(table: &Table) -> Vec<Vec<Value>> {
    let head = table.columns.iter().map(|c| c.title.as_str().into());
    let mut rows: Vec<Vec<Value>> = vec![head.collect()];
    let row = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.as_str().into()).collect();
    rows.extend(table.rows.iter().map(row));
    rows
}

pub fn times(view: &View) -> Sheet {
    let op = view.words.op;
    let headings = [
        "Subject",
        "Case",
        "Factors",
        "Sweep",
        "x",
        "Status",
        "Blocks",
        &format!("Wall time (ns/{op})"),
        "low (ns)",
        "high (ns)",
        "level",
        &format!("Whole wall time (ns/{op})"),
        "low (ns)",
        "high (ns)",
        &format!("CPU time (ns/{op})"),
        "low (ns)",
        "high (ns)",
        &format!("Whole CPU time (ns/{op})"),
        "low (ns)",
        "high (ns)",
        &format!("First {}, one reading (ns)", view.words.operation),
    ];
    let mut sheet = Sheet::new(&headings, 2);
    for (point, subject) in pairs(view) {
        let mut row = place(view, subject, point);
        match view.standing(subject, point) {
            Standing::Missing(why) => row.push(why.into()),
            Standing::Unable => row.push("cannot do it".into()),
            Standing::Apart(_, why) => row.push(why.into()),
            _ => row.push("measured".into()),
        }
        if let Some(cell) = view.cell(subject, point) {
            row.push(cell.blocks.into());
            row.extend(leveled(&cell.wall_ns));
            row.extend(
                [&cell.whole_wall_ns, &cell.cpu_ns, &cell.whole_cpu_ns]
                    .into_iter()
                    .flat_map(bounds),
            );
            row.push(
                cell.cold_ns
                    .map_or(Value::Blank, |ns| Value::Number(ns as f64)),
            );
        }
        sheet.rows.push(row);
    }
    sheet
}

pub fn comparisons(view: &View) -> Sheet {
    let ratio = format!("Wall time / {}'s", view.baseline());
    let whole = format!("Whole wall time / {}'s", view.baseline());
    let cpu = format!("CPU time / {}'s", view.baseline());
    let headings = [
        "Subject", "Case", "Factors", "Sweep", "x", "Verdict", "Blocks", &ratio, "low", "high",
        "level", "p (Holm)", &whole, "low", "high", &cpu, "low", "high",
    ];
    let mut sheet = Sheet::new(&headings, 2);
    for comparison in &view.analysis.comparisons {
        let mut row = place(view, comparison.subject, comparison.point);
        row.push(verdict_word(&comparison.verdict).into());
        row.push(comparison.blocks.into());
        row.extend(leveled(&comparison.ratio));
        row.push(comparison.p.into());
        row.extend(bounds(&comparison.whole_ratio));
        row.extend(bounds(&comparison.cpu_ratio));
        sheet.rows.push(row);
    }
    for control in &view.analysis.controls {
        let Some(subject) = view.plan.control() else {
            continue;
        };
        let mut row = place(view, subject, control.point);
        row.push(
            if control.met {
                "noise floor met"
            } else {
                "noise floor not met"
            }
            .into(),
        );
        row.push(view.analysis.blocks.into());
        row.extend(leveled(&control.ratio));
        sheet.rows.push(row);
    }
    sheet
}

pub fn fits(view: &View) -> Sheet {
    let headings = [
        "Subject",
        "Case",
        "Factors",
        "Fixed (ns)",
        "low (ns)",
        "high (ns)",
        "level",
        "Marginal (ns per unit)",
        "low (ns)",
        "high (ns)",
        "Unit",
        "Worst residual (part)",
        "Curved",
    ];
    let mut sheet = Sheet::new(&headings, 2);
    for fit in &view.analysis.fits {
        let Some(case) = view.plan.cases.get(fit.case) else {
            continue;
        };
        let mut row = vec![
            view.name(fit.subject).into(),
            case.name.as_str().into(),
            join(fit.factors.iter()).into(),
        ];
        row.extend(leveled(&fit.fixed_ns));
        row.extend(bounds(&fit.marginal_ns));
        row.extend([
            case.unit.as_str().into(),
            fit.worst_residual.into(),
            if fit.curved { "yes" } else { "no" }.into(),
        ]);
        sheet.rows.push(row);
    }
    sheet
}

pub fn factors(view: &View) -> Sheet {
    let headings = [
        "Subject",
        "Factor",
        "From",
        "To",
        "Time(to) / time(from)",
        "low",
        "high",
        "level",
    ];
    let mut sheet = Sheet::new(&headings, 1);
    for effect in &view.analysis.factors {
        let mut row: Vec<Value> = vec![
            view.name(effect.subject).into(),
            effect.factor.as_str().into(),
        ];
        row.extend([
            view.plan.label(effect.from).into(),
            view.plan.label(effect.to).into(),
        ]);
        row.extend(leveled(&effect.ratio));
        sheet.rows.push(row);
    }
    sheet
}

pub fn resources(view: &View) -> Sheet {
    let headings = [
        "Subject",
        "Resident memory (bytes)",
        "low",
        "high",
        "Peak resident memory (bytes)",
        "low",
        "high",
        "Start-up (ns)",
        "low",
        "high",
        "Threads (most seen)",
        "Resident (MiB)",
        "Peak (MiB)",
    ];
    let mut sheet = Sheet::new(&headings, 1);
    for print in &view.analysis.footprints {
        let mut row = vec![view.name(print.subject).into()];
        row.extend(
            [&print.rss_bytes, &print.peak_rss_bytes, &print.startup_ns]
                .into_iter()
                .flat_map(bounds),
        );
        let mib = |i: &Interval| Value::from(i.estimate / f64::from(1 << 20));
        row.extend([
            print.threads.into(),
            mib(&print.rss_bytes),
            mib(&print.peak_rss_bytes),
        ]);
        sheet.rows.push(row);
    }
    let last = view.analysis.footprints.len() as u32;
    if last > 0 {
        let mut chart = bar_chart("Memory", "MiB");
        for column in [11, 12] {
            let series = chart.add_series().set_name(("Resources", 0, column));
            series
                .set_categories(("Resources", 1, 0, last, 0))
                .set_values(("Resources", 1, column, last, column));
        }
        sheet.charts.push((last + 3, 1, chart));
    }
    sheet
}

/// CPU time by point and subject; a chart of its ratio to the baseline's, which has one scale for all.
pub fn cpu(view: &View) -> Sheet {
    let subjects: Vec<SubjectId> = view.shown();
    let mut headings = vec!["Point".to_string()];
    headings.extend(
        subjects
            .iter()
            .map(|&s| format!("{} (ns CPU/op)", view.name(s))),
    );
    let compared: Vec<SubjectId> = subjects
        .iter()
        .copied()
        .filter(|&s| s != view.plan.baseline)
        .collect();
    headings.extend(
        compared
            .iter()
            .map(|&s| format!("{} / {}", view.name(s), view.baseline())),
    );
    let mut sheet = Sheet::new(&headings.iter().map(String::as_str).collect::<Vec<_>>(), 1);
    for point in 0..view.plan.points.len() {
        let mut row = vec![view.plan.label(point).into()];
        row.extend(subjects.iter().map(|&s| {
            view.cell(s, point)
                .map_or(Value::Blank, |c| c.cpu_ns.estimate.into())
        }));
        let ratio = |&s: &SubjectId| {
            view.comparison(s, point)
                .map_or(Value::Blank, |c| c.cpu_ratio.estimate.into())
        };
        row.extend(compared.iter().map(ratio));
        sheet.rows.push(row);
    }
    let last = view.plan.points.len() as u32;
    let mut chart = bar_chart(
        "CPU time of an operation",
        &format!("multiple of {}'s", view.baseline()),
    );
    chart
        .set_width(720)
        .set_height(120 + 18 * last * compared.len().max(1) as u32);
    for (i, &subject) in compared.iter().enumerate() {
        let column = (1 + subjects.len() + i) as u16;
        let series = chart.add_series().set_name(view.name(subject));
        series.set_format(ChartSolidFill::new().set_color(colour(view, subject)));
        series
            .set_categories(("CPU", 1, 0, last, 0))
            .set_values(("CPU", 1, column, last, column));
    }
    if !compared.is_empty() && last > 0 {
        sheet.charts.push((last + 3, 1, chart));
    }
    sheet
}

/// Time over each sweep, a chart of each, both axes logarithmic.
pub fn sweeps(view: &View) -> Sheet {
    let mut sheet = Sheet {
        frozen: 1,
        ..Sheet::default()
    };
    for group in view.groups().iter().filter(|g| g.points.len() > 1) {
        let begin = sheet.rows.len();
        sheet.headings.push(begin);
        let subjects: Vec<SubjectId> = view.shown();
        let sweep = view.plan.cases[group.case].sweep.as_deref();
        let label = match view.group_label(group) {
            label if label.is_empty() => sweep.unwrap_or_default().into(),
            label => label,
        };
        let mut headings: Vec<Value> = vec![label.into()];
        for &subject in &subjects {
            let name = view.name(subject);
            headings.extend(
                [
                    format!("{name} (ns/{})", view.words.op),
                    format!("{name} below (ns)"),
                    format!("{name} above (ns)"),
                ]
                .map(Value::from),
            );
        }
        sheet.rows.push(headings);
        for &point in &group.points {
            let mut row = vec![view.plan.points[point].x.map_or(Value::Blank, Value::from)];
            row.extend(subjects.iter().flat_map(|&s| error_bar(view, s, point)));
            sheet.rows.push(row);
        }
        let chart = sweep_chart(view, group, &subjects, begin as u32);
        sheet
            .charts
            .push((begin as u32 + 1 + group.points.len() as u32 + 1, 1, chart));
        // Room for the chart before the next group.
        sheet.rows.extend(std::iter::repeat_with(Vec::new).take(24));
    }
    sheet
}

fn error_bar(view: &View, subject: SubjectId, point: PointId) -> [Value; 3] {
    match view.cell(subject, point).map(|c| c.wall_ns) {
        Some(i) => [
            i.estimate.into(),
            (i.estimate - i.low).into(),
            (i.high - i.estimate).into(),
        ],
        None => [Value::Blank, Value::Blank, Value::Blank],
    }
}

pub fn conditions(view: &View) -> Sheet {
    let (differing, same) = content::conditions(view);
    let mut sheet = Sheet {
        frozen: 1,
        ..Sheet::default()
    };
    sheet.rows = texts(&differing);
    let mut say = |what: &str, value: &str| sheet.rows.push(vec![what.into(), value.into()]);
    same.iter()
        .for_each(|setting| say("the same for all", setting));
    host_and_method(view, &content::method(view), &mut sheet);
    sheet
}

/// The host's facts and findings, and how it was measured.
pub fn host_and_method(view: &View, method: &[String], sheet: &mut Sheet) {
    let mut say = |what: &str, value: &str| sheet.rows.push(vec![what.into(), value.into()]);
    view.report
        .run
        .host
        .facts
        .iter()
        .for_each(|(name, value)| say(name, value));
    for finding in &view.run.host.findings {
        say(
            if finding.unfit {
                "host not fit"
            } else {
                "host"
            },
            &format!("{} {}", finding.what, finding.advice),
        );
    }
    method.iter().for_each(|sentence| say("method", sentence));
}

pub fn imported(report: &Report) -> Sheet {
    let headings = [
        "Run",
        "Language",
        "Driver",
        "Title",
        "Count",
        "Time, one reading (ns/op)",
        "Total (ns)",
    ];
    let mut sheet = Sheet::new(&headings, 1);
    for run in std::iter::once(report.run).chain(report.others) {
        for import in &run.imports {
            for time in &import.times {
                let mut row: Vec<Value> =
                    [&run.name, &import.language, &import.driver, &time.title]
                        .map(|t| t.as_str().into())
                        .into();
                row.extend([time.count as f64, time.time_ns, time.total_ns].map(Value::from));
                sheet.rows.push(row);
            }
        }
    }
    sheet
}

/// Every subject at every point, by point.
pub fn pairs(view: &View) -> impl Iterator<Item = (PointId, SubjectId)> {
    let subjects = view.plan.subjects.len();
    (0..view.plan.points.len())
        .flat_map(move |point| (0..subjects).map(move |subject| (point, subject)))
}

/// Subject, case, factors, sweep and x.
pub fn place(view: &View, subject: SubjectId, point: PointId) -> Vec<Value> {
    let (case, what) = (view.plan.case(point), &view.plan.points[point]);
    vec![
        view.name(subject).into(),
        case.name.as_str().into(),
        join(what.factors(case)).into(),
        case.sweep.as_deref().unwrap_or("").into(),
        what.x.map_or(Value::Blank, Value::from),
    ]
}

fn join<'f>(factors: impl Iterator<Item = &'f (String, String)>) -> String {
    factors
        .map(|(key, value)| format!("{key}={value}"))
        .collect::<Vec<_>>()
        .join(" ")
}

pub fn bounds(interval: &Interval) -> [Value; 3] {
    [
        interval.estimate.into(),
        interval.low.into(),
        interval.high.into(),
    ]
}

pub fn leveled(interval: &Interval) -> [Value; 4] {
    let [estimate, low, high] = bounds(interval);
    [estimate, low, high, interval.level.into()]
}
