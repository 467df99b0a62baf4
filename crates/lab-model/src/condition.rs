// SPDX-License-Identifier: Apache-2.0
//! Conditions as users write them: `p99(/search) >= 300ms`, `errors>1%`, `D1mw>+5%`. The
//! `--fail-if` options of all subcommands use this grammar. Audit rules use the same relations and
//! units.
//!
//! ```text
//! condition = name [ "(" argument ")" ] relation bound
//! relation  = ">" | ">=" | "<" | "<="
//! bound     = number [ unit ]          (a change: sign number "%")
//! ```

use std::fmt::{Display, Formatter};

/// A comparison operator between a value and a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// The text of each relation. Longer texts come first, so that `>=` is not parsed as `>`.
const RELATIONS: [(&str, Relation); 4] = [
    (">=", Relation::AtLeast),
    ("<=", Relation::AtMost),
    (">", Relation::Above),
    ("<", Relation::Below),
];

impl Relation {
    /// Parses the relation at the beginning of `text` and returns it with the rest of `text`.
    pub fn split(text: &str) -> Option<(Relation, &str)> {
        let mut all = RELATIONS.into_iter();
        all.find_map(|(sign, relation)| Some((relation, text.strip_prefix(sign)?)))
    }

    /// Parses a string that contains only a relation.
    pub fn parse(sign: &str) -> Option<Relation> {
        let found = RELATIONS.into_iter().find(|(known, _)| *known == sign);
        found.map(|(_, relation)| relation)
    }

    /// Returns true if `value` has this relation to `bound`.
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Relation::Above => value > bound,
            Relation::AtLeast => value >= bound,
            Relation::Below => value < bound,
            Relation::AtMost => value <= bound,
        }
    }

    /// Returns true for `>` and `>=`, which large values satisfy.
    pub fn is_upward(self) -> bool {
        matches!(self, Relation::Above | Relation::AtLeast)
    }
}

/// The units of time, with their lengths in ns.
const TIMES: [(&str, f64); 9] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("min", 60e9),
    ("h", 3_600e9),
    ("days", 86_400e9),
];

/// The units of size that a user may specify, with their values in bytes.
const SIZES: [(&str, f64); 7] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
];

const FRACTIONS: [(&str, f64); 2] = [("", 1.0), ("%", 0.01)];
const RATES: [(&str, f64); 2] = [("", 1.0), ("/s", 1.0)];
const COUNTS: [(&str, f64); 1] = [("", 1.0)];

/// The kind of quantity that is compared, which determines the units of the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A time, in ns. A unit is required.
    Time,
    /// A number of bytes. A unit is required.
    Size,
    /// A fraction, 0 to 1.
    Fraction,
    /// Requests per second.
    Rate,
    /// A number without a unit.
    Count,
    /// A relative change as a fraction. A sign and `%` are required.
    Change,
}

impl Dimension {
    fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Dimension::Time => &TIMES,
            Dimension::Size => &SIZES,
            Dimension::Fraction => &FRACTIONS,
            Dimension::Rate => &RATES,
            Dimension::Count => &COUNTS,
            Dimension::Change => &FRACTIONS[1..],
        }
    }

    /// Parses a bound such as `300ms` and returns it in the base unit of the dimension.
    pub fn parse(self, text: &str) -> Result<f64, ConditionProblem> {
        let text = text.trim();
        let wrong = || ConditionProblem::Bound(text.escape_default().to_string(), self);
        let (sign, digits) = match (self, text.strip_prefix('-'), text.strip_prefix('+')) {
            (Dimension::Change, Some(rest), _) => (-1.0, rest),
            (Dimension::Change, _, Some(rest)) => (1.0, rest),
            (Dimension::Change, None, None) => return Err(wrong()),
            _ => (1.0, text),
        };
        let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = digits.split_at(end.unwrap_or(digits.len()));
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let (_, scale) = self
            .units()
            .iter()
            .find(|(known, _)| *known == unit.trim())
            .ok_or_else(wrong)?;
        let bound = sign * number * scale;
        if bound.is_finite() {
            Ok(bound)
        } else {
            Err(wrong())
        }
    }
}

