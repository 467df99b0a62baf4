// SPDX-License-Identifier: Apache-2.0
//! The ways to a server.

/// How a subject reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, on the loopback interface if the server is on this machine.
    Tcp,
    /// A Unix socket.
    Unix,
}
