// SPDX-License-Identifier: Apache-2.0
//! The decisions of a run's gates.

use super::measured::Measured;
use crate::wording::gates::{self, GateWords};
use lab_document::{Gate, Quantity};
use lab_model::{Decision, Unit};
use lab_stats::gate::{GateCondition, GateFound, JudgedGate, judge};
use lab_stats::results::Value;

/// Judges the conditions of a run's plan. The gate is inconclusive if its condition does not apply
/// to the plan.
pub fn gates(measured: &Measured) -> Vec<Gate> {
    let on_inconclusive = measured.plan.measure.on_inconclusive;
    let conditions = match GateCondition::of_plan(measured.plan) {
        Ok(conditions) => conditions,
        Err(error) => {
            let gate = Gate::new("", "", Decision::Inconclusive, &error.to_string());
            return vec![gate.with_inconclusive(on_inconclusive)];
        }
    };
    let judged = judge(&conditions, measured.results, measured.plan);
    let gates = judged.iter().map(|judged| gate(measured, judged));
    gates
        .map(|gate| gate.with_inconclusive(on_inconclusive))
        .collect()
}

fn gate(measured: &Measured, judged: &JudgedGate) -> Gate {
    let name = measured.label(judged.subject);
    let at = judged
        .point
        .map_or(String::new(), |point| measured.location(Some(point)));
    let words = GateWords {
        condition: &judged.condition,
        subject: &name,
        at: &at,
        metric: &judged.metric,
        is_only: measured.plan.compared().nth(1).is_none(),
    };
    let new = |statement: String| {
        let name = format!("{name}{at}");
        Gate::new(&judged.condition, &name, judged.decision, &statement)
    };
    match &judged.found {
        GateFound::Value { value, unit, limit } => {
            let quantity = match value {
                Value::Estimate(interval) if interval.level > 0.0 => {
                    Quantity::estimate(interval, unit.clone())
                }
                value => Quantity::exact(value.value(), unit.clone()),
            };
            new(gates::value(&words, value, unit, measured.level()))
                .with_value(quantity)
                .with_limit(*limit, unit.clone())
        }
        GateFound::Ratio {
            baseline,
            ratio,
            limit,
            raised_from,
        } => {
            let base = measured.label(*baseline);
            let statement = gates::ratio(&words, &base, ratio, measured.results.level);
            let gate = new(statement)
                .with_value(Quantity::ratio(ratio))
                .with_limit(*limit, Unit::Ratio);
            match raised_from {
                Some(requested) => gate.with_remark(&gates::raised(*requested, &base)),
                None => gate,
            }
        }
        GateFound::LowerPercentile {
            metric,
            value,
            limit,
        } => {
            let lower = GateWords { metric, ..words };
            let value = Value::Estimate(*value);
            let statement = gates::value(&lower, &value, &metric.unit, measured.level());
            new(gates::lower_percentile(&words, &statement)).with_limit(*limit, metric.unit.clone())
        }
        GateFound::Overloaded => new(gates::overloaded(&words)),
        GateFound::Unknown(reason) => new(gates::unknown(&words, *reason)),
    }
}
