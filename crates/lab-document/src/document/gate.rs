// SPDX-License-Identifier: Apache-2.0
//! The decisions of gates, which every format shows.

use super::{Quantity, Row, Tone};
use crate::say;
use lab_model::{
    Decision, Direction, GateEffect, Interval, Metric, OnInconclusive, StoredGate, Unit, trimmed,
};
use serde::Serialize;

/// The decision of a gate for one subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// The condition as the user wrote it, such as `time>+5%`, or the option `--gate`.
    pub condition: String,
    /// The judged subject, page or rule, such as `head at n=10`. Empty for the whole report.
    pub name: String,
    /// The outcome of the gate: passed, failed or inconclusive.
    pub decision: Decision,
    /// The effect on the exit code, which also depends on `--inconclusive`.
    pub effect: GateEffect,
    /// The judged value, with its interval if the value is an estimate.
    pub value: Option<Quantity>,
    /// The limit, in the unit of the value.
    pub limit: Option<Quantity>,
    /// The decision in words: `gate failed: head takes 1.08 times base's time (1.05 to 1.11), limit 1.05`.
    pub sentence: String,
}

impl Gate {
    /// Creates a gate. `statement` describes the result, without a period: `head takes 1.08 times
    /// base's time (1.05 to 1.11)`.
    pub fn new(condition: &str, name: &str, decision: Decision, statement: &str) -> Gate {
        Gate {
            condition: condition.into(),
            name: name.into(),
            decision,
            effect: decision.effect(OnInconclusive::default()),
            value: None,
            limit: None,
            sentence: format!("gate {}: {statement}", decision.name()),
        }
    }

    /// Adds the judged value.
    pub fn with_value(self, value: Quantity) -> Gate {
        Gate {
            value: Some(value),
            ..self
        }
    }

    /// Adds a remark to the end of the sentence.
    pub fn with_remark(self, remark: &str) -> Gate {
        Gate {
            sentence: format!("{}, {remark}", self.sentence),
            ..self
        }
    }

    /// Adds the limit, which is stated at the end of the sentence.
    pub fn with_limit(self, limit: f64, unit: Unit) -> Gate {
        let text = match unit {
            // Limits such as 1.0025 are written in full.
            Unit::Ratio => trimmed(&format!("{limit:.4}")).to_owned(),
            _ => reading(limit, &unit),
        };
        Gate {
            sentence: format!("{}, limit {text}", self.sentence),
            limit: Some(Quantity::exact(limit, unit)),
            ..self
        }
    }

    /// Applies the value of `--inconclusive`.
    pub fn with_inconclusive(self, on: OnInconclusive) -> Gate {
        Gate {
            effect: self.decision.effect(on),
            ..self
        }
    }

    /// Converts the gate to the form that run files store.
    pub fn to_stored(&self) -> StoredGate {
        let is_finite = |quantity: &&Quantity| quantity.value.is_finite();
        let value = self.value.as_ref().filter(is_finite);
        let limit = self.limit.as_ref().filter(is_finite);
        StoredGate {
            condition: self.condition.clone(),
            name: self.name.clone(),
            decision: self.decision,
            effect: self.effect,
            value: value.map(|quantity| (quantity.to_interval(), quantity.unit.clone())),
            limit: limit.map(|quantity| (quantity.value, quantity.unit.clone())),
            sentence: self.sentence.clone(),
        }
    }

    /// Returns the tone of the decision.
    pub(super) fn tone(&self) -> Tone {
        match self.decision {
            Decision::Passed => Tone::Same,
            Decision::Inconclusive => Tone::Inconclusive,
            Decision::Failed => Tone::Worse,
        }
    }

    /// Returns the gate as a row of data. The value is the judged value, the verdict is the
    /// decision, and the note is the sentence.
    pub(super) fn row(&self) -> Row {
        let unit = self.value.as_ref().or(self.limit.as_ref());
        let unit = unit.map_or(Unit::Ratio, |quantity| quantity.unit.clone());
        Row {
            case: self.condition.clone(),
            value: self.value.clone(),
            verdict: self.decision.name().into(),
            note: self.sentence.clone(),
            ..Row::new(
                "",
                &self.name,
                Metric::new(Row::GATE, Row::GATE, unit, Direction::Neither),
            )
        }
    }
}

impl From<&StoredGate> for Gate {
    fn from(kept: &StoredGate) -> Gate {
        let quantity = |(interval, unit): &(Interval, Unit)| match interval.level {
            level if level > 0.0 => Quantity::estimate(interval, unit.clone()),
            _ => Quantity::exact(interval.estimate, unit.clone()),
        };
        let limit = kept.limit.as_ref();
        Gate {
            condition: kept.condition.clone(),
            name: kept.name.clone(),
            decision: kept.decision,
            effect: kept.effect,
            value: kept.value.as_ref().map(quantity),
            limit: limit.map(|(limit, unit)| Quantity::exact(*limit, unit.clone())),
            sentence: kept.sentence.clone(),
        }
    }
}

/// Formats a limit without trailing zeros: `1 ms`.
fn reading(limit: f64, unit: &Unit) -> String {
    let text = say::reading(limit, unit);
    match text.split_once(' ') {
        Some((number, unit)) => format!("{} {unit}", trimmed(number)),
        None => text,
    }
}
