// SPDX-License-Identifier: Apache-2.0
//! The report's section on time: the hours of the week, and the hours that stand out.

use super::input::Analyses;
use crate::analysis::week::{MIN_WEEKS, Slot, WEEKS, covered_hours, slots};
use crate::finding::{BusiestHour, LogsFinding};
use crate::wording::{self, WEEKDAYS};
use lab_document::say;
use lab_document::{
    Axis, Cell, Chart, Column, Drawing, HeatColumn, HeatMap, HeatMaps, Quantity, Scale, Section,
    Table,
};
use lab_model::Unit;

/// The maximum number of hours in a table.
const ROWS: usize = 20;
/// The minimum number of hours in a log for comparing its busiest hour with the average.
const HOURS_FOR_AVERAGE: usize = 6;
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Returns the finding on the largest spike.
pub fn finding(report: &Analyses) -> Option<LogsFinding> {
    let spikes = &report.spikes;
    let weekly = spikes.weekly.iter();
    let greatest = weekly.max_by(|a, b| a.ratio.estimate.total_cmp(&b.ratio.estimate));
    if let Some(weekly) = greatest {
        return Some(LogsFinding::WeeklySpike {
            weekday: weekly.weekday,
            hour: weekly.hour,
            ratio: weekly.ratio,
            more: spikes.weekly.len() - 1,
        });
    }
    let single = spikes.single.first()?;
    Some(LogsFinding::SingleSpikes {
        hours: spikes.single.len(),
        local_s: single.local_s,
        ratio: single.ratio,
    })
}

/// Returns the finding on the busiest hour and minute, with the offset of the log's clock at that
/// time.
pub fn busiest(report: &Analyses) -> Option<LogsFinding> {
    let (start_s, requests) = report.analysis.peak_minute?;
    let hours = &report.analysis.hours;
    let of_hour = hours
        .iter()
        .find(|hour| (0..3600).contains(&(start_s - hour.start_s)));
    let all: u64 = hours.iter().map(|hour| hour.requests).sum();
    // Hours without requests are not in the list, but belong to the average.
    let count = covered_hours(report.analysis);
    let busiest = hours.iter().max_by_key(|hour| hour.requests);
    let busiest = busiest.filter(|_| count >= HOURS_FOR_AVERAGE);
    Some(LogsFinding::Busiest {
        hour: busiest.map(|hour| BusiestHour {
            local_s: hour.start_s + i64::from(hour.offset_s),
            of_average: hour.requests as f64 * count as f64 / all.max(1) as f64,
        }),
        start_s,
        offset_s: of_hour.map_or(0, |hour| i64::from(hour.offset_s)),
        requests,
    })
}

/// Returns a finding if the log has too few weeks to find spikes, or to find single spikes.
pub fn too_few_weeks(report: &Analyses) -> Option<LogsFinding> {
    let has_hours = !report.analysis.hours.is_empty();
    (has_hours && report.spikes.tested == 0).then_some(LogsFinding::TooFewWeeks {
        weeks: report.spikes.weeks,
        needed: if report.spikes.weeks < MIN_WEEKS {
            MIN_WEEKS
        } else {
            WEEKS
        },
    })
}

/// Builds the section on time.
pub fn section(report: &Analyses) -> Section {
    let mut section = Section::new("When");
    if report.analysis.hours.is_empty() {
        return section;
    }
    let slots = slots(report.analysis);
    section.chart(heat(&slots));
    section.table(weekly(report));
    section.table(single(report));
    section.text(
        match (
            too_few_weeks(report),
            report.spikes.weekly.is_empty() && report.spikes.single.is_empty(),
        ) {
            (Some(reason), _) => wording::sentence(&reason),
            (None, true) => wording::no_spikes(report.spikes.tested),
            (None, false) => String::new(),
        },
    );
    let mut all = Section::folded("Hour by hour");
    let rate = Unit::PerSecond("requests".into());
    all.table(by_hour("Requests", &slots, &rate, |slot| Some(slot.rate())));
    all.table(by_hour(
        "p95 of the duration",
        &slots,
        &Unit::Nanoseconds,
        |slot| slot.p95().map(|ns| ns as f64),
    ));
    let has_errors = slots.iter().flatten().any(|slot| slot.errors > 0);
    let errors = |slot: &Slot| has_errors.then(|| slot.errors as f64 / slot.requests.max(1) as f64);
    all.table(by_hour("Errors", &slots, &Unit::Share, errors));
    section.section(all);
    section
}

