// SPDX-License-Identifier: Apache-2.0
//! The meaning of an element of a document.

use serde::Serialize;

/// The meaning of a cell or a line, shown as a color. The text says it, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// No particular meaning.
    #[default]
    Plain,
    /// Better than the baseline.
    Better,
    /// Worse than the baseline.
    Worse,
    /// Equivalent to the baseline.
    Same,
    /// Inconclusive.
    Undecided,
    /// Something went wrong.
    Alarm,
}

impl Tone {
    /// Returns true if a finding with this tone is a warning.
    pub(super) fn warns(self) -> bool {
        matches!(self, Tone::Alarm | Tone::Undecided)
    }

    /// Returns the tone as a word, such as for a CSS class.
    pub fn word(self) -> &'static str {
        match self {
            Tone::Plain => "plain",
            Tone::Better => "better",
            Tone::Worse => "worse",
            Tone::Same => "same",
            Tone::Undecided => "undecided",
            Tone::Alarm => "alarm",
        }
    }
}
