// SPDX-License-Identifier: Apache-2.0
//! The servers that may be loaded: this host and private networks, and beyond them only those that the user
//! names.

use crate::error::{JobError, quoted};
use std::net::{IpAddr, Ipv4Addr};
use url::Host;

/// Lets load go to this host and to private networks only, and to one host that the user says may be
/// loaded.
#[derive(Clone, Debug, Default)]
pub struct LoadGuard {
    own_addresses: Vec<IpAddr>,
    allowed: Option<Host>,
}

impl LoadGuard {
    /// A guard of this host. `allowed`: a host that may be loaded wherever it is, by the name or address in its URL.
    ///
    /// # Errors
    ///
    /// `allowed` is not the name or address of a host.
    pub fn new(allowed: Option<&str>) -> Result<LoadGuard, JobError> {
        Ok(LoadGuard {
            own_addresses: own_addresses(),
            allowed: allowed.map(host).transpose()?,
        })
    }

    /// Looks at every address that a host has, by the name or address that its URL has.
    ///
    /// # Errors
    /// One of them is neither on this host nor in a private network, and the host is not the allowed one.
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
                "{name} ({address}) is neither this host nor in a private network; load on a server of others \
                 does harm: if it is yours to load, say so with `--i-may-load {name}`"
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

/// 100.64.0.0/10 (RFC 6598), the inner side of a carrier's address translation and of many VPNs.
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
        let words = "is no host: give its name or address as in the URL, without scheme and port";
        JobError::new(format!("{} {words}", quoted(text)))
    })
}

/// The addresses of this host. If they cannot be read, the list is empty, and the guard refuses more than it has to.
fn own_addresses() -> Vec<IpAddr> {
    let interfaces = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let addresses = interfaces.filter_map(|interface| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip())))
    });
    addresses.collect()
}
