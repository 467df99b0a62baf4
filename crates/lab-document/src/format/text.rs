// SPDX-License-Identifier: Apache-2.0
//! Sanitizes external text, and truncates and wraps text to a width in columns.

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Units that must stay on the same line as their number.
const UNITS: [&str; 10] = ["%", "ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "min"];

/// Months and weekdays as reports write them.
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];
const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// Replaces control characters and bidirectional formatting characters with spaces.
///
/// Names and log lines come from outside benchlab. A control character could move the cursor, and a
/// bidirectional formatting character (Unicode Standard Annex 9) could change the displayed text.
pub fn clean(text: &str) -> String {
    let legible = text
        .chars()
        .filter(|c| !matches!(c, '\u{fe0e}' | '\u{fe0f}'));
    legible
        .map(|c| if is_harmful(c) { ' ' } else { c })
        .collect()
}

/// Sanitizes each line of a text with [`clean`].
pub fn clean_lines(text: &str) -> String {
    let harmful = |c| c != '\n' && is_harmful(c);
    text.chars()
        .map(|c| if harmful(c) { ' ' } else { c })
        .collect()
}

fn is_harmful(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || turns || breaks
}

/// Truncates sanitized text to a width in columns. `…` replaces the removed text.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.into();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let fitting: String = text.chars().take_while(fits).collect();
    fitting.trim_end().to_owned() + "…"
}

/// Pads sanitized text on the right to at least `width` columns.
pub fn pad(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(text.width()))
}

/// Pads sanitized text on the left to at least `width` columns.
pub fn pad_left(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width())) + text
}

/// Wraps sanitized text to lines of at most `width` columns.
///
/// Lines break at spaces, but not between a number and its unit, within a date, or within code in
/// backticks that fits on a line. A word is broken only if it is too long for a line. An empty text
/// produces no lines.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let options = Options::new(width)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = joined(text, width);
    let lines = textwrap::wrap(&text, options);
    let lines = lines.iter().map(|line| line.replace('\u{a0}', " "));
    lines.filter(|line| !line.trim().is_empty()).collect()
}

/// Joins words with single spaces, and with a no-break space before a unit, within a date, and
/// within code of at most `width` columns.
fn joined(text: &str, width: usize) -> String {
    let mut joined = String::new();
    let mut within_code = 0;
    let words: Vec<&str> = text.split_whitespace().collect();
    for (i, word) in words.iter().enumerate() {
        let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
        let number = joined.ends_with(|c: char| c.is_ascii_digit() || c == ']');
        let before = joined.rsplit([' ', '\u{a0}']).next().unwrap_or_default();
        let space = if joined.is_empty() {
            ""
        } else if within_code > 0 || number && UNITS.contains(&bare) || continues_date(before, bare)
        {
            "\u{a0}"
        } else {
            " "
        };
        joined.push_str(space);
        joined.push_str(word);
        within_code = match within_code {
            0 => words_of_code(&words[i..], width),
            words => words - 1,
        };
    }
    joined
}

/// Returns the number of words that continue the code in backticks that begins in the first word.
/// Returns 0 if the first word does not begin code, or if the code does not fit on a line.
fn words_of_code(words: &[&str], width: usize) -> usize {
    let has_odd = |word: &&str| word.matches('`').count() % 2 == 1;
    if !words.first().is_some_and(has_odd) {
        return 0;
    }
    let Some(more) = words.iter().skip(1).position(has_odd) else {
        return 0;
    };
    let last = more + 1;
    let code: usize = words[..=last].iter().map(|word| word.width()).sum();
    if code + last <= width { last } else { 0 }
}

/// Returns true if two words belong to one date, such as `28 Nov`, `Nov 2026`, `2026-11-28 22:05` or `22:05 UTC`.
fn continues_date(before: &str, word: &str) -> bool {
    let is_day = |text: &str| {
        let mut days = text.split('–');
        text.len() <= "20–27".len()
            && days.all(|day| matches!(day.len(), 1 | 2) && day.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_year = |text: &str| text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
    let has_shape = |text: &str, shape: &str| {
        text.len() >= shape.len()
            && text
                .bytes()
                .zip(shape.bytes())
                .all(|(byte, expected)| match expected {
                    b'0' => byte.is_ascii_digit(),
                    expected => byte == expected,
                })
    };
    let is_clock = |text: &str| has_shape(text, "00:00");
    let is_date = |text: &str| has_shape(text, "0000-00-00");
    is_day(before) && MONTHS.contains(&word)
        || MONTHS.contains(&before) && (is_year(word) || is_clock(word))
        || (is_date(before) || WEEKDAYS.contains(&before)) && is_clock(word)
        || is_clock(before) && word == "UTC"
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn a_line_never_breaks_within_code_that_fits() {
        let text =
            "A fix of 9 words: `sysctl -w vm.swappiness=10`. Then `make x`, and `a` or (`b c`)";
        let codes = ["`sysctl -w vm.swappiness=10`.", "`make x`,", "(`b c`)"];
        for width in 29..80 {
            let lines = wrap(text, width);
            assert!(lines.iter().all(|line| line.len() <= width), "{lines:?}");
            for code in codes {
                assert!(lines.iter().any(|line| line.contains(code)), "{lines:?}");
            }
            assert_eq!(lines.join(" "), text);
        }
        // Code that is wider than a line breaks at spaces, and a lone backtick joins nothing.
        let lines = wrap("Run `echo 1234567890 1234567890` at 5` past", 12);
        let expected = ["Run `echo", "1234567890", "1234567890`", "at 5` past"];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_line_never_breaks_within_a_date() {
        let texts = [
            "made 2026-11-28 22:05 UTC, 3 blocks",
            "from 20–27 Nov 2026, all",
            "on Tuesday 14:00, busy",
            "since 9 Mar 17:12 it ran",
        ];
        let dates = [
            "2026-11-28 22:05 UTC,",
            "20–27 Nov 2026,",
            "Tuesday 14:00,",
            "9 Mar 17:12",
        ];
        for (text, date) in texts.iter().zip(dates) {
            for width in 21..40 {
                let lines = wrap(text, width);
                assert!(
                    lines.iter().any(|line| line.contains(date)),
                    "{width}: {lines:?}"
                );
            }
        }
    }
}
