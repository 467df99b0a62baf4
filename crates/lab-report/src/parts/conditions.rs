// SPDX-License-Identifier: Apache-2.0
//! The subjects, the services, the settings that subjects and services report, and the run's own
//! noise.

use super::cell::NONE;
use super::measured::Measured;
use super::scope::Scope;
use super::table;
use lab_document::say;
use lab_document::{Cell, Column, Item, Quantity, Section, Table, Tone};
use lab_model::{Metric, PointId, Setting, SubjectId, Unit, WarmUp};
use std::collections::BTreeSet;

/// Builds the section on services, subjects, settings, the control and warm-up.
pub fn section(measured: &Measured, scopes: &[Scope]) -> Section {
    let mut section = Section::folded("Conditions");
    for scope in scopes {
        let target = target_section(scope);
        if measured.has_targets() {
            section.section(target)
        } else {
            section.items.extend(target.items);
            section.sections.extend(target.sections);
        }
    }
    section
}

fn target_section(scope: &Scope) -> Section {
    let mut section = Section::new(scope.title());
    let services = scope.run.services.iter();
    let mine = services.filter(|service| service.target == scope.target);
    let facts: Vec<_> = mine.flat_map(|service| service.facts.clone()).collect();
    if !facts.is_empty() {
        section.push(Item::Facts(facts));
    }
    section.table(subjects(scope));
    let (differing, same) = settings(scope);
    let none_differs = differing.rows.is_empty() && !same.is_empty();
    section.table(differing);
    if none_differs {
        section.text("No reported setting differs between the subjects.");
    }
    if !same.is_empty() {
        section.text(format!("The same for all: {}.", same.join(", ")));
    }
    section.table(control(scope));
    section.table(warm_up(scope));
    section.section(listings(scope));
    section
}

/// Builds the section with the listings that the subjects' builds wrote.
fn listings(scope: &Scope) -> Section {
    let mut section = Section::folded("Build listings");
    for id in scope.compared() {
        if let Some(listing) = scope.setting(id, Setting::LISTING) {
            let mut subject_section = Section::new(scope.name(id));
            subject_section.push(Item::Log(listing.lines().map(String::from).collect()));
            section.section(subject_section);
        }
    }
    section
}

/// Builds the table of subjects. Commands are described by their command lines, and running servers by their URLs.
fn subjects(scope: &Scope) -> Table {
    let head = [
        scope.words.subject,
        "language",
        "driver",
        "statements",
        "role",
    ];
    let title = say::capital(&format!("the {}", scope.words.subjects));
    let mut table = Table::new(title, head).with_caption("The compared subjects.");
    for id in scope.subjects() {
        let subject = &scope.plan.subjects[id];
        let roles = [
            (id == scope.base()).then_some("baseline"),
            (subject.reference && subject.control_of.is_none()).then_some("reference"),
            subject.control_of.map(|_| "control"),
        ];
        let roles: Vec<&str> = roles.into_iter().flatten().collect();
        if !subject.language.is_empty() {
            table.row(vec![
                subject.name.as_str().into(),
                subject.language.as_str().into(),
                subject.driver.as_str().into(),
                subject.statements.as_str().into(),
                roles.join(", ").into(),
            ]);
        }
    }
    table.without_empty_columns()
}

/// Returns the table of settings in which subjects differ, and a list of the settings in which all
/// subjects agree.
fn settings(scope: &Scope) -> (Table, Vec<String>) {
    let settings = &scope.run.settings;
    let has = |s: &SubjectId| settings.iter().any(|setting| setting.subject == *s);
    let subjects: Vec<SubjectId> = scope.subjects().into_iter().filter(has).collect();
    let mine = settings.iter().filter(|s| subjects.contains(&s.subject));
    let mine = mine.filter(|s| s.key != Setting::LISTING);
    let keys: BTreeSet<&str> = mine.map(|s| s.key.as_str()).collect();
    let names = subjects.iter().map(|&s| scope.name(s));
    let head = std::iter::once("setting").chain(names);
    let mut table = Table::new("Settings that differ", head);
    table.caption = "Marked settings must be equal but differ.".into();
    let target = scope.plan.targets.get(scope.target);
    let must_be_equal = target.map_or(&[][..], |t| &t.proof.equal);
    let mut same = Vec::new();
    for key in keys {
        let values: Vec<String> = subjects.iter().map(|&s| values(scope, s, key)).collect();
        if values.iter().all(|v| *v == values[0]) {
            same.push(format!("{key} = {}", values[0]));
            continue;
        }
        let tone = if scope
            .plan
            .proof
            .equal
            .iter()
            .chain(must_be_equal)
            .any(|k| k == key)
        {
            Tone::Alarm
        } else {
            Tone::Plain
        };
        table.named_row(
            Cell::from(key).with_tone(tone),
            values.into_iter().map(Cell::from),
        );
    }
    (table, same)
}

