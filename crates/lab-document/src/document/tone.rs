// SPDX-License-Identifier: Apache-2.0
//! The tone of an element of a document: good, bad or neutral.

use serde::Serialize;

/// The tone of a cell or a line, shown as a color. The text always expresses the tone, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Neutral.
    #[default]
    Plain,
    /// Better than the baseline.
    Better,
    /// Worse than the baseline.
    Worse,
    /// Equivalent to the baseline.
    Same,
    /// Neither better, worse nor equivalent: the data do not allow a verdict.
    Inconclusive,
    /// An error or a warning.
    Alarm,
}

impl Tone {
    /// Returns true if a finding with this tone is a warning.
    pub(super) fn warns(self) -> bool {
        matches!(self, Tone::Alarm | Tone::Inconclusive)
    }

    /// Returns the tone as a word, which serves as a CSS class.
    pub fn word(self) -> &'static str {
        match self {
            Tone::Plain => "plain",
            Tone::Better => "better",
            Tone::Worse => "worse",
            Tone::Same => "same",
            Tone::Inconclusive => "inconclusive",
            Tone::Alarm => "alarm",
        }
    }
}
