// SPDX-License-Identifier: Apache-2.0
//! Evaluates the conditions of `--fail-if`, and determines the effect of an inconclusive gate on the
//! exit code.

use crate::{Interval, Relation, Unit};
use serde::{Deserialize, Serialize};

/// The decision of a gate, ordered from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The failure condition is not met.
    Passed,
    /// The data do not show whether the failure condition is met.
    Inconclusive,
    /// The failure condition is met.
    Failed,
}

/// The effect of an inconclusive gate, which is the value of `--inconclusive`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnInconclusive {
    /// An inconclusive gate counts as passed.
    Pass,
    /// An inconclusive gate is a warning, which does not change the exit code.
    Warn,
    /// An inconclusive gate fails with a separate exit code.
    #[default]
    Fail,
}

/// The effect of a gate on the exit code, ordered from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateEffect {
    /// No effect.
    Pass,
    /// No effect on the exit code, but the user is warned.
    Warn,
    /// The exit code for an inconclusive gate.
    Inconclusive,
    /// The exit code for a failed gate.
    Fail,
}

/// A gate's decision that was stored when the run was recorded, because the run file alone does not
/// allow the decision to be made again.
///
/// These are the gates on logs, audits, profiles and counted instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredGate {
    /// The condition as the user wrote it.
    pub condition: String,
    /// The subject, page or rule that was judged. Empty for the whole run.
    pub name: String,
    /// The outcome of the gate: passed, failed or inconclusive.
    pub decision: Decision,
    /// The effect on the exit code.
    pub effect: GateEffect,
    /// The judged value. An interval with a confidence level of 0 is an exact value.
    pub value: Option<(Interval, Unit)>,
    /// The bound that the value was compared with.
    pub limit: Option<(f64, Unit)>,
    /// The decision in words.
    pub sentence: String,
}

impl Decision {
    /// Decides whether a value that has an interval satisfies a relation to a bound.
    ///
    /// The relation holds if every value in the interval satisfies it, and does not hold if no
    /// value does. Otherwise, or if the interval's level is below the requested level, the decision
    /// is inconclusive.
    pub fn for_interval(
        relation: Relation,
        interval: &Interval,
        bound: f64,
        level: f64,
    ) -> Decision {
        let has_level = interval.level > 0.0 && interval.level >= level - 1e-9;
        let holds = [interval.low, interval.high].map(|value| relation.holds(value, bound));
        match holds {
            [true, true] if has_level => Decision::Failed,
            [false, false] if has_level => Decision::Passed,
            _ => Decision::Inconclusive,
        }
    }

    /// Decides whether a value without an interval satisfies a relation to a bound.
    pub fn for_value(relation: Relation, value: f64, bound: f64) -> Decision {
        if value.is_nan() {
            Decision::Inconclusive
        } else if relation.holds(value, bound) {
            Decision::Failed
        } else {
            Decision::Passed
        }
    }

    /// Returns the effect of the decision on the exit code.
    pub fn effect(self, on_inconclusive: OnInconclusive) -> GateEffect {
        match (self, on_inconclusive) {
            (Decision::Passed, _) | (Decision::Inconclusive, OnInconclusive::Pass) => {
                GateEffect::Pass
            }
            (Decision::Inconclusive, OnInconclusive::Warn) => GateEffect::Warn,
            (Decision::Inconclusive, OnInconclusive::Fail) => GateEffect::Inconclusive,
            (Decision::Failed, _) => GateEffect::Fail,
        }
    }

    /// Returns the name of the decision, which also identifies it in JSON and other data.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Passed => "passed",
            Decision::Inconclusive => "inconclusive",
            Decision::Failed => "failed",
        }
    }
}

impl std::str::FromStr for OnInconclusive {
    type Err = String;

    fn from_str(text: &str) -> Result<OnInconclusive, String> {
        match text {
            "pass" => Ok(OnInconclusive::Pass),
            "warn" => Ok(OnInconclusive::Warn),
            "fail" => Ok(OnInconclusive::Fail),
            _ => Err("expected pass, warn or fail".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_interval_decides() {
        let decide = |low, high, level| {
            let interval = Interval {
                estimate: (low + high) / 2.0,
                low,
                high,
                level,
            };
            Decision::for_interval(Relation::Above, &interval, 1.05, 0.95)
        };
        assert_eq!(decide(1.06, 1.10, 0.95), Decision::Failed);
        assert_eq!(decide(0.99, 1.05, 0.95), Decision::Passed);
        assert_eq!(decide(1.04, 1.10, 0.95), Decision::Inconclusive);
        // An estimate that would fail does not, because its interval has no level.
        assert_eq!(decide(1.06, 1.10, 0.5), Decision::Inconclusive);
        assert_eq!(decide(1.06, f64::NAN, 0.95), Decision::Inconclusive);
    }

    #[test]
    fn an_inconclusive_gate_has_the_effect_that_the_user_chose() {
        let effects = [
            OnInconclusive::Pass,
            OnInconclusive::Warn,
            OnInconclusive::Fail,
        ]
        .map(|on| Decision::Inconclusive.effect(on));
        assert_eq!(
            effects,
            [GateEffect::Pass, GateEffect::Warn, GateEffect::Inconclusive]
        );
        assert_eq!(
            Decision::Failed.effect(OnInconclusive::Pass),
            GateEffect::Fail
        );
    }
}