/// Charts weekdays from left to right and hours from bottom to top, by requests and by time.
///
/// A darker cell has a larger fraction of the sum of its column.
fn heat(slots: &[Vec<Slot>]) -> Option<Chart> {
    let map = |(name, unit): (&str, Unit), color, value: &dyn Fn(&Slot) -> u64| HeatMap {
        name: name.into(),
        color,
        unit,
        columns: slots
            .iter()
            .zip(DAYS)
            .map(|(hours, day)| HeatColumn {
                label: day.into(),
                counts: hours
                    .iter()
                    .enumerate()
                    .map(|(hour, slot)| (hour as f64, value(slot)))
                    .filter(|(_, n)| *n > 0)
                    .collect(),
            })
            .collect(),
    };
    let per_hour = |slot: &Slot| slot.requests.div_ceil(slot.hours.max(1) as u64);
    let count = |name: &'static str| (name, Unit::Count(name.into()));
    let mut maps = vec![map(count("requests"), 0, &per_hour)];
    if slots.iter().flatten().any(|slot| slot.p95().is_some()) {
        let duration = ("p95 of the duration", Unit::Nanoseconds);
        maps.push(map(duration, 1, &|slot| slot.p95().unwrap_or(0)));
    }
    if slots.iter().flatten().any(|slot| slot.errors > 0) {
        maps.push(map(count("errors"), 2, &|slot| slot.errors));
    }
    slots
        .iter()
        .flatten()
        .any(|slot| slot.requests > 0)
        .then(|| Chart {
            id: "week".into(),
            title: "The hours of the week".into(),
            caption: wording::WEEK_CHART.into(),
            drawing: Drawing::Heat(HeatMaps {
                axis: Axis::new("hour", Unit::Count("".into()), Scale::Linear),
                columns: "weekday".into(),
                maps,
            }),
        })
}

fn by_hour(
    title: &str,
    slots: &[Vec<Slot>],
    unit: &Unit,
    value: impl Fn(&Slot) -> Option<f64>,
) -> Table {
    let days = DAYS.map(|day| Column::with_unit(day, unit.clone()));
    let mut table = Table::new(title, std::iter::once("hour".into()).chain(days))
        .with_caption(wording::HOURS_TABLE);
    for hour in 0..24 {
        if slots.iter().all(|day| day[hour].requests == 0) {
            continue;
        }
        let cell = |day: &Vec<Slot>| {
            let slot = &day[hour];
            let value = value(slot).filter(|_| slot.requests > 0);
            Cell::from(value.map(|v| Quantity::exact(v, unit.clone())))
        };
        table.named_row(format!("{hour:02}:00"), slots.iter().map(cell));
    }
    table.without_empty_columns()
}

fn weekly(report: &Analyses) -> Table {
    let columns = [
        Column::from("hour of the week"),
        Column::with_unit("requests", Unit::PerSecond("requests".into())),
        Column::with_unit("vs. other days", Unit::Ratio),
    ];
    let mut table = Table::new("Hours that stand out every week", columns);
    table.caption = wording::WEEKLY_TABLE.into();
    for weekly in &report.spikes.weekly {
        table.row(vec![
            format!("{} {:02}:00", WEEKDAYS[weekly.weekday], weekly.hour).into(),
            Quantity::exact(weekly.rate, Unit::PerSecond("requests".into())).into(),
            Quantity::ratio(&weekly.ratio).into(),
        ]);
    }
    table
}

fn single(report: &Analyses) -> Table {
    let columns = [
        Column::from("hour"),
        Column::with_unit("requests", Unit::Count("requests".into())),
        Column::with_unit("vs. usual", Unit::Ratio),
    ];
    let mut table = Table::new("Single hours that stand out", columns);
    table.caption = wording::single_table(report.spikes.tested);
    let all = &report.spikes.single;
    for single in all.iter().take(ROWS) {
        table.row(vec![
            format!(
                "{} {}",
                WEEKDAYS[((single.local_s.div_euclid(86_400) + 3).rem_euclid(7)) as usize],
                say::minute(single.local_s as f64)
            )
            .into(),
            Quantity::count(single.requests, "requests").into(),
            Quantity::ratio(&single.ratio).into(),
        ]);
    }
    if all.len() > ROWS {
        table.notes.push(wording::fewer_spikes(all.len() - ROWS));
    }
    table
}
