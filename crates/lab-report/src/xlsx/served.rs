// SPDX-License-Identifier: Apache-2.0
//! The sheets of servers that the lab started: the conclusion, the servers, what a request costs them,
//! requests per second and response times with their charts, all figures, what was compared.

use super::charts::line;
use super::load as any_load;
use super::sheet::{Sheet, Value};
use super::sheets::{self, bounds, leveled, texts};
use super::targets::{append, chart_below, laws, rates};
use crate::content::load::metric_name;
use crate::content::{self, served};
use crate::load::QUANTILES;
use crate::served::{ServedView, inverted, percent_of_peak};
use crate::view::verdict_word;
use lab_model::{PointId, SubjectId};
use lab_stats::analysis::{Interval, Verdict};
use lab_stats::load::analysis::Metric;
use rust_xlsxwriter::{Chart, ChartSolidFill, ChartType};

/// Names and sheets, in order; what has no rows is left out.
pub fn sheets(view: &ServedView) -> Vec<(&'static str, Sheet)> {
    let all = [
        ("Summary", summary(view)),
        ("Servers", servers(view)),
        ("Costs", costs(view)),
        ("Throughput", throughput(view)),
        ("Response time", latency(view)),
        ("Figures", figures(view)),
        ("Compared", compared(view)),
        ("Conditions", conditions(view)),
    ];
    let all = all.into_iter();
    all.filter(|(_, sheet)| sheet.rows.len() > 1).collect()
}

fn summary(view: &ServedView) -> Sheet {
    let common = view.common();
    let mut sheet = Sheet {
        prose: true,
        ..Sheet::default()
    };
    let mut say = |name: &str, value: Value| sheet.rows.push(vec![name.into(), value]);
    sheets::origin(common, &mut say);
    for (name, text) in served::answer(view) {
        let name = if name.is_empty() { "Answer" } else { name };
        say(name, text.into());
    }
    for (name, value) in served::asked(view) {
        say(name, value.into());
    }
    for warning in common.warnings() {
        say(
            &format!("Warning: {}", warning.kind),
            warning.text.as_str().into(),
        );
    }
    for failure in &common.run.failures {
        let (first, said) = served::transcript(failure);
        let at = common.at(failure.point);
        let what = std::iter::once(format!("{}{at}: {first}", failure.kind));
        let what: Vec<String> = what.chain(said.into_iter().map(String::from)).collect();
        let name = format!("Failed: {}", common.name(failure.subject));
        say(&name, what.join("\n").into());
    }
    for refusal in served::refusals(view) {
        say("Not compared", refusal.into());
    }
    sheet
}

fn maybe(interval: Option<&Interval>) -> [Value; 3] {
    match interval {
        Some(interval) => bounds(interval),
        None => [Value::Blank, Value::Blank, Value::Blank],
    }
}

