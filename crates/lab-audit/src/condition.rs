// SPDX-License-Identifier: Apache-2.0
//! Conditions of rules, such as `read_ahead > 1 MiB`, `scheduler in none mq-deadline` or `somaxconn < {backlog}`.

use crate::value::{AuditObject, Value};
use crate::wording;
use lab_model::Relation;
use lab_model::condition::unit_scale;

/// A comparison of one value of an object with literals, or with another value of the same object.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The value's name.
    pub name: String,
    /// The condition's source text in the rule.
    pub text: String,
    op: Op,
    right: RightSide,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Is,
    IsNot,
    Order(Relation),
    In,
    NotIn,
}

#[derive(Clone, Debug, PartialEq)]
enum RightSide {
    /// The literal words, with their numeric values if all of them are numbers.
    Literal(Vec<String>, Option<Vec<f64>>),
    /// The name of another value of the same object.
    OtherValue(String),
}

/// The result of evaluating a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Truth {
    /// The condition holds.
    Yes,
    /// The condition does not hold.
    No,
    /// The result is unknown because a value could not be observed. The text gives the reason.
    Unknown(String),
    /// The object has no value with this name.
    NotApplicable,
}

impl Condition {
    /// Parses a condition. Returns a message if it is invalid.
    pub fn parse(text: &str) -> Result<Condition, String> {
        let malformed = || wording::malformed_condition(text);
        let mut words = text.split_whitespace();
        let (name, op) = words.next().zip(words.next()).ok_or_else(malformed)?;
        let op = match op {
            "=" => Op::Is,
            "!=" => Op::IsNot,
            "in" => Op::In,
            "not-in" => Op::NotIn,
            sign => Op::Order(Relation::parse(sign).ok_or_else(malformed)?),
        };
        let rest: Vec<&str> = words.collect();
        let right = match (&rest[..], op) {
            ([], _) => return Err(malformed()),
            ([other], _) if other.starts_with('{') && other.ends_with('}') => {
                RightSide::OtherValue(other[1..other.len() - 1].to_owned())
            }
            (words, Op::In | Op::NotIn) => literal(words.iter().map(|word| vec![*word])),
            (words, _) => literal([words.to_vec()].into_iter()),
        };
        let condition = Condition {
            name: name.to_owned(),
            text: text.to_owned(),
            op,
            right,
        };
        if let RightSide::Literal(words, None) = &condition.right {
            if let Some(odd) = words.iter().find(|word| ends_with_unit(word)) {
                return Err(wording::not_a_number(text, odd));
            }
            if condition.is_ordering() {
                return Err(malformed());
            }
        }
        Ok(condition)
    }

    /// Returns the names of the values that the condition compares.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let other = match &self.right {
            RightSide::OtherValue(name) => Some(name.as_str()),
            _ => None,
        };
        std::iter::once(self.name.as_str()).chain(other)
    }

    /// Returns true if the right side is a number, false if it is a word, or `None` if it is the name of another
    /// value of the audited object.
    pub fn compares_with_number(&self) -> Option<bool> {
        match &self.right {
            RightSide::Literal(_, numbers) => Some(numbers.is_some()),
            RightSide::OtherValue(_) => None,
        }
    }

    /// Evaluates the condition for an object.
    pub fn holds(&self, object: &AuditObject) -> Truth {
        let Some(left) = object.values.get(self.name.as_str()) else {
            return Truth::NotApplicable;
        };
        if let Value::Unknown(reason) = left {
            return Truth::Unknown(reason.clone());
        }
        let is_true = match &self.right {
            RightSide::Literal(words, numbers) => match (left, numbers) {
                (Value::Number(left, _), Some(numbers)) => self.compares(*left, numbers),
                (Value::Number(..), None) => return self.wrong_kind(&self.name, "number"),
                _ if self.is_ordering() => return self.wrong_kind(&self.name, "word"),
                _ => words.contains(&left.text()) == self.is_equality(),
            },
            RightSide::OtherValue(name) => match (left, object.values.get(name.as_str())) {
                (_, None) => return Truth::NotApplicable,
                (_, Some(Value::Unknown(reason))) => return Truth::Unknown(reason.clone()),
                (Value::Number(left, _), Some(Value::Number(right, _))) => {
                    self.compares(*left, &[*right])
                }
                (Value::Number(..), Some(_)) => return self.wrong_kind(name, "word"),
                (_, Some(Value::Number(..))) => return self.wrong_kind(&self.name, "word"),
                _ if self.is_ordering() => return self.wrong_kind(&self.name, "word"),
                (left, Some(right)) => (left.text() == right.text()) == self.is_equality(),
            },
        };
        if is_true { Truth::Yes } else { Truth::No }
    }

    fn is_ordering(&self) -> bool {
        matches!(self.op, Op::Order(_))
    }

    fn is_equality(&self) -> bool {
        matches!(self.op, Op::Is | Op::In)
    }

    /// Returns [`Truth::Unknown`] for a value whose type cannot be compared by this condition.
    fn wrong_kind(&self, name: &str, kind: &str) -> Truth {
        Truth::Unknown(wording::wrong_kind(&self.text, name, kind))
    }

    fn compares(&self, left: f64, right: &[f64]) -> bool {
        match self.op {
            Op::Is | Op::In => right.contains(&left),
            Op::IsNot | Op::NotIn => !right.contains(&left),
            Op::Order(relation) => relation.holds(left, right[0]),
        }
    }
}

