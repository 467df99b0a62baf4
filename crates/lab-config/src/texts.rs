// SPDX-License-Identifier: Apache-2.0
//! Types for the values of keys. They are checked while the file is read, so that an error shows
//! the position.

use lab_model::{Comparison, ConditionError, option_value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use std::borrow::Cow;

/// Defines a type for text that a function validates.
macro_rules! text {
    ($(#[$doc:meta])* $name:ident, $check:expr, $schema:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(pub String);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let text = String::deserialize(from)?;
                let check: fn(&str) -> Result<(), String> = $check;
                check(&text).map_err(de::Error::custom)?;
                Ok($name(text))
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

text!(
    /// A duration such as `30s`.
    Time,
    |text| option_value::time(text).map(drop),
    json_schema!({
        "type": "string",
        "description": "A time such as 500ms, 30s, 2m or 1h.",
        "pattern": "^[0-9]+(\\.[0-9]*)?(ms|s|m|min|h)$"
    })
);

text!(
    /// A percentage such as `2%`.
    Percent,
    |text| option_value::fraction(text).map(drop),
    json_schema!({
        "type": "string",
        "description": "A percentage such as 2%, or a fraction such as 0.02.",
        "pattern": "^[0-9]*(\\.[0-9]*)?%?$"
    })
);

text!(
    /// A condition of `fail-if`, such as `time>+5%`.
    Condition,
    |text| {
        let parsed = Comparison::parse(text).map(drop);
        parsed.map_err(|problem| ConditionError::new(text, problem).to_string())
    },
    json_schema!({
        "type": "string",
        "description": "A condition such as time>+5%, p99>20ms or errors>1%.",
        "pattern": "[<>]"
    })
);

text!(
    /// A non-empty text.
    Text,
    |text| match text.trim() {
        "" => Err("expected a non-empty text".into()),
        _ => Ok(()),
    },
    json_schema!({ "type": "string", "minLength": 1 })
);

text!(
    /// A date such as `2027-03-31`.
    Date,
    |text| {
        let is_right = |(at, byte): (usize, u8)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        match text.len() == 10 && text.bytes().enumerate().all(is_right) {
            true => Ok(()),
            false => Err(format!("expected a date such as 2027-03-31, got `{text}`")),
        }
    },
    json_schema!({
        "type": "string",
        "description": "A date such as 2027-03-31.",
        "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
    })
);

/// The metric that a gate judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateMetric {
    /// The wall time.
    #[default]
    Wall,
    /// The CPU time, which other processes on the machine affect less than the wall time.
    Cpu,
    /// The instructions that Cachegrind counts in multiple builds or environments.
    Instructions,
}

impl GateMetric {
    /// Returns the name of the option's value.
    pub fn name(self) -> &'static str {
        match self {
            GateMetric::Wall => "wall",
            GateMetric::Cpu => "cpu",
            GateMetric::Instructions => "instructions",
        }
    }
}