/// A row for each server, those that failed at the end, with a chart of the memory.
fn servers(view: &ServedView) -> Sheet {
    let common = view.common();
    let headings = [
        "Server",
        "Language",
        "What it is",
        "Role",
        "Workers",
        "Loops",
        "Threads (most seen)",
        "Resident memory after the load (bytes)",
        "low",
        "high",
        "over connections",
        &format!("Memory / {}'s", common.baseline()),
        "low",
        "high",
        "Verdict on memory",
        "Start-up (ns)",
        "low",
        "high",
        "First answer, one reading (ns)",
        "Status",
    ];
    let mut sheet = Sheet::new(&headings, 1);
    let servers = served::all(view);
    for &subject in &servers {
        let model = &common.plan.subjects[subject];
        let role = match () {
            () if subject == common.plan.baseline => "baseline",
            () if model.limit => "limit",
            () => "subject",
        };
        let number = |key| {
            let said = view
                .setting(subject, key)
                .and_then(|n| n.parse::<f64>().ok());
            said.map_or(Value::Blank, Value::from)
        };
        let mut row: Vec<Value> = vec![
            model.name.as_str().into(),
            model.language.as_str().into(),
            model.driver.as_str().into(),
            role.into(),
            number("workers"),
            number("loops"),
        ];
        let print = view.footprint(subject);
        let threads = print.and_then(|p| p.threads);
        row.push(threads.map_or(Value::Blank, Value::from));
        row.extend(maybe(print.and_then(|p| p.bytes.as_ref())));
        row.push(print.map_or(Value::Blank, |p| p.connections.into()));
        row.extend(maybe(print.and_then(|p| p.ratio.as_ref())));
        let verdict = print.and_then(|p| p.verdict.as_ref());
        row.push(verdict.map_or(Value::Blank, |v| served::word(v).into()));
        row.extend(maybe(print.and_then(|p| p.startup_ns.as_ref())));
        let mut pilots = common.run.pilots.iter();
        let pilot = pilots.find(|p| p.subject == subject);
        row.push(pilot.map_or(Value::Blank, |p| (p.cold_ns as f64).into()));
        row.push(match served::failure(view, subject) {
            Some(failure) => format!("failed: {}", failure.kind).into(),
            None if print.is_none() => "not measured".into(),
            None => "measured".into(),
        });
        sheet.rows.push(row);
    }
    let last = served::ranked(view).len() as u32;
    sheet.rows.push(Vec::new());
    let mut chart = Chart::new(ChartType::Bar);
    chart.title().set_name("Resident memory after the load");
    chart
        .x_axis()
        .set_name("bytes, logarithmic")
        .set_log_base(10);
    chart.y_axis().set_reverse();
    chart.legend().set_hidden();
    let height = 120 + 24 * last;
    chart.set_width(720).set_height(height);
    chart.set_alt_text("Resident memory of each server after the load");
    let series = chart.add_series().set_name("bytes");
    series.set_categories(("Servers", 1, 0, last, 0));
    series.set_values(("Servers", 1, 7, last, 7));
    if last > 0 {
        chart_below(&mut sheet, chart, height);
    }
    sheet
}

/// CPU time per request against the baseline's, and of a connection for each request.
fn costs(view: &ServedView) -> Sheet {
    let common = view.common();
    let baseline = common.baseline();
    let mut sheet = Sheet {
        frozen: 1,
        widest: Some(26),
        ..Sheet::default()
    };
    overall_chart(view, &mut sheet);
    let headings = [
        "Server",
        "Case",
        "Connections",
        "Points",
        &format!("CPU time of a request / {baseline}'s"),
        "low",
        "high",
        "level",
        &format!("Requests per CPU second / {baseline}'s"),
        "low",
        "high",
        "p",
        "Verdict on the CPU time",
        "Margin",
    ];
    let mut rows: Vec<Vec<Value>> = vec![headings.map(Value::from).into()];
    for overall in &view.load.analysis.overall {
        let alive = match overall.keep_alive {
            true => "kept alive",
            false => "with a new one for each request",
        };
        let mut row: Vec<Value> = vec![
            common.name(overall.subject).into(),
            view.case_name(overall.case).into(),
            alive.into(),
            overall.points.into(),
        ];
        row.extend(leveled(&overall.ratio));
        row.extend(bounds(&inverted(&overall.ratio)));
        row.extend([
            overall.p.into(),
            verdict_of(view, overall.subject, &overall.verdict).into(),
            overall.margin.into(),
        ]);
        rows.push(row);
    }
    append(&mut sheet, rows);
    let headings = [
        "Server",
        "Case",
        "A connection for each request / connections kept alive",
        "Pairs of points",
        "Ratio",
        "low",
        "high",
        "level",
    ];
    let mut rows: Vec<Vec<Value>> = vec![headings.map(Value::from).into()];
    for effect in &view.load.analysis.reconnects {
        let mut row: Vec<Value> = vec![
            common.name(effect.subject).into(),
            view.case_name(effect.case).into(),
            metric_name(effect.metric).into(),
            effect.points.into(),
        ];
        row.extend(leveled(&effect.ratio));
        rows.push(row);
    }
    append(&mut sheet, rows);
    sheet
}

