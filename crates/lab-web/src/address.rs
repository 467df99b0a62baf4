// SPDX-License-Identifier: Apache-2.0
//! The address of the web pages.

use std::net::SocketAddr;

/// The address of the web pages, and the token that allows a user to delete runs.
#[derive(Clone, Debug)]
pub struct PageAddress {
    /// The address that the server listens on.
    pub socket: SocketAddr,
    /// The token. Any client that has it may delete runs.
    pub token: String,
}

impl PageAddress {
    /// Returns the URL to open in a browser on this machine.
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

    /// Returns the URL for a user who may delete runs.
    pub fn url_with_token(&self) -> String {
        format!("{}?token={}", self.url(), self.token)
    }
}
