// SPDX-License-Identifier: Apache-2.0
//! The transports to a server.

/// The transport that a subject uses to reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, on the loopback interface if the server is on this machine.
    Tcp,
    /// A Unix socket.
    Unix,
}