/// Parses the right side of a comparison: words, or numbers with units.
fn literal<'t>(operands: impl Iterator<Item = Vec<&'t str>> + Clone) -> RightSide {
    let numbers = operands.clone().map(|words| number(&words)).collect();
    RightSide::Literal(operands.map(|words| words.join(" ")).collect(), numbers)
}

/// Evaluates the conjunction of the conditions.
///
/// If one condition is false, the result is [`Truth::No`], even if other values could not be
/// observed.
pub fn all_hold(conditions: &[Condition], object: &AuditObject) -> Truth {
    let outcomes: Vec<Truth> = conditions.iter().map(|c| c.holds(object)).collect();
    let first_outcome = |is_requested: fn(&Truth) -> bool| {
        outcomes
            .iter()
            .find(|outcome| is_requested(outcome))
            .cloned()
    };
    first_outcome(|outcome| *outcome == Truth::NotApplicable)
        .or_else(|| first_outcome(|outcome| *outcome == Truth::No))
        .or_else(|| first_outcome(|outcome| matches!(outcome, Truth::Unknown(_))))
        .unwrap_or(Truth::Yes)
}

/// Parses a number such as `5`, `5 %`, `4 KiB` or `10 ms`, and converts it to the base unit.
fn number(words: &[&str]) -> Option<f64> {
    let (number, unit) = match words {
        [number] => (number, 1.0),
        [number, unit] => (number, unit_scale(unit)?),
        _ => return None,
    };
    let number: f64 = number.parse().ok().filter(|n: &f64| n.is_finite())?;
    Some(number * unit)
}

/// Returns true if the last word is a unit, as in `seven %`. Such a text was probably meant as a
/// number.
fn ends_with_unit(words: &str) -> bool {
    let last = words.rsplit(' ').next();
    last.is_some_and(|last| unit_scale(last).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> AuditObject {
        let mut object = AuditObject::new("disk", "sda");
        object.set("size", Value::bytes(4096));
        object.set("room", Value::bytes(8192));
        object.set("scheduler", Value::word("bfq"));
        object.set("usual", Value::word("bfq"));
        object.set("flash", Value::Flag(true));
        object.set("version", Value::word("1.1"));
        object.set("wear", Value::Unknown("smartctl is not installed".into()));
        object
    }

    #[test]
    fn comparisons_have_four_outcomes() {
        let holds = |text: &str| {
            Condition::parse(text)
                .expect("a condition")
                .holds(&object())
        };
        for condition in [
            "size = 4 KiB",
            "size < 5 KiB",
            "size < {room}",
            "scheduler not-in none mq-deadline",
            "scheduler = bfq",
            "flash = yes",
            "size in 1024 4096",
            "version = 1.1",
            "version in 1.0 1.1",
            "scheduler in {usual}",
            "size not-in {room}",
        ] {
            assert_eq!(holds(condition), Truth::Yes, "{condition}");
        }
        for no in [
            "size != 4096",
            "size > {room}",
            "scheduler in none",
            "flash = no",
            "size not-in 1024 4096",
            "version not-in 1.0 1.1",
            "scheduler not-in {usual}",
        ] {
            assert_eq!(holds(no), Truth::No, "{no}");
        }
        assert_eq!(
            holds("wear > 80 %"),
            Truth::Unknown("smartctl is not installed".into())
        );
        assert_eq!(holds("model = x"), Truth::NotApplicable);
        for (unfit, reason) in [
            ("size != big", "`size` is a number"),
            ("size in small big", "`size` is a number"),
            ("scheduler > 3", "`scheduler` is a word"),
            ("flash < {size}", "`flash` is a word"),
            ("size > {scheduler}", "`scheduler` is a word"),
            ("size = {scheduler}", "`scheduler` is a word"),
        ] {
            let expected = Truth::Unknown(format!("The rule has `{unfit}`, but {reason}."));
            assert_eq!(holds(unfit), expected);
        }
    }

    #[test]
    fn a_single_refutation_refutes() {
        let parse = |text: &&str| Condition::parse(text).expect("a condition");
        let conditions: Vec<Condition> = ["wear > 80 %", "flash = no"].iter().map(parse).collect();
        assert_eq!(all_hold(&conditions, &object()), Truth::No);
    }

    #[test]
    fn invalid_conditions_are_rejected() {
        for text in [
            "",
            "size",
            "size >",
            "size ~ 3",
            "size > big",
            "size > 5 bushels",
            "size != seven %",
            "size = many KiB",
            "size in 4 KiB 8 KiB",
        ] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
    }
}
