// SPDX-License-Identifier: Apache-2.0
//! Sources of values for parameters and for columns of generated rows: `1..100`, `0.50..99.99`,
//! `2020-01-01..2026-12-31`, `new | paid | sent`, `text 5..20`, `customer.id`.

/// The maximum length of a generated text, in characters.
const MAX_TEXT: u64 = 10_000;

/// A source of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Consecutive integers, such as 1, 2, 3, … Contains the first integer.
    Sequence(i64),
    /// Integers from the first to the second integer, both included.
    Integers(i64, i64),
    /// Decimal numbers in a range. The bounds are in units of 10 to the power of -`scale`.
    Decimals {
        /// The minimum, in units of 10 to the power of -`scale`.
        first: i64,
        /// The maximum, in units of 10 to the power of -`scale`.
        last: i64,
        /// The number of decimals, from 1.
        scale: u32,
    },
    /// Days from the first to the second day, both included and counted as days since 1970.
    Days(i64, i64),
    /// Words from a list.
    Words(Vec<String>),
    /// Texts with a minimum and a maximum length, in characters.
    Text(u64, u64),
    /// The values of a column, identified by its table and its name.
    Column(String, String),
}

/// The characters of generated texts, with UTF-8 lengths of one to four bytes.
const LETTERS: [char; 16] = [
    'a', 'b', 'd', 'e', 'i', 'l', 'n', 'o', 'r', 's', 't', ' ', 'ß', 'é', '語', '😀',
];

impl Source {
    /// Parses a source.
    ///
    /// # Errors
    /// Returns a message with the expected syntax.
    pub fn parse(text: &str) -> Result<Source, String> {
        let text = text.trim();
        if text.contains('|') {
            let words: Vec<String> = text.split('|').map(|word| word.trim().to_owned()).collect();
            return match words.iter().any(String::is_empty) {
                true => Err("a word is missing next to a `|`".into()),
                false => Ok(Source::Words(words)),
            };
        }
        if let Some(lengths) = text.strip_prefix("text ") {
            let (first, last) = lengths.split_once("..").unwrap_or((lengths, lengths));
            let numbers = first.trim().parse().ok().zip(last.trim().parse().ok());
            return match numbers {
                Some((first, last)) if first <= last && last <= MAX_TEXT => {
                    Ok(Source::Text(first, last))
                }
                _ => Err(format!(
                    "expected lengths such as `text 5..20`, at most {MAX_TEXT}"
                )),
            };
        }
        if let Some((first, last)) = text.split_once("..") {
            return range(first.trim(), last.trim());
        }
        match text.split_once('.') {
            Some((table, column)) if is_name(table) && is_name(column) => {
                Ok(Source::Column(table.to_owned(), column.to_owned()))
            }
            _ => Err(format!(
                "`{text}` is not a source of values: expected a range such as `1..100`, words such as `new | paid`, \
                 `text 5..20`, or a column such as `customer.id`"
            )),
        }
    }

    /// Returns the value that random bits select. A sequence ignores the bits and uses the row
    /// number. Returns `None` for a column, because this type does not know the column's values.
    pub fn value(&self, bits: u64, row: u64) -> Option<String> {
        let pick = |first: i64, last: i64| {
            let count = (last as i128 - first as i128 + 1) as u128;
            (first as i128 + (u128::from(bits) % count) as i128) as i64
        };
        Some(match self {
            Source::Sequence(first) => (i128::from(*first) + i128::from(row)).to_string(),
            Source::Integers(first, last) => pick(*first, *last).to_string(),
            Source::Decimals { first, last, scale } => decimal(pick(*first, *last), *scale),
            Source::Days(first, last) => day(pick(*first, *last)),
            Source::Words(words) => words[(bits % words.len() as u64) as usize].clone(),
            Source::Text(first, last) => {
                let length = first + bits % (last - first + 1);
                let mut more = bits;
                let letter = |_| {
                    more = mix(more);
                    LETTERS[(more % LETTERS.len() as u64) as usize]
                };
                (0..length).map(letter).collect()
            }
            Source::Column(..) => return None,
        })
    }

    /// Returns the maximum length of a value in bytes.
    pub fn max_length(&self) -> u64 {
        match self {
            Source::Words(words) => words.iter().map(String::len).max().unwrap_or(0) as u64,
            Source::Text(_, last) => 4 * last,
            _ => 20,
        }
    }

    /// Returns true if the values are numbers, which need no quotes in a statement.
    pub fn is_numeric(&self) -> bool {
        matches!(
            self,
            Source::Sequence(_) | Source::Integers(..) | Source::Decimals { .. }
        )
    }
}

