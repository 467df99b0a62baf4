// SPDX-License-Identifier: Apache-2.0
//! The decisions of gates on the change between two runs.

use crate::BetweenReport;
use crate::wording::changes;
use lab_document::{Gate, Quantity};
use lab_model::{Interval, Unit};
use lab_stats::gate::JudgedChange;

/// Judges the report's conditions.
pub fn gates(report: &BetweenReport) -> Vec<Gate> {
    let judged = report.conditions.iter();
    let judged = judged.flat_map(|condition| condition.judge(report.between));
    let has_multiple_points = {
        let mut changes = report.between.changes.windows(2);
        changes.any(|pair| pair[0].point != pair[1].point)
    };
    let gate = |judged: JudgedChange| {
        let new = |name: &str, statement: &str| {
            Gate::new(&judged.condition, name, judged.decision, statement)
        };
        let Some((changed, ratio)) = &judged.found else {
            return new("", &changes::nothing_to_judge(&judged.condition));
        };
        let point = Some(changed.point.as_str()).filter(|_| has_multiple_points);
        let name = match point {
            Some(point) => format!("{} at {point}", changed.subject),
            None => changed.subject.clone(),
        };
        let ratio: &Interval = ratio;
        let statement = changes::gate(
            &name,
            &changed.metric,
            changed.relative,
            ratio,
            report.between.level,
        );
        new(&name, &statement)
            .with_value(Quantity::ratio(ratio))
            .with_limit(judged.limit, Unit::Ratio)
    };
    let gates = judged.map(gate);
    gates
        .map(|gate| gate.with_inconclusive(report.on_inconclusive))
        .collect()
}
