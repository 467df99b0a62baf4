// SPDX-License-Identifier: Apache-2.0
//! What an operation costs by itself and per unit, and what a factor costs.

use super::Room;
use crate::number::{self, Quantity, full, short};
use crate::table::{Cell, Table, Tone};
use crate::view::{Group, View};
use lab_model::PointId;
use lab_stats::analysis::{FactorEffect, Interval};

/// `fixed + marginal` per subject, one table per case with a sweep and choice of factors.
pub fn fit_tables(view: &View, room: Room) -> Vec<Table> {
    let groups = view.groups();
    groups
        .iter()
        .filter_map(|group| fit_table(view, group, room))
        .collect()
}

/// What the second and later values of a factor cost, one table per factor and value.
pub fn factor_tables(view: &View, room: Room) -> Vec<Table> {
    let mut tables: Vec<(String, Table)> = Vec::new();
    let subjects = view.shown();
    for effect in &view.analysis.factors {
        let title = factor_title(view, effect);
        if !tables.iter().any(|(known, _)| *known == title) {
            let names = subjects.iter().map(|&s| view.name(s).to_string());
            let columns = std::iter::once("case".to_string()).chain(names);
            tables.push((title.clone(), Table::new(title.clone(), columns)));
        }
        let Some((_, table)) = tables.iter_mut().find(|(known, _)| *known == title) else {
            continue;
        };
        let Some(column) = subjects.iter().position(|&s| s == effect.subject) else {
            continue;
        };
        let row = label_without(view, effect.from, &effect.factor);
        if !table.rows.iter().any(|r| r[0].text == row) {
            let blanks = std::iter::repeat_with(|| Cell::from("–")).take(subjects.len());
            table.rows.push(
                std::iter::once(Cell::from(row.clone()))
                    .chain(blanks)
                    .collect(),
            );
        }
        if let Some(cells) = table.rows.iter_mut().find(|r| r[0].text == row) {
            cells[column + 1] = ratio(room, &effect.ratio).into();
        }
    }
    tables.into_iter().map(|(_, table)| table).collect()
}

fn fit_table(view: &View, group: &Group, room: Room) -> Option<Table> {
    let case = &view.plan.cases[group.case];
    let same = |fit: &&lab_stats::analysis::Fit| {
        fit.case == group.case && fit.factors.iter().eq(group.factors.iter().copied())
    };
    // Of whole commands the unit is a process, and what is swept has no other name than its own.
    let unit = match &case.sweep {
        Some(sweep) if view.commands().is_some() => sweep,
        _ => &case.unit,
    };
    let columns = [
        view.words.subject.to_string(),
        "fixed".into(),
        format!("per {unit}"),
        "worst off the line".into(),
    ];
    let title = match view.commands() {
        Some(_) => view.group_title(group, &format!("time = fixed + marginal × {unit}")),
        None => view.group_label(group),
    };
    let mut table = Table::new(title, columns).text_column("");
    // Beside other targets there is no room for what repeats the baseline.
    let wanted = |fit: &&lab_stats::analysis::Fit| {
        view.named.is_none() || view.shown().contains(&fit.subject)
    };
    for fit in view.analysis.fits.iter().filter(same).filter(wanted) {
        let show = |i: &Interval| match room {
            Room::Narrow => short(Quantity::Time, i),
            Room::Wide => full(Quantity::Time, i),
        };
        let curved = if fit.curved {
            Cell::from("curved").tone(Tone::Open)
        } else {
            "".into()
        };
        table.rows.push(vec![
            view.name(fit.subject).into(),
            show(&fit.fixed_ns).into(),
            Cell::from(format!("+ {}", show(&fit.marginal_ns))),
            number::percent(fit.worst_residual).into(),
            curved,
        ]);
    }
    (!table.rows.is_empty()).then_some(table)
}

fn factor_title(view: &View, effect: &FactorEffect) -> String {
    let value = |point: PointId| {
        let params = &view.plan.points[point].params;
        params
            .iter()
            .find(|(key, _)| *key == effect.factor)
            .map_or("?", |(_, v)| v.as_str())
    };
    format!(
        "{}: time with {} / time with {}",
        effect.factor,
        value(effect.to),
        value(effect.from)
    )
}

fn label_without(view: &View, point: PointId, factor: &str) -> String {
    let mut label = view.plan.case(point).name.clone();
    for (key, value) in view.plan.points[point]
        .params
        .iter()
        .filter(|(key, _)| key != factor)
    {
        label.push_str(&format!(" {key}={value}"));
    }
    label
}

fn ratio(room: Room, interval: &Interval) -> String {
    match room {
        Room::Narrow => short(Quantity::Ratio, interval),
        Room::Wide => full(Quantity::Ratio, interval),
    }
}
