// SPDX-License-Identifier: Apache-2.0
//! The properties of a link between a client and a server.

use serde::{Deserialize, Serialize};

/// The name of the parameter that selects the shape of the link at a point.
pub const LINK: &str = "link";

/// Header bytes of a packet: IPv4 20, TCP 20, timestamp option 12.
const HEADERS: u32 = 52;

/// Rates, delay and packet size of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// The rate from the client to the server, in kbit/s.
    pub up_kbit_s: u32,
    /// The rate from the server to the client, in kbit/s.
    pub down_kbit_s: u32,
    /// The round-trip time of a packet without payload, in ms; each direction takes half of it.
    pub round_trip_ms: f64,
    /// The maximum packet size in bytes, including headers.
    #[serde(default = "ethernet")]
    pub mtu: u32,
    /// The program that shapes the link.
    #[serde(default)]
    pub by: Shaper,
}

/// The program that shapes a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shaper {
    /// benchlab, which forwards the data in both directions; works anywhere.
    #[default]
    Lab,
    /// The kernel (tc-netem(8)), between two network namespaces; requires root.
    Netem,
}

fn ethernet() -> u32 {
    1500
}

impl Shape {
    /// Validates the shape.
    ///
    /// # Errors
    /// Returns the reason why the shape is invalid.
    pub fn check(&self) -> Result<(), &'static str> {
        let rates = [self.up_kbit_s, self.down_kbit_s];
        if rates.iter().any(|rate| !(8..=10_000_000).contains(rate)) {
            return Err("`up_kbit_s` and `down_kbit_s` are from 8 to 10,000,000");
        }
        if !(0.0..=10_000.0).contains(&self.round_trip_ms) {
            return Err("`round_trip_ms` is from 0 to 10,000");
        }
        if !(576..=9000).contains(&self.mtu) {
            return Err("`mtu` is from 576 to 9000");
        }
        Ok(())
    }

    /// Returns the maximum payload of a packet in bytes.
    pub fn payload(&self) -> u32 {
        self.mtu - HEADERS
    }

    /// Returns the size in bytes of a packet with the given payload.
    pub fn packet(&self, payload: usize) -> usize {
        payload + HEADERS as usize
    }
}
