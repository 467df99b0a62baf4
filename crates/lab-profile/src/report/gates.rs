// SPDX-License-Identifier: Apache-2.0
//! The decisions of gates on a profile.

use crate::gate::relative_change;
use crate::{Found, GateCondition, GateResult, ProfiledPrograms, wording};
use lab_document::{Gate, Quantity};
use lab_model::{Decision, Unit};

/// Judges the conditions for one program, or for the later of two programs.
pub fn gates(conditions: &[GateCondition], programs: &ProfiledPrograms) -> Vec<Gate> {
    let [before, after @ ..] = programs.profiles.as_slice() else {
        return Vec::new();
    };
    let name = programs.names.last().map_or("", String::as_str);
    let gate = |condition: &GateCondition| {
        let statuses_differ = after
            .first()
            .is_some_and(|after| condition.statuses_differ(before, after));
        let ranges = condition.judge_ranges(&programs.ranges);
        let result = ranges.filter(|_| !statuses_differ);
        let result = result.unwrap_or_else(|| condition.judge(before, after.first()));
        let (decision, found) = match result {
            GateResult::Passed(found) => (Decision::Passed, Ok(found)),
            GateResult::Failed(found) => (Decision::Failed, Ok(found)),
            GateResult::Open(found) => (Decision::Inconclusive, Ok(found)),
            GateResult::Inconclusive(reason) => (Decision::Inconclusive, Err(reason)),
        };
        let unit = condition.unit();
        let statement = wording::gate(condition.figure(), &unit, found.as_ref());
        let gate = Gate::new(condition.text(), name, decision, &statement);
        let limit = condition.limit();
        match found {
            Ok(Found::Value(value)) => gate
                .with_value(Quantity::exact(value as f64, unit.clone()))
                .with_limit(limit, unit),
            Ok(Found::Change { before, after }) => {
                let change = relative_change(before, after);
                gate.with_value(Quantity::exact(change, Unit::Share))
                    .with_limit(limit, Unit::Share)
            }
            Ok(Found::ValueRange(range)) => gate
                .with_value(Quantity::exact(range.most as f64, unit.clone()))
                .with_limit(limit, unit),
            Ok(Found::ChangeRange { before, after }) => {
                let change = after.change_from(before).estimate;
                gate.with_value(Quantity::exact(change, Unit::Share))
                    .with_limit(limit, Unit::Share)
            }
            Err(_) => gate,
        }
    };
    conditions.iter().map(gate).collect()
}