/// The ratios over all connections, servers as rows and cases as columns, and a chart of them.
fn overall_chart(view: &ServedView, sheet: &mut Sheet) {
    let common = view.common();
    let keep_alive = view.usual();
    let cases: Vec<Option<usize>> = view.cases().into_iter().map(Some).collect();
    let servers = served::ranked(view).into_iter();
    let servers: Vec<SubjectId> = servers.filter(|&s| s != common.plan.baseline).collect();
    let title = format!(
        "CPU time of a request / {}'s (intervals below)",
        common.baseline()
    );
    let names = cases.iter().map(|&case| view.case_name(case).into());
    let mut rows = vec![std::iter::once(title.clone().into()).chain(names).collect()];
    for &subject in &servers {
        let ratio = |&case: &Option<usize>| {
            let overall = view.overall(subject, case, keep_alive);
            overall.map_or(Value::Blank, |o| o.ratio.estimate.into())
        };
        let name = std::iter::once(common.name(subject).into());
        rows.push(name.chain(cases.iter().map(ratio)).collect());
    }
    let begin = append(sheet, rows);
    if servers.is_empty() {
        return;
    }
    let (first, last) = (begin + 1, begin + servers.len() as u32);
    let mut chart = Chart::new(ChartType::Bar);
    let name = format!(
        "CPU time of a request as a multiple of {}'s",
        common.baseline()
    );
    chart.title().set_name(&name);
    chart.x_axis().set_log_base(10);
    chart.y_axis().set_reverse();
    let height = 120 + 12 * (servers.len() * cases.len()) as u32;
    chart.set_width(720).set_height(height).set_alt_text(&name);
    for (i, &case) in cases.iter().enumerate() {
        let column = 1 + i as u16;
        let series = chart.add_series().set_name(view.case_name(case));
        let (r, g, b) = crate::plot::served::colour_of_case(i);
        let fill =
            rust_xlsxwriter::Color::RGB(u32::from(r) << 16 | u32::from(g) << 8 | u32::from(b));
        series.set_format(ChartSolidFill::new().set_color(fill));
        series.set_categories(("Costs", first, 0, last, 0));
        series.set_values(("Costs", first, column, last, column));
    }
    chart_below(sheet, chart, height);
}

fn verdict_of(view: &ServedView, subject: SubjectId, verdict: &Verdict) -> &'static str {
    match Some(subject) == view.common().plan.control() {
        true => "control",
        false => served::word(verdict),
    }
}

/// Requests per second over connections with their charts, and the scalability law.
fn throughput(view: &ServedView) -> Sheet {
    let mut sheet = Sheet {
        frozen: 1,
        widest: Some(24),
        ..Sheet::default()
    };
    for group in view.closed_groups() {
        rates(view.common(), &group, "Throughput", &mut sheet);
        laws(view.common(), &group, &mut sheet);
    }
    sheet
}

/// Percentiles as rows, servers as columns, for each case and part of the peak, with charts.
fn latency(view: &ServedView) -> Sheet {
    let mut sheet = Sheet {
        frozen: 1,
        widest: Some(24),
        ..Sheet::default()
    };
    for case in view.cases() {
        for part in view.parts() {
            for point in view.at_part(case, view.usual(), part) {
                percentiles(view, point, part, &mut sheet);
            }
        }
    }
    sheet
}

fn percentiles(view: &ServedView, point: PointId, part: f64, sheet: &mut Sheet) {
    let common = view.common();
    let servers = served::ranked(view).into_iter();
    let servers: Vec<SubjectId> = servers
        .filter(|&s| view.load.cell(s, point).is_some())
        .collect();
    if servers.is_empty() {
        return;
    }
    let title = format!(
        "{}, {} of its own peak",
        common.plan.case(point).name,
        percent_of_peak(part)
    );
    let names = servers.iter().flat_map(|&s| {
        let name = common.name(s);
        [format!("{name} (ns)"), "low".into(), "high".into()]
    });
    let head = std::iter::once(title.clone()).chain(names);
    let mut rows: Vec<Vec<Value>> = vec![head.map(Value::from).collect()];
    for (name, _, of) in QUANTILES {
        let mut row: Vec<Value> = vec![name.into()];
        for &subject in &servers {
            let time = view.load.cell(subject, point).and_then(|c| of(&c.response));
            row.extend(maybe(time.as_ref()));
        }
        rows.push(row);
    }
    let begin = append(sheet, rows);
    let (first, last) = (begin + 1, begin + QUANTILES.len() as u32);
    let mut chart = Chart::new(ChartType::Line);
    chart.title().set_name(&format!("Response time: {title}"));
    chart.y_axis().set_name("ns").set_log_base(10);
    chart.set_width(720).set_height(420);
    chart.set_alt_text(format!("Response time by percentile, logarithmic: {title}"));
    for (i, &subject) in servers.iter().enumerate() {
        let column = 1 + 3 * i as u16;
        let series = chart.add_series().set_name(common.name(subject));
        series.set_categories(("Response time", first, 0, last, 0));
        series.set_values(("Response time", first, column, last, column));
        series.set_format(&mut line(common, subject));
    }
    chart_below(sheet, chart, 420);
}

