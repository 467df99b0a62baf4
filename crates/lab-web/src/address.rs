// SPDX-License-Identifier: Apache-2.0
//! Where the pages are.

use std::net::SocketAddr;

/// Where the pages are, and the token that lets their reader delete runs.
#[derive(Clone, Debug)]
pub struct PageAddress {
    /// The address that the server listens at.
    pub socket: SocketAddr,
    /// Whoever has it may delete runs.
    pub token: String,
}

impl PageAddress {
    /// The URL to open in a browser on this machine.
    pub fn url(&self) -> String {
        let mut socket = self.socket;
        if socket.ip().is_unspecified() {
            socket.set_ip(match socket {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("http://{socket}/")
    }

    /// The same for a reader who may delete runs.
    pub fn url_with_token(&self) -> String {
        format!("{}?token={}", self.url(), self.token)
    }
}
