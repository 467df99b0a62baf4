// SPDX-License-Identifier: Apache-2.0
//! The `Cookie` field of a request.

use super::cookie::Cookie;
use super::wire::{FIELD, SEPARATOR};

/// Bytes of a `Cookie` field with its name and the end of its line; 0 without cookies.
pub fn field_bytes(cookies: &[Cookie], sent: &[usize]) -> usize {
    match sent.len() {
        0 => 0,
        n => {
            FIELD
                + sent
                    .iter()
                    .map(|&index| cookies[index].bytes())
                    .sum::<usize>()
                + SEPARATOR * (n - 1)
        }
    }
}
