// SPDX-License-Identifier: Apache-2.0
//! The contents of a target's tables (experiments/sql/README.md), as SQL statements that every database accepts.

/// The number of rows that one statement inserts.
const ROWS: u64 = 500;

/// Returns a query for a checksum of a whole `test_simple` table, as text.
///
/// In all cases, IDs are below 2^20 and values are below 2^31, so the sum fits into 64 bits.
pub fn sum(table: &str) -> String {
    let product = "id * CAST(value AS DECIMAL(20))";
    format!("SELECT CAST(coalesce(sum({product}), 0) AS CHAR(40)) FROM {table}")
}

/// The characters of generated texts, with UTF-8 lengths of one to four bytes.
const LETTERS: [char; 12] = ['a', 'e', 'n', 'R', ' ', '7', 'ß', 'é', 'Ж', '語', '€', '😀'];

/// Returns statements that insert rows 1 to `rows` into `test_simple`. The values are from 0 to
/// 2^30-1 and depend on the seed.
pub fn simple(rows: u64, seed: u64) -> impl Iterator<Item = String> {
    insert("test_simple (id, value)", rows, move |id| {
        format!("({id},{})", mixed_bits(id, seed) >> 34)
    })
}

/// Returns statements that insert rows 1 to `rows` into `test_mixed`.
pub fn mixed(rows: u64, seed: u64) -> impl Iterator<Item = String> {
    insert("test_mixed", rows, move |id| row(id, seed))
}

fn insert(into: &str, rows: u64, row: impl Fn(u64) -> String) -> impl Iterator<Item = String> {
    let into = into.to_owned();
    (0..rows.div_ceil(ROWS)).map(move |part| {
        let last = rows.min((part + 1) * ROWS);
        let values: Vec<String> = (part * ROWS + 1..=last).map(&row).collect();
        format!("INSERT INTO {into} VALUES {}", values.join(","))
    })
}

fn row(id: u64, seed: u64) -> String {
    let mut bits = mixed_bits(id, seed);
    let mut next = || {
        bits = mixed_bits(bits, seed);
        bits
    };
    let (small, big) = ((next() >> 32) as i32, next() as i64);
    let units = (next() % 2_000_000_000_000_000) as i64 - 1_000_000_000_000_000;
    let sign = if units < 0 { "-" } else { "" };
    let (integer, fraction) = (units.unsigned_abs() / 10_000, units.unsigned_abs() % 10_000);
    let length = 20 + next() % 21;
    let name: String = (0..length)
        .map(|_| LETTERS[next() as usize % LETTERS.len()])
        .collect();
    // Random times in the 100 years from 1970 on, with 365.25 days per year.
    let moment = moment(next() % 3_155_760_000_000);
    format!("({id},{small},{big},{sign}{integer}.{fraction:04},'{name}',NULL,'{moment}')")
}

/// Formats a time in ms since 1970 as `2026-11-21 09:15:00.123`.
fn moment(ms: u64) -> String {
    let at = jiff::Timestamp::from_millisecond(ms as i64).expect("a time of this century");
    at.to_zoned(jiff::tz::TimeZone::UTC)
        .strftime("%Y-%m-%d %H:%M:%S.%3f")
        .to_string()
}

/// Mixes the bits of a number with Fibonacci hashing.
///
/// Runs two rounds with a shift, because one round does not mix the lower bits.
fn mixed_bits(number: u64, seed: u64) -> u64 {
    let once = (number ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (once ^ (once >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_match_the_experiments_specification() {
        let statements: Vec<String> = simple(1_001, 7).collect();
        assert_eq!(statements.len(), 3);
        assert!(statements[2].starts_with("INSERT INTO test_simple (id, value) VALUES (1001,"));
        assert!((1..10_000).all(|id| mixed_bits(id, 7) >> 34 < 1 << 30));
        assert_eq!(moment(0), "1970-01-01 00:00:00.000");
        assert_eq!(moment(1_795_252_500_123), "2026-11-21 09:15:00.123");
        assert_eq!(
            mixed(1, 7).collect::<Vec<_>>(),
            mixed(1, 7).collect::<Vec<_>>()
        );
    }
}
