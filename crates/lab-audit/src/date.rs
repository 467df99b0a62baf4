// SPDX-License-Identifier: Apache-2.0
//! HTTP dates (RFC 9110, 5.6.7).

use jiff::civil::DateTime;
use jiff::fmt::rfc2822::DateTimeParser;

/// Parses a date such as `Wed, 21 Oct 2026 07:28:00 GMT` into seconds since 1970.
///
/// Also accepts the obsolete forms of RFC 850 and `asctime`, and dates up to the end of the year
/// 9999.
pub fn unix_seconds(text: &str) -> Option<f64> {
    static PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);
    let time = PARSER.parse_timestamp(text.trim()).ok();
    time.map_or_else(
        || cookie_seconds(text),
        |time| Some(time.as_second() as f64),
    )
}

/// Parses a date such as `2026-10-21T07:28:00.000Z` (ISO 8601) into seconds since 1970.
pub fn iso_seconds(text: &str) -> Option<f64> {
    let utc = || text.trim().strip_suffix('Z')?.parse().ok();
    match text.trim().parse::<jiff::Timestamp>() {
        Ok(time) => Some(time.as_second() as f64),
        Err(_) => utc().map(civil_seconds),
    }
}

/// Converts a date and time in UTC to seconds since 1970. `jiff::Timestamp` ends 26 hours before the
/// end of the year 9999, which servers use for "never".
fn civil_seconds(time: DateTime) -> f64 {
    let epoch = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);
    time.duration_since(epoch).as_secs() as f64
}

/// Returns the current time in seconds since 1970.
pub fn now() -> f64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0.0, |now| now.as_secs_f64())
}

/// Parses a cookie's `Expires` attribute into seconds since 1970.
///
/// Accepts the same forms as browsers: `Wed, 21 Oct 2026 07:28:00 GMT`, `Wednesday, 21-Oct-26
/// 07:28:00 GMT` and `Wed Oct 21 07:28:00 2026` (RFC 6265, 5.1.1).
pub fn cookie_seconds(text: &str) -> Option<f64> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter = |c: char| !c.is_ascii_alphanumeric() && c != ':' && c.is_ascii();
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        let digits = token.bytes().take_while(u8::is_ascii_digit).count();
        let number = token[..digits].parse::<i16>().ok();
        let lower = token.get(..3).map(str::to_ascii_lowercase);
        let named = lower.and_then(|name| MONTHS.iter().position(|known| *known == name));
        if time.is_none() && token.contains(':') {
            time = clock_time(token);
        } else if day.is_none() && (1..=2).contains(&digits) {
            day = number;
        } else if month.is_none() && named.is_some() {
            month = named;
        } else if year.is_none() && (2..=4).contains(&digits) {
            year = number.map(|year| match year {
                70..=99 => year + 1900,
                0..=69 => year + 2000,
                _ => year,
            });
        }
    }
    let year = year.filter(|year| *year >= 1601)?;
    let date = jiff::civil::Date::new(year, month? as i8 + 1, i8::try_from(day?).ok()?).ok()?;
    Some(civil_seconds(date.to_datetime(time?)))
}

/// Parses a time of day such as `7:28:00`. Browsers ignore what follows the digits of the seconds.
fn clock_time(text: &str) -> Option<jiff::civil::Time> {
    let end = text.rfind(':')? + 1;
    let digits = text[end..].bytes().take_while(u8::is_ascii_digit).count();
    let mut parts = text[..end + digits]
        .split(':')
        .map(|part| part.parse::<i8>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    jiff::civil::Time::new(hour, minute, second, 0).ok()
}

/// Formats the UTC date of a time in seconds since 1970, such as `2026-10-21`.
pub fn day(unix_seconds: f64) -> String {
    let time = jiff::Timestamp::from_second(unix_seconds as i64);
    time.map_or("–".into(), |time| time.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    #[test]
    fn http_dates_are_parsed() {
        let at = super::unix_seconds("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(at, Some(784_111_777.0));
        assert_eq!(super::unix_seconds("soon"), None);
        assert_eq!(super::day(784_111_777.0), "1994-11-06");
        // The obsolete forms (RFC 9110, 5.6.7).
        for text in ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(super::unix_seconds(text), at, "{text}");
        }
    }

    /// The second before the year 10000 is the largest date of .NET, which servers send for "never".
    /// Expected value: `date -ud '9999-12-31 23:59:59' +%s`.
    #[test]
    fn dates_are_read_up_to_the_end_of_the_year_9999() {
        let last = Some(253_402_300_799.0);
        let text = "Fri, 31-Dec-9999 23:59:59 GMT";
        assert_eq!(super::cookie_seconds(text), last);
        assert_eq!(super::unix_seconds(&text.replace('-', " ")), last);
        assert_eq!(super::iso_seconds("9999-12-31T23:59:59.000Z"), last);
        let with_zone = super::iso_seconds("1994-11-06T09:49:37+01:00");
        assert_eq!(with_zone, Some(784_111_777.0));
        assert_eq!(super::iso_seconds("Session"), None);
    }

    #[test]
    fn cookie_dates_are_parsed_like_browsers_do() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 6-November-1994 8:49:37",
            "Fri, 06 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(super::cookie_seconds(text), Some(784_111_777.0), "{text}");
        }
        let later = super::cookie_seconds("Thu, 01-Jan-70 00:00:01 GMT");
        assert_eq!(later, Some(1.0));
        let zone_at_the_time = super::cookie_seconds("Sun, 06 Nov 1994 08:49:37GMT");
        assert_eq!(zone_at_the_time, Some(784_111_777.0));
        for text in [
            "",
            "soon",
            "Sun, 31 Feb 2027 08:49:37 GMT",
            "06 Nov 1994",
            "06 Nov 1994 25:00:00",
            "ärger 1:2:3 €",
        ] {
            assert_eq!(super::cookie_seconds(text), None, "{text}");
        }
    }
}
