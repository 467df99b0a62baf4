// SPDX-License-Identifier: Apache-2.0
//! The case `own`: the user's own statements, with values to bind from a file (docs/protocol.md, The case `own`).

use lab_kit::{Failure, Opening};

/// The fold of NULL.
pub const NULL: u64 = 1;

/// The statements of an operation, and the values to bind.
pub struct OwnWork {
    /// The statements, in order.
    pub statements: Vec<OwnStatement>,
    /// True if the statements are one transaction.
    pub transaction: bool,
    /// The values of the parameters, by operation and statement.
    inputs: Vec<Vec<Vec<OwnValue>>>,
}

/// A statement of the user.
pub struct OwnStatement {
    /// The SQL text.
    pub text: String,
    /// The types of the columns; empty if the statement returns no rows.
    pub columns: Vec<OwnType>,
}

/// The types of columns. Only the first three are also types of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum OwnType {
    Integer,
    Float,
    Text,
    Boolean,
    Decimal,
    Bytes,
    Date,
    Timestamp,
}

/// A value to bind.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum OwnValue {
    Integer(i64),
    Float(f64),
    Text(String),
}

impl OwnWork {
    /// Reads the arguments of `open`, and the file with the values.
    pub fn read(opening: &Opening) -> Result<Self, Failure> {
        let count = opening.integer("statements", 1..=100_usize)?;
        let mut statements = Vec::new();
        let mut parameters = Vec::new();
        for number in 1..=count {
            statements.push(OwnStatement {
                text: opening.text(&format!("sql{number}"))?.to_owned(),
                columns: types(opening.text(&format!("columns{number}"))?)?,
            });
            parameters.push(types(opening.text(&format!("parameters{number}"))?)?);
        }
        let inputs = if parameters.iter().all(Vec::is_empty) {
            vec![vec![Vec::new(); count]]
        } else {
            let text = std::fs::read_to_string(opening.text("inputs")?)?;
            let lines = text.lines().map(|line| values(line, &parameters));
            lines.collect::<Result<_, _>>()?
        };
        Ok(Self {
            statements,
            transaction: opening.text("transaction")? == "yes",
            inputs,
        })
    }

    /// Returns the values of each statement in operation `k`.
    pub fn values(&self, k: u64) -> &[Vec<OwnValue>] {
        &self.inputs[(k % self.inputs.len() as u64) as usize]
    }
}

fn types(words: &str) -> Result<Vec<OwnType>, Failure> {
    let words = words.split(',').filter(|word| *word != "none");
    let of = |word: &str| {
        Ok(match word {
            "integer" => OwnType::Integer,
            "float" => OwnType::Float,
            "text" => OwnType::Text,
            "boolean" => OwnType::Boolean,
            "decimal" => OwnType::Decimal,
            "bytes" => OwnType::Bytes,
            "date" => OwnType::Date,
            "timestamp" => OwnType::Timestamp,
            _ => return Err(Failure::unsupported(format!("unknown type {word}"))),
        })
    };
    words.map(of).collect()
}

fn values(line: &str, parameters: &[Vec<OwnType>]) -> Result<Vec<Vec<OwnValue>>, Failure> {
    let mut fields = line.split('\t');
    let mut value = |kind: &OwnType| {
        let field = fields.next().unwrap_or_default();
        Ok(match kind {
            OwnType::Integer => OwnValue::Integer(field.parse()?),
            OwnType::Float => OwnValue::Float(field.parse()?),
            _ => OwnValue::Text(field.to_owned()),
        })
    };
    let all = parameters.iter();
    all.map(|kinds| kinds.iter().map(&mut value).collect())
        .collect()
}

/// Returns the sum of a text's code points.
pub fn code_points(text: &str) -> u64 {
    text.chars().map(|c| u64::from(u32::from(c))).sum()
}

/// Returns the sum of bytes.
pub fn byte_sum(bytes: &[u8]) -> u64 {
    bytes.iter().map(|&byte| u64::from(byte)).sum()
}
