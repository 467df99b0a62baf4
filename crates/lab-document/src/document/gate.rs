// SPDX-License-Identifier: Apache-2.0
//! The decisions of gates, which every format shows.

use super::{Quantity, Row, Tone};
use crate::say;
use lab_model::{Decision, Direction, GateEffect, Metric, OnInconclusive, Unit, trimmed};
use serde::Serialize;

/// The decision of a gate for one subject.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// The condition as the user wrote it, such as `time>+5%`, or the option `--gate`.
    pub condition: String,
    /// The subject, page or rule that was judged, such as `head at n=10`. Empty for the whole
    /// report.
    pub name: String,
    /// The decision.
    pub decision: Decision,
    /// The effect on the exit code, which also depends on `--inconclusive`.
    pub effect: GateEffect,
    /// The judged value, with its interval if it has one.
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
    pub fn valued(self, value: Quantity) -> Gate {
        Gate {
            value: Some(value),
            ..self
        }
    }

    /// Adds a remark to the end of the sentence.
    pub fn remarked(self, remark: &str) -> Gate {
        Gate {
            sentence: format!("{}, {remark}", self.sentence),
            ..self
        }
    }

    /// Adds the limit, which ends the sentence.
    pub fn limited(self, limit: f64, unit: Unit) -> Gate {
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

    /// Returns the tone of the decision.
    pub(super) fn tone(&self) -> Tone {
        match self.decision {
            Decision::Passed => Tone::Same,
            Decision::Inconclusive => Tone::Undecided,
            Decision::Failed => Tone::Worse,
        }
    }

    /// Returns the gate as a row of data: its value, the decision as the verdict, and the sentence as the note.
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
                Metric::new("gate", "gate", unit, Direction::Neither),
            )
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
