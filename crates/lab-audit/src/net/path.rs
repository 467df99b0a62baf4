// SPDX-License-Identifier: Apache-2.0
//! The MTU of the path to an address, and the fate of larger packets.

use super::ping::{EchoProbe, Pinger};
use lab_load::IpFamily;
use std::time::Duration;

/// The minimum for the largest packet that a search tries, in bytes with the IP header: the MTU of
/// Ethernet.
const ETHERNET: u32 = 1500;
/// The maximum for the largest packet that a search tries, in bytes with the IP header: the MTU of
/// jumbo frames.
const JUMBO: u32 = 9000;

/// The MTU of the path to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The size of the largest packet that reaches the address, in bytes with the IP header.
    pub mtu: u32,
    /// The result for packets that are larger than the MTU.
    pub beyond: OversizedPackets,
}

/// The result for packets that are too large for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OversizedPackets {
    /// This machine's own link does not support larger packets, or no larger packets were tried.
    OwnLink,
    /// A router reports that the packets are too large.
    Refused,
    /// The packets disappear without an error (a black hole).
    Lost,
}

impl OversizedPackets {
    /// Returns the outcome as the word that rules use.
    pub fn word(self) -> &'static str {
        match self {
            OversizedPackets::OwnLink => "not tried",
            OversizedPackets::Refused => "refused",
            OversizedPackets::Lost => "lost",
        }
    }
}

/// Returns the packet size in bytes that every host of a family supports (RFC 791, RFC 8200).
fn smallest_mtu(family: IpFamily) -> u32 {
    match family {
        IpFamily::V4 => 576,
        IpFamily::V6 => 1280,
    }
}

/// Finds the path's MTU with echo requests that no router may fragment.
///
/// `assumed_mtu` is the MTU that the kernel assumes. Returns `None` if even small packets get no
/// reply.
pub fn probe(pinger: &mut Pinger, assumed_mtu: u32, round_trip: Duration) -> Option<Path> {
    pinger.forbid_fragmentation().ok()?;
    let timeout = (round_trip * 4).clamp(Duration::from_millis(250), Duration::from_secs(1));
    let family = pinger.family();
    let largest = assumed_mtu.clamp(ETHERNET, JUMBO);
    search(smallest_mtu(family), largest, &mut |bytes| {
        let first = pinger.probe(bytes, timeout);
        // A single packet may be lost by chance.
        match first {
            EchoProbe::Lost => pinger.probe(bytes, timeout),
            first => first,
        }
    })
}

/// Finds the MTU between two sizes with a binary search, or takes the size that a router reports.
fn search(smallest: u32, largest: u32, probe: &mut dyn FnMut(u32) -> EchoProbe) -> Option<Path> {
    let (mut low, mut high) = (smallest, largest + 1);
    let mut beyond = OversizedPackets::OwnLink;
    if probe(smallest) != EchoProbe::Answered {
        return None;
    }
    let (mut next, mut reported) = (largest, None);
    while high - low > 1 {
        match probe(next) {
            EchoProbe::Answered => low = next,
            EchoProbe::OwnLink => (high, beyond) = (next, OversizedPackets::OwnLink),
            EchoProbe::Refused(mtu) => {
                (high, beyond, reported) = (next, OversizedPackets::Refused, Some(mtu))
            }
            EchoProbe::Lost => (high, beyond) = (next, OversizedPackets::Lost),
        }
        next = match reported {
            Some(mtu) if low < mtu && mtu < high => mtu,
            Some(mtu) if low == mtu => low + 1,
            _ => low + (high - low) / 2,
        };
    }
    Some(Path { mtu: low, beyond })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(limit: u32, reply_above_limit: impl Fn(u32) -> EchoProbe) -> (Option<Path>, u32) {
        let mut probes = 0;
        let path = search(576, 1500, &mut |bytes| {
            probes += 1;
            if bytes <= limit {
                EchoProbe::Answered
            } else {
                reply_above_limit(bytes)
            }
        });
        (path, probes)
    }

    #[test]
    fn the_limit_is_found_to_the_byte() {
        for limit in [576, 577, 1000, 1280, 1420, 1492, 1499] {
            let path = |beyond| Some(Path { mtu: limit, beyond });
            let (lost, probes) = searched(limit, |_| EchoProbe::Lost);
            assert_eq!(lost, path(OversizedPackets::Lost));
            assert!(probes <= 12, "{probes}");
            let (reported, probes) = searched(limit, |_| EchoProbe::Refused(limit));
            assert_eq!(reported, path(OversizedPackets::Refused));
            assert!(
                probes <= 4,
                "the router's report must shorten the search: {probes}"
            );
            assert_eq!(
                searched(limit, |_| EchoProbe::OwnLink).0,
                path(OversizedPackets::OwnLink)
            );
            // A router may report a wrong size.
            assert_eq!(
                searched(limit, |_| EchoProbe::Refused(9)).0,
                path(OversizedPackets::Refused)
            );
        }
        let unlimited = Path {
            mtu: 1500,
            beyond: OversizedPackets::OwnLink,
        };
        assert_eq!(searched(1500, |_| EchoProbe::Lost), (Some(unlimited), 2));
        assert_eq!(searched(100, |_| EchoProbe::Lost).0, None);
    }
}
