// SPDX-License-Identifier: Apache-2.0
//! Dates of HTTP (RFC 9110, 5.6.7).

use jiff::fmt::rfc2822::DateTimeParser;

/// Seconds since 1970 of `Wed, 21 Oct 2026 07:28:00 GMT`.
pub fn unix_seconds(text: &str) -> Option<f64> {
    static PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);
    let time = PARSER.parse_timestamp(text.trim()).ok()?;
    Some(time.as_second() as f64)
}

/// The day of a time in seconds since 1970, such as `2026-10-21`, in UTC.
pub fn day(unix_seconds: f64) -> String {
    let time = jiff::Timestamp::from_second(unix_seconds as i64);
    time.map_or("–".into(), |time| time.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    #[test]
    fn dates_of_http_are_read() {
        let at = super::unix_seconds("Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(at, Some(784_111_777.0));
        assert_eq!(super::unix_seconds("soon"), None);
        assert_eq!(super::day(784_111_777.0), "1994-11-06");
    }
}