/// A row for each server and point with all figures and bounds.
fn figures(view: &ServedView) -> Sheet {
    let plan = view.common().plan;
    let mut sheet = any_load::figures(view.load);
    let place = ["Case", "Connections", "Kept alive", "Part of its own peak"];
    if let Some(head) = sheet.rows.first_mut() {
        head.splice(1..1, place.map(Value::from));
    }
    for (row, cell) in sheet.rows.iter_mut().skip(1).zip(&view.load.analysis.cells) {
        let part = plan.part_of_peak(cell.point);
        let place = [
            plan.case(cell.point).name.as_str().into(),
            (plan.connections(cell.point) as f64).into(),
            if plan.keeps_alive(cell.point) {
                "yes"
            } else {
                "no"
            }
            .into(),
            part.map_or(Value::Blank, Value::from),
        ];
        row.splice(1..1, place);
    }
    sheet
}

fn compared(view: &ServedView) -> Sheet {
    let common = view.common();
    let plan = common.plan;
    let headings = [
        "Server",
        "Case",
        "Connections",
        "Kept alive",
        "Part of its own peak",
        "Metric",
        &format!("Ratio to {}", common.baseline()),
        "low",
        "high",
        "level",
        "p",
        "Verdict",
        "Blocks",
        "Margin",
    ];
    let mut sheet = Sheet::new(&headings, 1);
    let place = |subject: SubjectId, point: PointId, metric: Metric| -> Vec<Value> {
        let part = plan.part_of_peak(point);
        vec![
            common.name(subject).into(),
            plan.case(point).name.as_str().into(),
            (plan.connections(point) as f64).into(),
            if plan.keeps_alive(point) { "yes" } else { "no" }.into(),
            part.map_or(Value::Blank, Value::from),
            metric_name(metric).into(),
        ]
    };
    for c in &view.load.analysis.comparisons {
        let mut row = place(c.subject, c.point, c.metric);
        row.extend(leveled(&c.ratio));
        let control = view.control(c.point, c.metric);
        let margin = control.map_or(view.load.analysis.margin, |control| control.margin);
        row.extend([
            c.p.into(),
            verdict_word(&c.verdict).into(),
            c.blocks.into(),
            margin.into(),
        ]);
        sheet.rows.push(row);
    }
    let control = plan.control();
    for c in view
        .load
        .analysis
        .controls
        .iter()
        .filter(|_| control.is_some())
    {
        let mut row = place(control.unwrap_or_default(), c.point, c.metric);
        row.extend(leveled(&c.ratio));
        let met = if c.met {
            "control"
        } else {
            "noise floor not met"
        };
        row.extend([Value::Blank, met.into(), Value::Blank, c.margin.into()]);
        sheet.rows.push(row);
    }
    sheet
}

/// Settings, the host and how it was measured.
fn conditions(view: &ServedView) -> Sheet {
    let mut sheet = Sheet {
        frozen: 1,
        ..Sheet::default()
    };
    append(&mut sheet, texts(&served::setting_table(view)));
    let (_, same) = content::conditions(view.common());
    let all = same
        .iter()
        .map(|s| vec!["the same for all".into(), s.as_str().into()]);
    sheet.rows.extend(all);
    sheets::host_and_method(view.common(), &served::method(view), &mut sheet);
    sheet
}
