// SPDX-License-Identifier: Apache-2.0
//! Errors in experiment files and selections. They contain the position and the nearest valid word.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Creates an error from a position in a file and a message.
pub(crate) type ErrorAt<'a> = &'a dyn Fn(Range<usize>, String) -> PlanError;

/// An error that prevents the plan from being built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    position: Option<Position>,
    message: String,
    hint: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Position {
    file: PathBuf,
    line: usize,
    column: usize,
    text: String,
    width: usize,
}

impl PlanError {
    /// Creates an error about the command line.
    pub fn of_request(message: impl Into<String>) -> PlanError {
        PlanError {
            position: None,
            message: message.into(),
            hint: None,
        }
    }

    /// Creates an error at a position in a file.
    pub fn at_position(
        file: &Path,
        text: &str,
        span: Range<usize>,
        message: impl Into<String>,
    ) -> PlanError {
        let start = span.start.min(text.len());
        let begin = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_text = text[begin..].lines().next().unwrap_or("");
        let position = Position {
            file: file.to_path_buf(),
            line: text[..start].matches('\n').count() + 1,
            column: text[begin..start].chars().count() + 1,
            text: line_text.to_owned(),
            width: text
                .get(span)
                .map_or(1, |s| s.lines().next().unwrap_or("").chars().count())
                .max(1),
        };
        PlanError {
            position: Some(position),
            message: message.into(),
            hint: None,
        }
    }

    /// Converts an error from the TOML parser, and adds the nearest expected word.
    pub fn toml(file: &Path, text: &str, error: &toml::de::Error) -> PlanError {
        let message = error.message().to_owned();
        let span = error.span().unwrap_or(0..0);
        // serde's format is: unknown field `x`, expected one of `a`, `b`
        let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let hint = match words.split_first() {
            Some((wrong, words_expected)) if message.starts_with("unknown") => {
                nearest(wrong, words_expected.iter().copied())
            }
            _ => None,
        };
        let message = match words.first() {
            Some(wrong) if message.starts_with("unknown field") => format!("unknown key `{wrong}`"),
            _ => message.clone(),
        };
        PlanError {
            hint: hint.map(did_you_mean),
            ..PlanError::at_position(file, text, span, message)
        }
    }

    /// Adds a hint to the error: the word of `expected` that is nearest to `wrong`, or all words if
    /// none is close.
    pub(crate) fn with_nearest<'a>(
        self,
        wrong: &str,
        expected: impl Iterator<Item = &'a str> + Clone,
    ) -> PlanError {
        let hint = nearest(wrong, expected.clone())
            .map(did_you_mean)
            .unwrap_or_else(|| format!("available: {}", expected.collect::<Vec<_>>().join(", ")));
        PlanError {
            hint: Some(hint),
            ..self
        }
    }
}

/// Returns the word of `expected` that is most similar to `wrong`, if their Jaro-Winkler similarity
/// exceeds 0.7.
pub fn nearest<'a>(wrong: &str, expected: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |word: &&str| strsim::jaro_winkler(wrong, word);
    let best = expected.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) > 0.7).then_some(best)
}

fn did_you_mean(word: &str) -> String {
    format!("did you mean `{word}`?")
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.position {
            None => write!(f, "{}", self.message)?,
            Some(p) => {
                let number = p.line.to_string();
                let gap = " ".repeat(number.len());
                let marks = "^".repeat(
                    p.width
                        .min(p.text.chars().count().max(p.column) + 1 - p.column)
                        .max(1),
                );
                writeln!(
                    f,
                    "{}:{}:{}: {}",
                    p.file.display(),
                    p.line,
                    p.column,
                    self.message
                )?;
                writeln!(f, "  {number} | {}", p.text)?;
                write!(f, "  {gap} | {}{marks}", " ".repeat(p.column - 1))?;
            }
        }
        match &self.hint {
            Some(hint) if self.position.is_some() => write!(f, "\n  {hint}"),
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PlanError {}
