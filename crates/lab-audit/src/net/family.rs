// SPDX-License-Identifier: Apache-2.0
//! The two families of addresses.

use std::net::SocketAddr;

/// A family of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl Family {
    /// Of an address.
    pub fn of(address: &SocketAddr) -> Family {
        if address.is_ipv4() {
            Family::V4
        } else {
            Family::V6
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Family::V4 => "IPv4",
            Family::V6 => "IPv6",
        }
    }
}
