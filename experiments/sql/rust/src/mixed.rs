// SPDX-License-Identifier: Apache-2.0
//! A row of `test_mixed`, and its folding to a number.

use chrono::NaiveDateTime;
use rust_decimal::Decimal;

/// The columns id, small, big, amount, name, nothing and moment.
pub type Mixed<A> = (i32, i32, i64, A, String, Option<i32>, NaiveDateTime);

/// A type that the column `amount` is decoded to.
pub trait Amount {
    /// Returns the amount times 10,000, as a whole number.
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

/// Returns the sum of all columns of the row.
pub fn fold<A: Amount>((id, small, big, amount, name, nothing, moment): Mixed<A>) -> i64 {
    big.wrapping_add(i64::from(id))
        .wrapping_add(i64::from(small))
        .wrapping_add(amount.ten_thousandths())
        .wrapping_add(name.chars().map(|c| i64::from(u32::from(c))).sum())
        .wrapping_add(i64::from(nothing.is_none()))
        .wrapping_add(moment.and_utc().timestamp_millis())
}
