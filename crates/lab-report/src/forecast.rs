// SPDX-License-Identifier: Apache-2.0
//! The forecast of a run's cost, from a short pilot.

use crate::wording::exclusion;
use lab_document::format::quantity;
use lab_document::say::{self, count};
use lab_document::{Answer, Cell, Column, Document, Finding, Section, Table};
use lab_model::{Metric, Plan, Unit};
use lab_stats::power::{
    Blocks, DIFFERENCES, Forecast, LEVEL, NamedReason, NoForecast, POWERS, PlannedComparison,
};

/// The maximum number of comparisons that are listed individually.
const LISTED: usize = 3;

/// Builds the one-screen forecast of the time and blocks that a run of `plan` would need.
pub fn document(forecast: &Forecast, plan: &Plan) -> Document {
    let most = &forecast.comparisons[0];
    let mut section = Section::new("Blocks and time");
    section.text(format!(
        "{} varies by {} between blocks.{}",
        comparison_name(most, plan),
        say::figure(&most.scatter, &Unit::Share, LEVEL),
        match forecast.comparisons.len() {
            1 => "",
            _ => " No other comparison needs more blocks.",
        },
    ));
    section.push(differences(forecast, most, plan));
    if forecast.comparisons.len() > 1 {
        section.push(places(forecast, plan));
    }
    section.text(format!(
        "The ranges reflect the uncertainty of the variation after {}, at a confidence level of {}.{}",
        count(forecast.blocks as usize, "block"),
        say::percent(LEVEL),
        interim_analyses(plan),
    ));
    for unsteady in by_subject(&forecast.unsteady) {
        section.text(format!(
            "{subject}'s variation may include a warm-up: {subject} {}. A run would not compare {subject}.",
            exclusion(&unsteady.reason),
            subject = unsteady.subject
        ));
    }
    let mut document = Document {
        title: format!("Predicted cost of a run: {}", plan.title),
        benchlab_version: env!("CARGO_PKG_VERSION").into(),
        answer: Answer {
            findings: vec![Finding::plain(sentence(forecast, plan))],
            ..Answer::default()
        },
        source: "The pilot's samples are not saved.".into(),
        ..Document::default()
    };
    document.section(section);
    document
}

/// States why nothing can be forecast.
pub fn no_forecast(reason: &NoForecast) -> String {
    let why = match reason {
        NoForecast::Load => "a load has no forecast: --for sets its duration".into(),
        NoForecast::TooFewBlocks(blocks) => format!(
            "the pilot has {}, and a forecast needs 2: use --plan=2 or more",
            count(*blocks as usize, "complete block")
        ),
        NoForecast::NothingCompared(excluded) => {
            let mut text = "the pilot compared no subjects".to_owned();
            for (i, excluded) in by_subject(excluded).iter().enumerate() {
                text += if i == 0 { ": " } else { "; " };
                text += &format!("{} {}", excluded.subject, exclusion(&excluded.reason));
            }
            text
        }
    };
    format!("cannot plan the run: {why}")
}

/// Returns the first reason for each subject.
fn by_subject(all: &[NamedReason]) -> Vec<&NamedReason> {
    let mut first: Vec<&NamedReason> = Vec::new();
    for named in all {
        if first.iter().all(|other| other.subject != named.subject) {
            first.push(named);
        }
    }
    first
}

fn interim_analyses(plan: &Plan) -> String {
    plan.measure
        .interim_analyses
        .iter()
        .max()
        .map_or(String::new(), |last| {
            format!(
                " This includes interim analyses. For more than {last} blocks or differences within the margin, use \
                 --blocks."
            )
        })
}

/// States the number of blocks and the time that are needed to detect the smallest of `DIFFERENCES`
/// that is at least the margin.
fn sentence(forecast: &Forecast, plan: &Plan) -> String {
    let is_enough = |d: &f64| *d >= plan.measure.margin - 1e-9;
    let last = DIFFERENCES.len() - 1;
    let at = DIFFERENCES.iter().position(is_enough).unwrap_or(last);
    let need = &forecast.comparisons[0].differences[at][0].different;
    let (difference, power) = (say::percent(DIFFERENCES[at]), say::percent(POWERS[0]));
    match need.estimate {
        Some(_) => format!(
            "{difference} at {power} power: {} blocks, {}.",
            blocks(need),
            times(forecast, need)
        ),
        None => format!("{difference} at {power} power: more than 10,000 blocks."),
    }
}

