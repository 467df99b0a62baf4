// SPDX-License-Identifier: Apache-2.0
//! HTTP dates (RFC 9110, 5.6.7).

use jiff::civil::DateTime;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value as Json;

/// The time at which a response was received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The time in seconds since 1970.
    pub at_s: f64,
    /// The reason the time is uncertain, or `None` if it is known.
    pub doubt: Option<ClockDoubt>,
}

/// The reason the time of a response is uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockDoubt {
    /// The time has no zone and was read as UTC.
    NoZone,
    /// The time is unknown, and the current time is used instead.
    NoTime,
    /// The expiry date of the cookie has no zone and was read as UTC.
    ExpiryWithoutZone,
    /// The expiry date of the cookie cannot be read.
    NoExpiry,
}

/// The largest distance of a local time from UTC, in seconds.
const MAX_ZONE_S: f64 = 14.0 * 3600.0;
/// The start of 1994, the year in which browsers first supported cookies, in seconds since 1970.
const FIRST_COOKIES_S: f64 = 757_382_400.0;

impl From<f64> for Clock {
    /// Creates the clock of a known time in seconds since 1970.
    fn from(at_s: f64) -> Clock {
        Clock { at_s, doubt: None }
    }
}

impl Clock {
    /// Creates the clock of a response whose time is unknown.
    pub fn unknown() -> Clock {
        Clock {
            at_s: now(),
            doubt: Some(ClockDoubt::NoTime),
        }
    }

    /// Returns true if an expiry is certainly not after the clock's time. `expiry_s` is in seconds
    /// since 1970.
    pub fn is_past(self, expiry_s: f64) -> bool {
        match self.doubt {
            None => expiry_s <= self.at_s,
            Some(ClockDoubt::NoZone | ClockDoubt::ExpiryWithoutZone) => {
                expiry_s + MAX_ZONE_S <= self.at_s
            }
            Some(ClockDoubt::NoTime | ClockDoubt::NoExpiry) => expiry_s <= FIRST_COOKIES_S,
        }
    }
}

impl ClockDoubt {
    /// Returns the shortest possible lifetime of a cookie, in seconds. `lifetime_s` is its lifetime
    /// according to an uncertain clock.
    pub fn min_lifetime_s(self, lifetime_s: f64) -> f64 {
        match self {
            ClockDoubt::NoZone | ClockDoubt::ExpiryWithoutZone => lifetime_s - MAX_ZONE_S,
            // The response is at least as old as the audit.
            ClockDoubt::NoTime => lifetime_s,
            ClockDoubt::NoExpiry => 0.0,
        }
    }
}

/// A time in a file that a browser recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedTime {
    /// The time, and the reason it is uncertain, if any.
    pub clock: Clock,
    /// True if the time is a number, whose unit was determined by its size.
    pub is_number: bool,
}

/// Reads a time such as `2026-10-21T07:28:00.000+02:00`, or a number of seconds, milliseconds or
/// microseconds since 1970.
///
/// A time without a zone is read as UTC.
pub fn recorded_time(json: &Json) -> Option<RecordedTime> {
    let text = json.as_str().map(str::trim);
    let number = json.as_f64().or_else(|| text?.parse().ok());
    if let Some(number) = number {
        let clock = Clock::from(epoch_seconds(number)?);
        return Some(RecordedTime {
            clock,
            is_number: true,
        });
    }
    let clock = text_clock(text?)?;
    Some(RecordedTime {
        clock,
        is_number: false,
    })
}

/// Converts a number to seconds since 1970. Its size shows its unit: 10^8 s is in 1973, and 10^11 s
/// in the year 5138.
pub fn epoch_seconds(number: f64) -> Option<f64> {
    match number {
        1e8..1e11 => Some(number),
        1e11..1e14 => Some(number / 1e3),
        1e14..1e17 => Some(number / 1e6),
        _ => None,
    }
}

fn text_clock(text: &str) -> Option<Clock> {
    static PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);
    // Some exporters write a blank before the zone.
    let zone = text
        .rfind(' ')
        .map(|at| (at, text[at + 1..].to_ascii_uppercase()));
    let joined = zone.and_then(|(at, zone)| match zone.as_str() {
        "UTC" | "GMT" | "Z" => Some(format!("{}Z", text[..at].trim_end())),
        zone if zone.starts_with(['+', '-']) => Some(text[..at].trim_end().to_owned() + zone),
        _ => None,
    });
    let precise = |text: &str| {
        let time = text.parse::<jiff::Timestamp>().ok();
        time.map_or_else(
            || iso_seconds(text),
            |time| Some(time.as_nanosecond() as f64 / 1e9),
        )
    };
    let iso = precise(text).or_else(|| precise(&joined?));
    let mail = || PARSER.parse_timestamp(text).ok();
    let zoned = iso.or_else(|| mail().map(|time| time.as_second() as f64));
    if let Some(at_s) = zoned {
        return Some(Clock::from(at_s));
    }
    let local: DateTime = text.parse().ok().filter(|_| text.contains(':'))?;
    Some(Clock {
        at_s: civil_seconds(local) + f64::from(local.subsec_nanosecond()) / 1e9,
        doubt: Some(ClockDoubt::NoZone),
    })
}

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

    /// Expected value: `date -ud '2017-05-17 08:00:00' +%s`.
    #[test]
    fn times_of_a_har_are_read_if_their_meaning_is_clear() {
        use super::{Clock, ClockDoubt, recorded_time};
        use serde_json::json;
        const AT_S: f64 = 1_495_008_000.0;
        for time in [
            json!("2017-05-17T08:00:00.000Z"),
            json!("2017-05-17T10:00:00.000+02:00"),
            json!("2017-05-17T10:00:00.000+0200"),
            json!("2017-05-17 10:00:00.000 +0200"),
            json!("2017-05-17 10:00:00 +02:00"),
            json!(" 2017-05-17 08:00:00 UTC "),
            json!("2017-05-17T08:00:00 gmt"),
            json!("Wed, 17 May 2017 08:00:00 GMT"),
            json!(1_495_008_000_000_u64),
            json!(1_495_008_000),
            json!(1_495_008_000.0),
            json!(1.495008e15),
            json!("1495008000000"),
        ] {
            let read = recorded_time(&time).map(|time| time.clock);
            assert_eq!(read, Some(Clock::from(AT_S)), "{time}");
        }
        for time in ["2017-05-17T08:00:00", "2017-05-17 08:00:00.000"] {
            let clock = recorded_time(&json!(time)).expect("a time").clock;
            assert_eq!((clock.at_s, clock.doubt), (AT_S, Some(ClockDoubt::NoZone)));
        }
        for time in [
            json!(null),
            json!(""),
            json!("soon"),
            json!("17/05/2017 08:00"),
            json!("2017-05-17"),
            json!(7),
            json!(-1),
            json!("nan"),
            json!("Wed May 17 2017 10:00:00 (CEST)"),
        ] {
            assert_eq!(recorded_time(&time), None, "{time}");
        }
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
