// SPDX-License-Identifier: Apache-2.0
//! Text styles for a terminal. If color is off, all styles are omitted.

use crate::document::{NEUTRAL, Tone};
use anstyle::{AnsiColor, Effects, Style};

/// Writes text in a style.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// True to use escape sequences.
    pub color: bool,
}

/// The colors of the segments of bars, in order.
const PARTS: [AnsiColor; 6] = [
    AnsiColor::Blue,
    AnsiColor::Yellow,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::Cyan,
    AnsiColor::Red,
];

impl Pen {
    /// Colors text by tone.
    pub fn paint(self, text: &str, tone: Tone) -> String {
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::Better => AnsiColor::Green.on_default(),
            Tone::Worse => AnsiColor::Yellow.on_default(),
            Tone::Same => AnsiColor::Cyan.on_default(),
            Tone::Inconclusive => Style::new() | Effects::DIMMED,
            Tone::Alarm => AnsiColor::Red.on_default(),
        };
        self.styled(text, style)
    }

    /// Styles text as a heading.
    pub fn bold(self, text: &str) -> String {
        self.styled(text, Style::new() | Effects::BOLD)
    }

    /// Dims text, for details that are less important.
    pub fn dim(self, text: &str) -> String {
        self.styled(text, Style::new() | Effects::DIMMED)
    }

    /// Colors text like a bar segment whose color index is `color`.
    pub fn part(self, text: &str, color: usize) -> String {
        match color {
            NEUTRAL => self.dim(text),
            color => self.styled(text, PARTS[color % PARTS.len()].on_default()),
        }
    }

    fn styled(self, text: &str, style: Style) -> String {
        if self.color && !style.is_plain() && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.into()
        }
    }
}
