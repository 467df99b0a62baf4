// SPDX-License-Identifier: Apache-2.0
//! The guard against loading foreign servers. It allows only this host, private networks, and the
//! host that the user specifies.

use crate::error::{JobError, quoted};
use std::net::{IpAddr, Ipv4Addr};
use url::Host;

/// Allows load only on this host, on private networks, and on one host that the user specifies.
#[derive(Clone, Debug, Default)]
pub struct LoadGuard {
    own_addresses: Vec<IpAddr>,
    allowed: Option<Host>,
}

impl LoadGuard {
    /// Creates a guard. `allowed` is the name or address of a host that may be loaded at any of its
    /// addresses.
    ///
    /// # Errors
    /// Returns an error if `allowed` is neither the name nor the address of a host.
    pub fn new(allowed: Option<&str>) -> Result<LoadGuard, JobError> {
        Ok(LoadGuard {
            own_addresses: own_addresses(),
            allowed: allowed.map(host).transpose()?,
        })
    }

    /// Checks every address of a host. `name` is the host in the URL, a name or an address.
    ///
    /// # Errors
    /// Returns an error if an address is neither on this host nor in a private network, unless the
    /// user has allowed the host.
    pub fn check(
        &self,
        name: &str,
        addresses: impl IntoIterator<Item = IpAddr>,
    ) -> Result<(), JobError> {
        if self.allowed.is_some() && self.allowed == host(name).ok() {
            return Ok(());
        }
        let mut addresses = addresses.into_iter();
        match addresses.find(|address| !self.is_local_network(*address)) {
            None => Ok(()),
            Some(address) => Err(JobError::new(format!(
                "{name} ({address}) is neither this host nor in a private network. Load-testing a server that you \
                 do not own can take it down. If you have permission, pass `--i-may-load {name}`"
            ))),
        }
    }

    fn is_local_network(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        if address.is_loopback()
            || address.is_unspecified()
            || self.own_addresses.contains(&address)
        {
            return true;
        }
        match address {
            IpAddr::V4(v4) => v4.is_private() || v4.is_link_local() || is_shared_space(v4),
            IpAddr::V6(v6) => v6.is_unique_local() || v6.is_unicast_link_local(),
        }
    }
}

/// Returns true for an address in 100.64.0.0/10 (RFC 6598), which carrier-grade NAT and many VPNs
/// use.
fn is_shared_space(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    a == 100 && b & 0xc0 == 64
}

fn host(text: &str) -> Result<Host, JobError> {
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    let parsed = match bare.parse() {
        Ok(IpAddr::V4(address)) => Ok(Host::Ipv4(address)),
        Ok(IpAddr::V6(address)) => Ok(Host::Ipv6(address)),
        Err(_) => Host::parse(text),
    };
    parsed.map_err(|_| {
        let words = "is not a valid host: expected a name or an address as in the URL, without scheme and port";
        JobError::new(format!("{} {words}", quoted(text)))
    })
}

/// Returns the addresses of this host. If they cannot be read, returns an empty list, so that the
/// guard rejects more hosts than necessary.
fn own_addresses() -> Vec<IpAddr> {
    let interfaces = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let addresses = interfaces.filter_map(|interface| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip())))
    });
    addresses.collect()
}
