// SPDX-License-Identifier: Apache-2.0
//! Observations of probes as named values. A missing value has a reason.

use lab_model::audit::EvidenceValue;
use lab_model::{Unit, trimmed};
use std::collections::BTreeMap;

/// A value that a probe observed.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number with its unit.
    Number(f64, Unit),
    /// A word or a sentence.
    Word(String),
    /// True or false.
    Flag(bool),
    /// A value that could not be observed, with the reason.
    Unknown(String),
}

/// An object that rules judge, such as a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditObject {
    /// The name of the object's [`Class`].
    pub class: &'static str,
    /// The object's name, such as `sda`.
    pub name: String,
    /// The values by name. If a value of the class is missing, the value does not apply to this
    /// object.
    pub values: BTreeMap<&'static str, Value>,
}

/// A kind of object, with the names of the values that probes may set.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// The class's name in rules.
    pub name: &'static str,
    /// The text that reports show if a host or site has no object of this class.
    pub none: &'static str,
    /// The names of the values, each with its meaning.
    pub values: &'static [(&'static str, &'static str)],
}

impl Value {
    /// Creates a size in bytes.
    pub fn bytes(n: u64) -> Value {
        Value::Number(n as f64, Unit::Bytes)
    }

    /// Creates a count. `noun` names the counted objects in the plural.
    pub fn count(n: u64, noun: &'static str) -> Value {
        Value::Number(n as f64, Unit::Count(noun.into()))
    }

    /// Creates a fraction, 0 to 1.
    pub fn fraction(fraction: f64) -> Value {
        Value::Number(fraction, Unit::Share)
    }

    /// Creates a time in nanoseconds.
    pub fn ns(ns: f64) -> Value {
        Value::Number(ns, Unit::Nanoseconds)
    }

    /// Creates a value from a result. An error becomes the reason of an unknown value.
    pub fn from_result<T>(result: Result<T, String>, value: impl FnOnce(T) -> Value) -> Value {
        result.map_or_else(Value::Unknown, value)
    }

    /// Creates a value that is a word or a sentence.
    pub fn word(text: impl Into<String>) -> Value {
        Value::Word(text.into())
    }

    /// Formats the value for the text of a rule.
    pub fn text(&self) -> String {
        match self {
            Value::Number(number, unit) => number_text(*number, unit),
            Value::Word(word) => word.clone(),
            Value::Flag(true) => "yes".into(),
            Value::Flag(false) => "no".into(),
            Value::Unknown(_) => "unknown".into(),
        }
    }

    /// Converts the value to evidence for a finding.
    pub fn evidence(&self) -> EvidenceValue {
        match self {
            Value::Number(number, _) if !number.is_finite() => EvidenceValue::Nothing,
            Value::Number(number, unit) => EvidenceValue::Number(*number, unit.clone()),
            other => EvidenceValue::Word(other.text()),
        }
    }
}

impl AuditObject {
    /// Creates an object without values.
    pub fn new(class: &'static str, name: impl Into<String>) -> AuditObject {
        AuditObject {
            class,
            name: name.into(),
            values: BTreeMap::new(),
        }
    }

    /// Sets the value `name`, replacing any earlier value.
    pub fn set(&mut self, name: &'static str, value: Value) {
        self.values.insert(name, value);
    }

    /// Sets a value from a result. An error becomes the reason of an unknown value.
    pub fn set_result<T>(
        &mut self,
        name: &'static str,
        result: Result<T, String>,
        value: impl FnOnce(T) -> Value,
    ) {
        self.set(name, Value::from_result(result, value));
    }

    /// Sets multiple values to unknown, for the same reason.
    pub fn set_unknown(&mut self, names: &[&'static str], reason: &str) {
        for name in names {
            self.set(name, Value::Unknown(reason.to_owned()));
        }
    }

    /// Sets a value, unless the value is `None`.
    pub fn set_some(&mut self, name: &'static str, value: Option<Value>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }
}

/// Formats a count: `1 entry`, `2 entries`.
pub fn counted(n: u64, word: &str) -> String {
    format!("{n} {}", agreeing(&n.to_string(), word))
}

/// Returns the form of a word that agrees with a number: singular for 1, otherwise plural.
pub fn agreeing(number: &str, word: &str) -> String {
    if number == "1" {
        return word.to_owned();
    }
    match word.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{word}s"),
    }
}

/// Formats a number with its unit to three significant digits: `512 MiB`, `25 ns`, `3.2 %`.
fn number_text(number: f64, unit: &Unit) -> String {
    const SIZES: [(&str, f64); 5] = [
        ("TiB", 1099511627776.0),
        ("GiB", 1073741824.0),
        ("MiB", 1048576.0),
        ("KiB", 1024.0),
        ("B", 1.0),
    ];
    const TIMES: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
    const LONG_TIMES: [(&str, f64); 4] = [
        ("years", 365.0 * 86_400e9),
        ("days", 86_400e9),
        ("h", 3600e9),
        ("min", 60e9),
    ];
    // A minute is written as 60 s, and a day as 24 h.
    let long = LONG_TIMES
        .iter()
        .find(|(_, size)| number.abs() >= 2.0 * size);
    let scaled = |scales: &[(&str, f64)]| {
        let fits = scales.iter().find(|(_, size)| number.abs() >= *size);
        let (name, size) = fits.unwrap_or(&scales[scales.len() - 1]);
        format!("{} {name}", digits(number / size))
    };
    match unit {
        Unit::Bytes => scaled(&SIZES),
        Unit::Nanoseconds => long.map_or_else(|| scaled(&TIMES), |time| scaled(&[*time])),
        Unit::Share => format!("{} %", digits(number * 100.0)),
        Unit::PerSecond(of) => format!("{} {of}/s", digits(number)),
        Unit::Count(_) | Unit::Ratio => digits(number),
    }
}

/// Formats a whole number without decimals, and any other number to three significant digits.
fn digits(number: f64) -> String {
    let decimals = match number.abs() {
        n if n.fract() == 0.0 || n >= 100.0 => 0,
        n if n >= 10.0 => 1,
        n if n >= 1.0 => 2,
        _ => 3,
    };
    trimmed(&format!("{number:.decimals$}")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_their_unit() {
        let texts = [
            (Value::bytes(536_870_912), "512 MiB"),
            (Value::bytes(1_500), "1.46 KiB"),
            (Value::ns(25.04), "25 ns"),
            (Value::ns(60e9), "60 s"),
            (Value::ns(5400e9), "90 min"),
            (Value::ns(86_400e9), "24 h"),
            (Value::ns(31_536_000e9), "365 days"),
            (Value::ns(1.5 * 31_536_000e9), "548 days"),
            (Value::ns(5.0 * 31_536_000e9), "5 years"),
            (Value::fraction(0.0317), "3.17 %"),
            (Value::count(28_232, "ports"), "28232"),
            (Value::Flag(true), "yes"),
        ];
        for (value, text) in texts {
            assert_eq!(value.text(), text);
        }
    }

    #[test]
    fn words_agree_with_their_numbers() {
        let texts = [0, 1, 2].map(|n| counted(n, "static file"));
        assert_eq!(texts, ["0 static files", "1 static file", "2 static files"]);
        assert_eq!(counted(2, "entry"), "2 entries");
        assert_eq!(counted(2, "day"), "2 days");
    }
}
