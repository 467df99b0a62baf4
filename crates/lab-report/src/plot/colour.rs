// SPDX-License-Identifier: Apache-2.0
//! Colours that people with colour-blindness tell apart, in light and in dark. The subjects' hues are
//! M. Okabe's and K. Ito's (*Color Universal Design*, 2008), some a little darker or lighter, so that
//! each has a contrast of at least 3 to 1 against the paper.

use crate::view::View;
use lab_model::SubjectId;
use plotters::style::RGBColor;

/// A colour on light paper and its counterpart on dark paper.
struct Pair {
    light: RGBColor,
    dark: RGBColor,
}

/// What is drawn on.
pub const PAPER: RGBColor = PAIRS[0].light;
/// Text.
pub const INK: RGBColor = PAIRS[1].light;
/// Text that explains.
pub const MUTED: RGBColor = PAIRS[2].light;
/// Lines behind the figures.
pub const GRID: RGBColor = PAIRS[3].light;
/// Areas behind the figures.
pub const BAND: RGBColor = PAIRS[4].light;
/// The baseline and its control.
const BASELINE: RGBColor = PAIRS[5].light;
/// The first of the subjects' colours in the table.
const FIRST: usize = 6;

const PAIRS: [Pair; 17] = [
    pair(0xFFFFFF, 0x15191F),
    pair(0x1B1F24, 0xE8EAED),
    pair(0x57606A, 0xA3ADB8),
    pair(0xD8DEE4, 0x343B44),
    pair(0xEDF0F3, 0x242A32),
    pair(0x4A525C, 0xC2C9D1),
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

/// A subject's colour: the same in every plot of a run.
pub fn of_subject(view: &View, subject: SubjectId) -> RGBColor {
    match colour_index(view, subject) {
        None => BASELINE,
        Some(i) => numbered(i),
    }
}

/// The colour of the subject of that number, from 0, among those that are compared.
pub const fn numbered(i: usize) -> RGBColor {
    PAIRS[FIRST + i % (PAIRS.len() - FIRST)].light
}

/// The colour of what shows the machine's limit, beside those of languages.
pub const fn limit() -> RGBColor {
    BASELINE
}

/// The rules that turn plots dark, and their type.
pub fn style_sheet() -> String {
    let mut css = String::from(
        "svg.plot text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"Liberation Sans\",sans-serif}\
         @media screen and (prefers-color-scheme:dark){",
    );
    for Pair { light, dark } in &PAIRS {
        let (light, dark) = (hex(*light), hex(*dark));
        css += &format!(
            "svg.plot [fill=\"{light}\"]{{fill:{dark}}}svg.plot [stroke=\"{light}\"]{{stroke:{dark}}}"
        );
    }
    css + "}"
}

/// Counts the names of compared subjects other than the baseline, over all targets, so that a name has
/// one colour on each; `None` for the rest.
fn colour_index(view: &View, subject: SubjectId) -> Option<usize> {
    let whole = view.report.run.plan.as_ref()?;
    let mut names: Vec<&str> = Vec::new();
    for name in whole.compared().map(|s| whole.subjects[s].name.as_str()) {
        if name != view.baseline() && !names.contains(&name) {
            names.push(name);
        }
    }
    let compared = view.plan.subjects.get(subject)?.control_of.is_none();
    // What is compared with nothing is no baseline.
    if names.is_empty() && compared {
        return Some(0);
    }
    let name = view.name(subject);
    names.iter().position(|known| *known == name && compared)
}

fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

const fn pair(light: u32, dark: u32) -> Pair {
    Pair {
        light: rgb(light),
        dark: rgb(dark),
    }
}

const fn rgb(hex: u32) -> RGBColor {
    RGBColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance and contrast as WCAG 2.2 defines them.
    fn contrast(a: RGBColor, b: RGBColor) -> f64 {
        let channel = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        let luminance =
            |RGBColor(r, g, b)| 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn colours_can_be_seen_on_light_and_on_dark_paper() {
        for (i, pair) in PAIRS.iter().enumerate().skip(FIRST - 1) {
            assert!(
                contrast(pair.light, PAIRS[0].light) >= 3.0,
                "colour {i} on light"
            );
            assert!(
                contrast(pair.dark, PAIRS[0].dark) >= 3.0,
                "colour {i} on dark"
            );
        }
        for text in &PAIRS[1..3] {
            assert!(
                contrast(text.light, PAIRS[4].light) >= 4.5
                    && contrast(text.dark, PAIRS[4].dark) >= 4.5
            );
        }
    }
}
