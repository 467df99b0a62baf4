// SPDX-License-Identifier: Apache-2.0
//! A workload of the user's own SQL: the statements of each operation, their parameters, and the
//! types of their results (docs/protocol.md, "The case `own`").

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The name of the parameter that selects a variant of the schema.
pub const VARIANT: &str = "variant";

/// The value of the parameter `variant` that selects the schema as the workload creates it.
pub const NO_VARIANT: &str = "none";

/// The file of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SqlWorkload {
    /// The name of the file without its extension, such as `shop`.
    pub name: String,
    /// The path of the file.
    pub file: String,
    /// The SHA-256 of the workload's file and its CSV files.
    pub sha256: String,
    /// The named statements of `--variant`.
    pub variants: Vec<(String, String)>,
}

/// The statements that create the schema of a target and load its data. Each run reads them from
/// the workload's file. The run file does not contain them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlSetup {
    /// The statements for every visit, in order.
    pub statements: Arc<[SetupStatement]>,
    /// The name of each variant, with the statement that runs after `statements`.
    pub variants: Vec<(String, SetupStatement)>,
}

/// A statement that creates the schema or loads data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetupStatement {
    /// The SQL text.
    pub text: String,
    /// The origin for messages, such as `shop.toml:12`.
    pub origin: String,
}

/// The work of one operation on one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SqlWork {
    /// True if the statements run in one transaction. False if each statement commits by itself.
    pub transaction: bool,
    /// The statements, in order.
    pub statements: Vec<SqlStatement>,
    /// The parameters of all statements. A parameter has one value per operation.
    pub parameters: Vec<SqlParameter>,
    /// For each of the first operations, the values to bind, in the order of
    /// [`SqlStatement::uses`]. Computed for each run.
    #[serde(skip)]
    pub inputs: Arc<[Vec<String>]>,
}

/// A statement with its parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SqlStatement {
    /// The pieces of the text before, between and after the parameters: one more than the number of
    /// parameters.
    pub pieces: Vec<String>,
    /// The index in [`SqlWork::parameters`] of each parameter in the text.
    pub uses: Vec<usize>,
    /// The types of the result's columns. Empty if the statement returns no rows.
    #[serde(default)]
    pub columns: Vec<SqlType>,
    /// The lines that the database's EXPLAIN printed for the statement.
    #[serde(default)]
    pub explanation: Vec<String>,
}

/// A named parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SqlParameter {
    /// The name, without the colon.
    pub name: String,
    /// The source of the values, as the user wrote it.
    pub source: String,
    /// The type with which values are bound: an integer, a float or a text.
    #[serde(default)]
    pub kind: SqlType,
}

/// The types of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SqlType {
    /// A whole number.
    #[default]
    Integer,
    /// A truth value.
    Boolean,
    /// A floating-point number with double precision.
    Float,
    /// An exact number with decimals.
    Decimal,
    /// A character string of any length.
    Text,
    /// A binary string.
    Bytes,
    /// A day, without a time.
    Date,
    /// A point in time.
    Timestamp,
}

impl SqlType {
    /// All types.
    pub const ALL: [SqlType; 8] = [
        SqlType::Integer,
        SqlType::Boolean,
        SqlType::Float,
        SqlType::Decimal,
        SqlType::Text,
        SqlType::Bytes,
        SqlType::Date,
        SqlType::Timestamp,
    ];

    /// Returns the name of the type in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            SqlType::Integer => "integer",
            SqlType::Boolean => "boolean",
            SqlType::Float => "float",
            SqlType::Decimal => "decimal",
            SqlType::Text => "text",
            SqlType::Bytes => "bytes",
            SqlType::Date => "date",
            SqlType::Timestamp => "timestamp",
        }
    }

    /// Returns the type that is called `name` in the protocol.
    pub fn named(name: &str) -> Option<SqlType> {
        SqlType::ALL.into_iter().find(|t| t.name() == name)
    }
}

/// The syntax of parameters in the text of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placeholder {
    /// `?`
    #[default]
    #[serde(rename = "?")]
    Question,
    /// `$1`, `$2`, …
    #[serde(rename = "$1")]
    Numbered,
    /// `%s`, with each `%` of the text doubled.
    #[serde(rename = "%s")]
    Format,
}

impl SqlStatement {
    /// Returns the text of the statement with parameters in a driver's syntax.
    pub fn render(&self, placeholder: Placeholder) -> String {
        self.render_with(
            |n| match placeholder {
                Placeholder::Question => "?".into(),
                Placeholder::Numbered => format!("${}", n + 1),
                Placeholder::Format => "%s".into(),
            },
            placeholder == Placeholder::Format && !self.uses.is_empty(),
        )
    }

    /// Returns the text of the statement as the user wrote it, with named parameters.
    pub fn written(&self, parameters: &[SqlParameter]) -> String {
        self.render_with(
            |n| {
                let parameter = self.uses.get(n).and_then(|&i| parameters.get(i));
                format!(":{}", parameter.map_or("", |p| &p.name))
            },
            false,
        )
    }

