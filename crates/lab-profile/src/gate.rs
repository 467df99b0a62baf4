// SPDX-License-Identifier: Apache-2.0
//! Gates on a profile: what `--fail-if 'peak>2MB'` or `'D1mw>+5%'` says, and whether it is so.

use crate::Profile;
use lab_model::SIZES;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

/// Figures that have a size in bytes.
const SIZE_FIGURES: [&str; 2] = ["peak", "total"];

/// Figures that a condition may name.
const FIGURES: [&str; 24] = [
    "peak",
    "total",
    "allocations",
    "Ir",
    "Dr",
    "Dw",
    "D",
    "I1mr",
    "D1mr",
    "D1mw",
    "ILmr",
    "DLmr",
    "DLmw",
    "I1",
    "D1",
    "LL",
    "Bc",
    "Bcm",
    "Bi",
    "Bim",
    "mispredicts",
    "Ge",
    "sysCount",
    "sysTime",
];

/// A figure and the bound beyond which the gate fails.
#[derive(Clone, Debug, PartialEq)]
pub struct GateCondition {
    text: String,
    figure: &'static str,
    /// Fails if the figure is above the bound; otherwise if it is below.
    above: bool,
    bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// A bound on the value in the later profile.
    Value(f64),
    /// A bound on the change from the earlier to the later profile, as a part of the earlier.
    Change(f64),
}

/// The result of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateResult {
    /// The figure is within the bound.
    Passed,
    /// The figure is beyond the bound: a sentence with its value.
    Failed(String),
    /// The condition cannot be judged: the reason.
    Undecided(String),
}

impl GateCondition {
    /// Judges the later of two profiles, or the only one.
    pub fn judge(&self, before: &Profile, after: Option<&Profile>) -> GateResult {
        let last = after.unwrap_or(before);
        let Some(value) = last.figure(self.figure) else {
            return GateResult::Undecided(format!("{self}: no file says it"));
        };
        let (found, bound, text) = match (self.bound, after) {
            (Bound::Value(bound), _) => (value as f64, bound, value.to_string()),
            (Bound::Change(_), None) => {
                return GateResult::Undecided(format!(
                    "{self}: there is nothing before to compare with"
                ));
            }
            (Bound::Change(bound), Some(_)) => match before.figure(self.figure) {
                None => return GateResult::Undecided(format!("{self}: no file says it of before")),
                Some(0) if value == 0 => (0.0, bound, "+0 %".into()),
                Some(old) => {
                    let change = value as f64 / old as f64 - 1.0;
                    (
                        change,
                        bound,
                        format!("{:+.3} % ({old} to {value})", 100.0 * change),
                    )
                }
            },
        };
        let failed = if self.above {
            found > bound
        } else {
            found < bound
        };
        if failed {
            GateResult::Failed(format!("{self}: it is {text}"))
        } else {
            GateResult::Passed
        }
    }
}

impl Display for GateCondition {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for GateCondition {
    type Err = String;

    /// `peak>2MB`, `D1mw>+5%`, `Ir<1000000`.
    fn from_str(text: &str) -> Result<GateCondition, String> {
        let text = text.trim();
        let usage = "expected a figure, > or <, and a bound, such as 'peak>2MB' or 'D1mw>+5%'";
        let at = text.find(['>', '<']).ok_or(usage)?;
        let (name, rest) = (text[..at].trim(), text[at + 1..].trim());
        let figure = FIGURES.into_iter().find(|known| *known == name);
        let figure = figure.ok_or_else(|| {
            format!(
                "no figure is called `{name}`; known are {}",
                FIGURES.join(", ")
            )
        })?;
        let bound = match rest.strip_suffix('%') {
            Some(percent) if percent.starts_with(['+', '-']) => {
                Bound::Change(percent.trim().parse::<f64>().map_err(|_| usage)? / 100.0)
            }
            Some(_) => return Err("a change has a sign, such as 'D1mw>+5%'".into()),
            None => Bound::Value(size(rest, SIZE_FIGURES.contains(&figure))?),
        };
        let (Bound::Value(number) | Bound::Change(number)) = bound;
        if !number.is_finite() {
            return Err(usage.into());
        }
        Ok(GateCondition {
            text: text.into(),
            figure,
            above: text[at..].starts_with('>'),
            bound,
        })
    }
}

/// A number, of bytes with a unit.
fn size(text: &str, is_bytes: bool) -> Result<f64, String> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim());
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` is no bound"))?;
    if !is_bytes {
        return match unit {
            "" => Ok(number),
            unit => Err(format!("`{unit}` is no unit of it: it is a number")),
        };
    }
    let scale = SIZES.iter().find(|(known, _)| *known == unit);
    let scale = scale.ok_or("a size is such as 2MB, in B, KiB, MiB, GiB, kB, MB or GB")?;
    Ok(number * scale.1)
}