/// Returns the number of base units in a unit of any dimension, such as 1e6 (ns) for `ms`.
pub fn unit_scale(unit: &str) -> Option<f64> {
    let tables: [&[(&str, f64)]; 3] = [&TIMES, &SIZES, &FRACTIONS];
    let mut all = tables.into_iter().flatten();
    all.find(|(known, _)| !known.is_empty() && *known == unit)
        .map(|(_, scale)| *scale)
}

impl Display for Dimension {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Dimension::Time => "a time such as 20ms, in ns, us, ms, s or min",
            Dimension::Size => "a size such as 64MiB, in B, KiB, MiB, GiB, kB, MB or GB",
            Dimension::Fraction => "a percentage such as 1% or a fraction such as 0.01",
            Dimension::Rate => "a number of requests per second such as 1000",
            Dimension::Count => "a number such as 4",
            Dimension::Change => "a change such as +5% or -2%",
        })
    }
}

/// A condition, split into its parts. Each subcommand looks up the name and then parses the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison<'t> {
    /// The name of the quantity.
    pub name: &'t str,
    /// The text in parentheses after the name, if any.
    pub argument: Option<&'t str>,
    /// The relation between the quantity and the bound, such as `>`.
    pub relation: Relation,
    /// The bound, not yet parsed.
    pub bound: &'t str,
}

impl<'t> Comparison<'t> {
    /// Splits a condition. An argument may contain `<`, `>` and parentheses.
    pub fn parse(text: &'t str) -> Result<Comparison<'t>, ConditionProblem> {
        let text = text.trim();
        let closed = text.rfind(')').map_or(0, |end| end + 1);
        let after = text[closed..].find(['<', '>']);
        let at = closed + after.ok_or(ConditionProblem::Form)?;
        let (relation, bound) = Relation::split(&text[at..]).ok_or(ConditionProblem::Form)?;
        let (name, argument) = match text[..at].trim().split_once('(') {
            Some((name, argument)) => {
                let argument = argument.strip_suffix(')');
                let argument = argument.ok_or(ConditionProblem::Parenthesis)?;
                (name.trim(), Some(argument.trim()))
            }
            None => (text[..at].trim(), None),
        };
        if name.is_empty() {
            return Err(ConditionProblem::Form);
        }
        Ok(Comparison {
            name,
            argument,
            relation,
            bound: bound.trim(),
        })
    }

    /// Splits a condition and resolves its parts with `resolve`.
    ///
    /// # Errors
    /// Returns an error with the text of the condition if it is malformed, or if `resolve` returns
    /// an error.
    pub fn resolve<T>(
        text: &'t str,
        resolve: impl FnOnce(Comparison<'t>) -> Result<T, ConditionProblem>,
    ) -> Result<T, ConditionError> {
        let resolved = Comparison::parse(text).and_then(resolve);
        resolved.map_err(|problem| ConditionError::new(text, problem))
    }

    /// Returns the error for an unknown name. `known` is a human-readable list of the known names.
    pub fn unknown_name(&self, known: impl Into<String>) -> ConditionProblem {
        ConditionProblem::Name {
            name: self.name.escape_default().to_string(),
            known: known.into(),
        }
    }

    /// Checks that the name has no argument.
    ///
    /// # Errors
    /// Returns an error if the name has an argument.
    pub fn without_argument(&self) -> Result<(), ConditionProblem> {
        match self.argument {
            None => Ok(()),
            Some(_) => Err(ConditionProblem::ArgumentUnexpected(
                self.name.escape_default().to_string(),
            )),
        }
    }
}

/// The error for an invalid condition, with its text and the mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    text: String,
    problem: ConditionProblem,
}

impl std::error::Error for ConditionError {}

impl Display for ConditionError {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        write!(
            f,
            "`{}` is not a valid condition: {}",
            self.text, self.problem
        )
    }
}

impl ConditionError {
    /// Creates an error about the condition `text`.
    pub fn new(text: &str, problem: ConditionProblem) -> ConditionError {
        ConditionError {
            text: text.trim().escape_default().to_string(),
            problem,
        }
    }
}

