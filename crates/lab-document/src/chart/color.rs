// SPDX-License-Identifier: Apache-2.0
//! Colors that people with color blindness can distinguish, in light and in dark mode.
//!
//! The indexed colors are from M. Okabe and K. Ito (*Color Universal Design*, 2008). Some are
//! slightly darker or lighter than the originals, so that each has a contrast of at least 3:1 with
//! the background.

use crate::document::{NEUTRAL, Tone};
use plotters::style::RGBColor;

/// The background color.
pub const PAPER: RGBColor = PAIRS[0].light;
/// The color of text.
pub const INK: RGBColor = PAIRS[1].light;
/// The color of explanatory text.
pub const MUTED: RGBColor = PAIRS[2].light;
/// The color of grid lines.
pub const GRID: RGBColor = PAIRS[3].light;
/// The color of areas behind the data.
pub const BAND: RGBColor = PAIRS[4].light;
/// The gray that [`NEUTRAL`] selects.
const GRAY: RGBColor = PAIRS[5].light;
/// The position of the first indexed color in `PAIRS`.
const FIRST: usize = 6;
/// The number of indexed colors. Higher indexes repeat them.
pub const COLORS: usize = PAIRS.len() - FIRST;

/// A color on a light background and its counterpart on a dark background.
struct ColorPair {
    light: RGBColor,
    dark: RGBColor,
}

const PAIRS: [ColorPair; 17] = [
    pair(0xFFFFFF, 0x15191F),
    pair(0x1B1F24, 0xE8EAED),
    pair(0x57606A, 0xA3ADB8),
    pair(0xD8DEE4, 0x343B44),
    pair(0xEDF0F3, 0x242A32),
    pair(0x6B747E, 0xB4BCC5),
    pair(0x0072B2, 0x4AA8E0),
    pair(0xD55E00, 0xF0884A),
    pair(0x008A65, 0x2CC79B),
    pair(0xB8578C, 0xE29BC4),
    pair(0xB37A00, 0xF0B93A),
    pair(0x6F4BB8, 0xB79CF0),
    pair(0x8C4A2F, 0xD69A7C),
    pair(0x2B8CC4, 0x9AD4F5),
    pair(0x857A00, 0xF0E442),
    pair(0x4B7A1F, 0x9CCB6B),
    pair(0xC2185B, 0xFF7FAE),
];

/// Returns the palette color for an index, for use on a light background.
pub fn numbered(number: usize) -> RGBColor {
    if number == NEUTRAL {
        GRAY
    } else {
        PAIRS[FIRST + number % COLORS].light
    }
}

/// Returns the color for a tone, for use on a light background.
pub fn tone_color(tone: Tone) -> RGBColor {
    match tone {
        Tone::Plain => INK,
        Tone::Inconclusive => MUTED,
        tone => numbered(tone_number(tone)),
    }
}

/// Returns the color index for a tone.
pub fn tone_number(tone: Tone) -> usize {
    match tone {
        Tone::Better => 0,
        Tone::Worse => 1,
        Tone::Same => 2,
        Tone::Alarm => 10,
        Tone::Plain | Tone::Inconclusive => NEUTRAL,
    }
}

/// Returns the style sheet for pages with charts: the font, and the colors in dark mode.
pub fn style_sheet() -> String {
    let mut css = String::from(
        "svg.plot text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"Liberation Sans\",sans-serif}\
         @media screen and (prefers-color-scheme:dark){",
    );
    for ColorPair { light, dark } in &PAIRS {
        let (light, dark) = (hex(*light), hex(*dark));
        css += &format!(
            "svg.plot [fill=\"{light}\"]{{fill:{dark}}}svg.plot [stroke=\"{light}\"]{{stroke:{dark}}}"
        );
    }
    css + "}"
}

/// Formats a color as `#RRGGBB`.
pub fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

const fn pair(light: u32, dark: u32) -> ColorPair {
    ColorPair {
        light: rgb(light),
        dark: rgb(dark),
    }
}

const fn rgb(hex: u32) -> RGBColor {
    RGBColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}
