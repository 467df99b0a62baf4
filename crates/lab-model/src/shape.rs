// SPDX-License-Identifier: Apache-2.0
//! Properties of a link between a client and a server.

use serde::{Deserialize, Serialize};

/// The parameter that names the shape of the link at a point.
pub const LINK: &str = "link";

/// Bytes of the headers of a packet: IPv4 20, TCP 20, its timestamps 12.
const HEADERS: u32 = 52;

/// Rates, delay and size of packets of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// From the client to the server, thousands of bits a second.
    pub up_kbit_s: u32,
    /// From the server to the client.
    pub down_kbit_s: u32,
    /// Round-trip time of a packet without bytes, half of it in each direction, ms.
    pub round_trip_ms: f64,
    /// The largest packet, bytes with its headers.
    #[serde(default = "ethernet")]
    pub mtu: u32,
    /// The program that shapes it.
    #[serde(default)]
    pub by: Shaper,
}

/// The program that shapes a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shaper {
    /// The lab, which hands on what both say: anywhere.
    #[default]
    Lab,
    /// The kernel (tc-netem(8)), between two network namespaces: it takes root.
    Netem,
}

fn ethernet() -> u32 {
    1500
}

impl Shape {
    /// Checks it. Error: the reason why it is invalid.
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

    /// The most bytes of a connection that a packet carries.
    pub fn payload(&self) -> u32 {
        self.mtu - HEADERS
    }

    /// The bytes of a packet with so many bytes of a connection.
    pub fn packet(&self, payload: usize) -> usize {
        payload + HEADERS as usize
    }
}