/// The mistake in a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionProblem {
    /// The condition does not consist of a name, a relation and a bound.
    Form,
    /// An opening parenthesis is not closed.
    Parenthesis,
    /// The name is unknown.
    Name {
        /// The name as the user wrote it.
        name: String,
        /// The known names, as a human-readable list.
        known: String,
    },
    /// The name requires an argument in parentheses. Contains an example.
    ArgumentMissing(&'static str),
    /// The name takes no argument.
    ArgumentUnexpected(String),
    /// The bound cannot be parsed as a value of the dimension.
    Bound(String, Dimension),
}

impl Display for ConditionProblem {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        match self {
            ConditionProblem::Form => {
                f.write_str("expected a name, then >, >=, < or <=, then a bound")
            }
            ConditionProblem::Parenthesis => f.write_str("a closing parenthesis is missing"),
            ConditionProblem::Name { name, known } => {
                write!(f, "unknown name `{name}`; known names: {known}")
            }
            ConditionProblem::ArgumentMissing(example) => write!(f, "expected `{example}`"),
            ConditionProblem::ArgumentUnexpected(name) => {
                write!(f, "`{name}` does not take an argument in parentheses")
            }
            ConditionProblem::Bound(bound, expected) => {
                write!(f, "expected {expected}, got `{bound}`")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_split() {
        for (text, name, argument, relation, bound) in [
            ("p99>20ms", "p99", None, Relation::Above, "20ms"),
            (" p99.9 >= 1s ", "p99.9", None, Relation::AtLeast, "1s"),
            ("errors<=1%", "errors", None, Relation::AtMost, "1%"),
            (
                "mean(/a(b)<c>)<1s",
                "mean",
                Some("/a(b)<c>"),
                Relation::Below,
                "1s",
            ),
        ] {
            let expected = Comparison {
                name,
                argument,
                relation,
                bound,
            };
            assert_eq!(Comparison::parse(text), Ok(expected), "{text}");
        }
        for text in ["", "p99", ">1s", "p99=1s", "(/a)>1"] {
            assert_eq!(
                Comparison::parse(text),
                Err(ConditionProblem::Form),
                "{text}"
            );
        }
        let unclosed = Comparison::parse("p99(/a>1s");
        assert_eq!(unclosed, Err(ConditionProblem::Parenthesis));
    }

    #[test]
    fn equality_is_part_of_a_relation_only_where_it_is_written() {
        let holds = |sign: &str| Relation::parse(sign).map(|relation| relation.holds(1.0, 1.0));
        assert_eq!(
            [">", ">=", "<", "<="].map(holds),
            [false, true, false, true].map(Some)
        );
        assert_eq!(holds("="), None);
    }

    #[test]
    fn bounds_have_the_units_of_their_dimension() {
        for (text, dimension, bound) in [
            ("20ms", Dimension::Time, 20e6),
            ("1.5 min", Dimension::Time, 90e9),
            ("2m", Dimension::Time, 120e9),
            ("2 MB", Dimension::Size, 2e6),
            ("1%", Dimension::Fraction, 0.01),
            ("0.5", Dimension::Fraction, 0.5),
            ("100/s", Dimension::Rate, 100.0),
            ("7", Dimension::Count, 7.0),
            ("+5%", Dimension::Change, 0.05),
            ("-2%", Dimension::Change, -0.02),
        ] {
            assert_eq!(dimension.parse(text), Ok(bound), "{text}");
        }
        let huge = "9".repeat(400);
        for (text, dimension) in [
            ("", Dimension::Count),
            ("3", Dimension::Time),
            ("-3ms", Dimension::Time),
            (">2ms", Dimension::Time),
            ("1.2.3", Dimension::Rate),
            ("64", Dimension::Size),
            ("1ms", Dimension::Fraction),
            ("5%", Dimension::Change),
            ("+5", Dimension::Change),
            ("+-5%", Dimension::Change),
            ("1MB", Dimension::Count),
            (&huge, Dimension::Count),
        ] {
            assert!(dimension.parse(text).is_err(), "{text}");
        }
    }
}