fn differences(forecast: &Forecast, place: &PlannedComparison, plan: &Plan) -> Table {
    let [usual, high] = POWERS.map(say::percent);
    let margin = say::percent(plan.measure.margin);
    let columns = [
        "difference".to_string(),
        format!("blocks, {usual} power"),
        "time".into(),
        format!("blocks, {high}"),
        format!("beyond {margin}, {usual}"),
    ];
    let mut table = Table::new("", columns.map(Column::from))
        .with_caption("The cost of detecting a difference of this size.");
    for (difference, [usual, high]) in DIFFERENCES.iter().zip(&place.differences) {
        let beyond = Some(&usual.beyond).filter(|_| *difference > plan.measure.margin + 1e-9);
        table.row(vec![
            say::percent(*difference).into(),
            blocks(&usual.different).into(),
            times(forecast, &usual.different).into(),
            blocks(&high.different).into(),
            beyond.map_or(Cell::from("–"), |beyond| blocks(beyond).into()),
        ]);
    }
    let [usual, high] = &place.equivalent;
    table.row(vec![
        format!("none (±{margin})").into(),
        blocks(&usual.different).into(),
        times(forecast, &usual.different).into(),
        blocks(&high.different).into(),
        "–".into(),
    ]);
    table
}

/// Builds the table of comparisons. Comparisons that need the most blocks come first.
fn places(forecast: &Forecast, plan: &Plan) -> Table {
    let differences = DIFFERENCES.map(|d| Column::from(say::percent(d)));
    let first = [Column::from("comparison"), "variation".into()];
    let power = say::percent(POWERS[0]);
    let title = format!("Blocks at {power} power, by comparison");
    let mut table = Table::new(title, first.into_iter().chain(differences))
        .with_caption("The number of blocks that detect a difference of this size.");
    for place in forecast.comparisons.iter().take(LISTED) {
        let needs = place
            .differences
            .iter()
            .map(|[usual, _]| block_count(usual.different.estimate));
        let cells = [
            comparison_name(place, plan),
            say::percent(round(place.scatter.estimate)),
        ];
        table.row(cells.into_iter().chain(needs).map(Cell::from).collect());
    }
    if let Some(more) = forecast.comparisons.len().checked_sub(LISTED + 1) {
        let more = count(more + 1, "comparison");
        table
            .notes
            .push(format!("Not listed: {more} with fewer blocks."));
    }
    table
}

/// Rounds a fraction to a tenth of a percent.
fn round(part: f64) -> f64 {
    (part * 1000.0).round() / 1000.0
}

/// Formats the name of a comparison, such as `java on mariadb at select limit=100`.
fn comparison_name(place: &PlannedComparison, plan: &Plan) -> String {
    let target = place.target.map(|kind| format!(" on {}", kind.name()));
    let metric = Some(place.metric.title.as_ref()).filter(|_| place.metric != Metric::WALL);
    let point = Some(&place.point).filter(|_| plan.points.len() > 1);
    [
        place.subject.clone(),
        target.unwrap_or_default(),
        metric.map_or(String::new(), |metric| format!(", {metric}")),
        point.map_or(String::new(), |point| format!(" at {point}")),
    ]
    .concat()
}

fn block_count(blocks: Option<u32>) -> String {
    blocks.map_or("> 10,000".into(), |n| quantity::integer(n.into()))
}

/// Formats a number of blocks with its range, such as `24 (14 to 60)`.
fn blocks(need: &Blocks) -> String {
    range(need, block_count)
}

/// Formats the run time for a number of blocks with its range, such as `6 min (4 min to 15 min)`.
fn times(forecast: &Forecast, need: &Blocks) -> String {
    range(need, |n| match n {
        Some(n) => clock(forecast.seconds(n)),
        None => "–".into(),
    })
}

/// Formats a duration in whole seconds; in minutes if it is at least 90 seconds, or in hours if it
/// is at least 90 minutes.
fn clock(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{:.0} s", seconds.ceil()),
        ..5400.0 => format!("{:.0} min", (seconds / 60.0).ceil()),
        _ => format!("{:.0} h", (seconds / 3600.0).ceil()),
    }
}

fn range(need: &Blocks, say: impl Fn(Option<u32>) -> String) -> String {
    let [estimate, low, high] = [need.estimate, need.low, need.high].map(say);
    // If both bounds have the same unit, write it once.
    let (number, unit) = high.split_once(' ').unwrap_or((&high, ""));
    let low = match low.split_once(' ') {
        Some((low, same)) if same == unit && number != "–" => low.to_string(),
        _ => low,
    };
    if high == format!("{low} {unit}").trim_end() {
        estimate
    } else {
        format!("{estimate} ({low} to {high})")
    }
}