/// Returns the distinct values that a subject reported for a setting, over all points.
fn values(scope: &Scope, subject: SubjectId, key: &str) -> String {
    let mine = scope.run.settings.iter();
    let mine = mine.filter(|s| s.subject == subject && s.key == key);
    let values: BTreeSet<&str> = mine.map(|s| s.value.as_str()).collect();
    if values.is_empty() {
        NONE.into()
    } else {
        values.into_iter().collect::<Vec<_>>().join(" | ")
    }
}

/// Builds the table of the control, a second copy of the baseline, by point.
fn control(scope: &Scope) -> Table {
    let columns = [
        Column::from("point"),
        "metric".into(),
        Column::with_unit("ratio", Unit::Ratio),
        Column::with_unit("margin used", Unit::Share),
        "noise floor".into(),
    ];
    let mut table = Table::new("The control: this run's own noise", columns);
    table.caption = format!(
        "A second copy of {}, whose true ratio is 1: any deviation from 1 is noise.",
        scope.base_name()
    );
    let points = scope.points();
    let controls = scope.results.controls.iter();
    for control in controls.filter(|c| points.contains(&c.point)) {
        let floor = if control.met {
            "met".into()
        } else {
            Cell::from("not met").with_tone(Tone::Alarm)
        };
        table.row(vec![
            scope.short(control.point).into(),
            control.metric.title.to_string().into(),
            Quantity::ratio(&control.ratio).into(),
            Quantity::exact(control.margin, Unit::Share).into(),
            floor,
        ]);
    }
    table
}

/// Builds the table of the warm-up: the first batches of fresh processes, and the very first operation.
fn warm_up(scope: &Scope) -> Table {
    let pilots = &scope.run.pilots;
    let has = |p: &PointId| pilots.iter().any(|pilot| pilot.point == *p);
    let points: Vec<PointId> = scope.points().into_iter().filter(has).collect();
    let sides = (
        &*table::points(scope, &points),
        &*table::subjects(scope, &scope.compared()),
    );
    let unit = &Metric::COLD.unit;
    let title = "Warm-up and first operations";
    let mut table = table::matrix(title, "point", sides, unit, |point, subject| {
        let mut mine = pilots.iter();
        let Some(pilot) = mine.find(|p| (p.subject, p.point) == (subject, point)) else {
            return NONE.into();
        };
        let first = match pilot.cold_ns {
            0 => Cell::from("not measured"),
            ns => Cell::from(Quantity::exact(ns as f64, unit.clone())),
        };
        let (word, tone) = class(pilot.class);
        let max_warm_up_ns = scope.plan.measure.max_warm_up_ns;
        let is_cut = scope.traits.limits_warm_up && pilot.exceeds(max_warm_up_ns);
        let (cut, tone) = if is_cut {
            (
                format!("; cut at {}", say::time(max_warm_up_ns)),
                Tone::Inconclusive,
            )
        } else {
            (String::new(), tone)
        };
        first.with_note(format!("{word}{cut}")).with_tone(tone)
    });
    let not_measured = if pilots.iter().any(|pilot| pilot.cold_ns == 0) {
        format!(
            " The first {} was not measured where the pilots had no time to start a process for each point.",
            scope.words.operation
        )
    } else {
        String::new()
    };
    table.caption = format!(
        "The first {} of a fresh process, a single measurement, and the development of the batches. A warm-up that \
         was cut ended before the pilot's batches were steady.{not_measured}",
        scope.words.operation
    );
    table
}

/// Describes how batch times change during warm-up, in one or two words.
fn class(class: WarmUp) -> (&'static str, Tone) {
    match class {
        WarmUp::Flat => ("flat", Tone::Plain),
        WarmUp::Warming => ("warming", Tone::Plain),
        WarmUp::Slowing => ("slowing", Tone::Plain),
        WarmUp::NoSteadyState => ("no steady state", Tone::Inconclusive),
        WarmUp::CutShort => ("cut short", Tone::Inconclusive),
    }
}