    /// Returns the text of the statement with each parameter replaced by the result of `parameter`.
    /// The argument of `parameter` is the index of the parameter, from 0.
    ///
    /// If `doubles_percent` is true, each `%` of the text is doubled.
    pub fn render_with(
        &self,
        parameter: impl Fn(usize) -> String,
        doubles_percent: bool,
    ) -> String {
        let mut text = String::new();
        for (n, piece) in self.pieces.iter().enumerate() {
            if n > 0 {
                text += &parameter(n - 1);
            }
            if doubles_percent {
                text += &piece.replace('%', "%%");
            } else {
                text += piece;
            }
        }
        text
    }

    /// Returns the first word in lowercase, such as `select`.
    pub fn first_word(&self) -> String {
        let text = self.pieces.first().map_or("", |piece| piece.trim_start());
        let end = text
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(text.len());
        text[..end].to_ascii_lowercase()
    }

    /// Returns true if the statement may change data.
    pub fn writes(&self) -> bool {
        const CHANGES: [&str; 5] = ["insert", "update", "delete", "replace", "merge"];
        let word = self.first_word();
        // A common table expression of PostgreSQL may change data.
        let has_change = || {
            let text = self.pieces.join(" ").to_ascii_lowercase();
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            words.any(|word| CHANGES[..3].contains(&word))
        };
        CHANGES.contains(&&*word) || word == "with" && has_change()
    }
}

impl SqlSetup {
    /// Returns the statements for a variant. Without a variant, returns the statements for the
    /// schema as the workload creates it.
    pub fn statements_for(&self, variant: Option<&str>) -> impl Iterator<Item = &SetupStatement> {
        let of_variant = self
            .variants
            .iter()
            .find(|(name, _)| Some(name.as_str()) == variant);
        self.statements
            .iter()
            .chain(of_variant.map(|(_, statement)| statement))
    }
}

impl SqlWork {
    /// Returns the arguments of `open` that describe the work, for a driver that uses the parameter
    /// syntax `placeholder`.
    pub fn open_args(&self, placeholder: Placeholder) -> Vec<(String, String)> {
        let yes_or_no = if self.transaction { "yes" } else { "no" };
        let mut args = vec![
            ("statements".to_owned(), self.statements.len().to_string()),
            ("transaction".to_owned(), yes_or_no.to_owned()),
        ];
        for (number, statement) in (1..).zip(&self.statements) {
            let kinds = statement
                .uses
                .iter()
                .filter_map(|&i| self.parameters.get(i));
            let kinds: Vec<&str> = kinds.map(|p| p.kind.name()).collect();
            let columns: Vec<&str> = statement.columns.iter().map(|c| c.name()).collect();
            args.push((format!("sql{number}"), statement.render(placeholder)));
            args.push((format!("parameters{number}"), or_none(&kinds)));
            args.push((format!("columns{number}"), or_none(&columns)));
        }
        args
    }

    /// Returns true if any statement has a parameter.
    pub fn has_parameters(&self) -> bool {
        self.statements.iter().any(|s| !s.uses.is_empty())
    }

    /// Returns true if the rows that the statements return may depend on earlier operations,
    /// because the statements also change data.
    pub fn yields_by_state(&self) -> bool {
        self.writes() && self.statements.iter().any(|s| !s.columns.is_empty())
    }

    /// Returns true if the work may change data.
    pub fn writes(&self) -> bool {
        self.statements.iter().any(SqlStatement::writes)
    }
}

fn or_none(words: &[&str]) -> String {
    if words.is_empty() {
        "none".into()
    } else {
        words.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(pieces: &[&str], uses: &[usize]) -> SqlStatement {
        SqlStatement {
            pieces: pieces.iter().map(|p| (*p).to_owned()).collect(),
            uses: uses.to_vec(),
            ..SqlStatement::default()
        }
    }

    #[test]
    fn each_driver_gets_its_own_placeholders() {
        let like = statement(
            &["SELECT 1 WHERE a LIKE '%x' AND b = ", " AND c = ", ""],
            &[0, 1],
        );
        assert_eq!(
            like.render(Placeholder::Question),
            "SELECT 1 WHERE a LIKE '%x' AND b = ? AND c = ?"
        );
        assert_eq!(
            like.render(Placeholder::Numbered),
            "SELECT 1 WHERE a LIKE '%x' AND b = $1 AND c = $2"
        );
        assert_eq!(
            like.render(Placeholder::Format),
            "SELECT 1 WHERE a LIKE '%%x' AND b = %s AND c = %s"
        );
        // Without parameters, a driver does not look for placeholders.
        let plain = statement(&["SELECT '%'"], &[]);
        assert_eq!(plain.render(Placeholder::Format), "SELECT '%'");
    }

    #[test]
    fn writing_statements_are_recognized() {
        let writes = |text| statement(&[text], &[]).writes();
        assert!(writes("  INSERT INTO t VALUES (1)"));
        assert!(writes(
            "WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x"
        ));
        assert!(!writes("WITH x AS (SELECT 1) SELECT * FROM x"));
        assert!(!writes("SELECT last_update FROM t"));
    }
}