/// Returns the output of the SplitMix64 generator for a state.
pub fn mix(state: u64) -> u64 {
    let z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns true if a text is a name that needs no quotes in SQL.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn range(first: &str, last: &str) -> Result<Source, String> {
    if last.is_empty() {
        let first = first
            .parse()
            .map_err(|_| format!("`{first}` is not a whole number"))?;
        return Ok(Source::Sequence(first));
    }
    let wrong = || {
        format!(
            "`{first}..{last}` is not a range: expected numbers or dates, the smaller one first, such as \
             `1..100`, `0.50..99.99` or `2020-01-01..2026-12-31`"
        )
    };
    let found = if let Some((first, last)) = parse_day(first).zip(parse_day(last)) {
        (first <= last).then_some(Source::Days(first, last))
    } else if let (Ok(first), Ok(last)) = (first.parse(), last.parse()) {
        (first <= last).then_some(Source::Integers(first, last))
    } else {
        let scale = scale(first).max(scale(last));
        let [first, last] = [first, last].map(|number| units(number, scale));
        let ends = first.zip(last).filter(|(first, last)| first <= last);
        ends.map(|(first, last)| Source::Decimals { first, last, scale })
    };
    found.ok_or_else(wrong)
}

fn scale(number: &str) -> u32 {
    number
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len() as u32)
}

/// Parses a number with at most nine decimals. Returns the number in units of 10 to the power of
/// -`scale`.
fn units(number: &str, scale: u32) -> Option<i64> {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, number),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(decimals) || !(1..=9).contains(&scale) {
        return None;
    }
    let text = format!("{whole}{decimals:0<width$}", width = scale as usize);
    Some(sign * text.parse::<i64>().ok()?)
}

fn decimal(units: i64, scale: u32) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let (one, units) = (10_u64.pow(scale), units.unsigned_abs());
    let (whole, decimals) = (units / one, units % one);
    format!("{sign}{whole}.{decimals:0width$}", width = scale as usize)
}

/// Parses a day such as 2026-11-21. Returns the days since 1970.
fn parse_day(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let mut number = |length: usize| {
        let part = parts.next().filter(|part| part.len() == length)?;
        part.parse::<u16>().ok().map(i64::from)
    };
    let (year, month, of_month) = (number(4)?, number(2)?, number(2)?);
    let days = days_since_1970(year, month, of_month);
    (parts.next().is_none() && day(days) == text).then_some(days)
}

/// Returns the number of days from 1970-01-01 to a date in the Gregorian calendar. The computation
/// uses years that begin in March, so that the leap day comes last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let y = if month > 2 { year } else { year - 1 };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * y + y / 4 - y / 100 + y / 400 + day_of_year - 719_468
}

/// Formats a number of days since 1970 as 2026-11-21.
fn day(days: i64) -> String {
    // The first estimate is never too late.
    let mut year = 1970 + days.div_euclid(if days < 0 { 365 } else { 366 });
    while days_since_1970(year + 1, 1, 1) <= days {
        year += 1;
    }
    let month = (1..=12)
        .rev()
        .find(|&month| days_since_1970(year, month, 1) <= days);
    let month = month.unwrap_or(1);
    let of_month = days - days_since_1970(year, month, 1) + 1;
    format!("{year:04}-{month:02}-{of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_parsed() {
        assert_eq!(Source::parse("1..100"), Ok(Source::Integers(1, 100)));
        assert_eq!(Source::parse(" 7.. "), Ok(Source::Sequence(7)));
        assert_eq!(
            Source::parse("-0.5..99.99"),
            Ok(Source::Decimals {
                first: -50,
                last: 9999,
                scale: 2
            })
        );
        assert_eq!(
            Source::parse("1970-01-02..1972-02-29"),
            Ok(Source::Days(1, 789))
        );
        assert_eq!(
            Source::parse("new | paid"),
            Ok(Source::Words(vec!["new".into(), "paid".into()]))
        );
        assert_eq!(Source::parse("text 5..20"), Ok(Source::Text(5, 20)));
        assert_eq!(
            Source::parse("customer.id"),
            Ok(Source::Column("customer".into(), "id".into()))
        );
        for wrong in [
            "",
            "x",
            "5..1",
            "a..b",
            "1..2..3",
            "| a",
            "text x",
            "text 9..3",
            "text 1..99999999",
            "2026-02-30..2026-03-01",
            "a.b.c",
            "1.5..",
            "..",
            "9999999999999999999..1",
            "0.0000000001..1",
        ] {
            assert!(Source::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn values_are_within_the_source() {
        let value = |source: &str, bits| Source::parse(source).unwrap().value(bits, 3).unwrap();
        assert_eq!(value("5..", 99), "8");
        assert_eq!(value("1..10", u64::MAX), "6");
        assert_eq!(value("-1.50..1.50", 0), "-1.50");
        assert_eq!(value("-1.50..1.50", 151), "0.01");
        assert_eq!(value("2024-02-28..2024-03-01", 1), "2024-02-29");
        assert_eq!(value("0001-01-01..9999-12-31", 0), "0001-01-01");
        assert_eq!(value("a|b", 3), "b");
        let lengths = (0..200).map(|bits| value("text 5..20", mix(bits)).chars().count());
        assert!(lengths.clone().all(|n| (5..=20).contains(&n)) && lengths.clone().any(|n| n == 20));
        assert!(
            value(&format!("{}..{}", i64::MIN, i64::MAX), u64::MAX)
                .parse::<i64>()
                .is_ok()
        );
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(19_782), "2024-02-29");
        assert_eq!(day(-1), "1969-12-31");
        assert!((-10_000..60_000).all(|days| parse_day(&day(days)) == Some(days)));
    }
}
