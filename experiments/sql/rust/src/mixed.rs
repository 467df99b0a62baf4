// SPDX-License-Identifier: Apache-2.0
//! A row of `test_mixed`, and the number that stands for it.

use chrono::NaiveDateTime;
use rust_decimal::Decimal;

/// The columns id, small, big, amount, name, nothing and moment.
pub type Mixed<A> = (i32, i32, i64, A, String, Option<i32>, NaiveDateTime);

/// What the column `amount` is decoded to.
pub trait Amount {
    /// The amount times 10,000, as a whole number.
    fn ten_thousandths(self) -> i64;
}

impl Amount for Decimal {
    fn ten_thousandths(mut self) -> i64 {
        self.rescale(4);
        self.mantissa() as i64
    }
}

impl Amount for f64 {
    fn ten_thousandths(self) -> i64 {
        (self * 10_000.0).round() as i64
    }
}

/// Every column of the row, added up.
pub fn fold<A: Amount>((id, small, big, amount, name, nothing, moment): Mixed<A>) -> i64 {
    big.wrapping_add(i64::from(id))
        .wrapping_add(i64::from(small))
        .wrapping_add(amount.ten_thousandths())
        .wrapping_add(name.chars().map(|c| i64::from(u32::from(c))).sum())
        .wrapping_add(i64::from(nothing.is_none()))
        .wrapping_add(moment.and_utc().timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::NaiveDate;

    #[test]
    fn folds_every_column() {
        let moment = NaiveDate::from_ymd_opt(1970, 1, 2)
            .and_then(|day| day.and_hms_milli_opt(0, 0, 1, 5))
            .unwrap();
        let row = |amount| (1, -2, -10, amount, "aé€😀".to_owned(), None, moment);
        let name = 0x61 + 0xE9 + 0x20AC + 0x1F600;
        let wanted = 1 - 2 - 10 - 123_405 + name + 1 + 86_401_005;
        assert_eq!(fold(row(Decimal::new(-123_405, 4))), wanted);
        let row = (1, -2, -10, -12.3405, "aé€😀".to_owned(), None, moment);
        assert_eq!(fold(row), wanted);
    }

    #[test]
    fn amounts_are_exact() {
        for (amount, whole) in [
            ("99999999999.9999", 999_999_999_999_999),
            ("-99999999999.9999", -999_999_999_999_999),
            ("-0.0001", -1),
            ("5", 50_000),
        ] {
            let decimal: Decimal = amount.parse().unwrap();
            assert_eq!(decimal.ten_thousandths(), whole);
            let real: f64 = amount.parse().unwrap();
            assert_eq!(real.ten_thousandths(), whole);
        }
    }

    #[test]
    fn folds_wrap() {
        let moment = NaiveDateTime::default();
        let row = (
            1,
            0,
            i64::MAX,
            Decimal::ZERO,
            String::new(),
            Some(0),
            moment,
        );
        assert_eq!(fold(row), i64::MIN);
    }
}
